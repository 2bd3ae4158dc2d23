-- The catalogue, unless it is there.
CREATE TABLE IF NOT EXISTS main."tableq_queues" (
  name TEXT PRIMARY KEY,
  identity INTEGER NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  layout INTEGER NOT NULL,
  options TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main."tableq_limits" (
  queue TEXT PRIMARY KEY,
  paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
  capacity INTEGER CHECK (capacity > 0),
  rate INTEGER CHECK (rate > 0),
  burst INTEGER CHECK (burst > 0),
  concurrency INTEGER CHECK (concurrency > 0),
  tokens INTEGER NOT NULL DEFAULT 0,
  refilled_at INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
INSERT INTO main."tableq_queues" (name, identity, kind, layout)
VALUES ('tableq', 0, 'catalogue', 1)
ON CONFLICT DO NOTHING;

-- The queue.
CREATE TABLE main."later" (
  id INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  due_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  payload BLOB NOT NULL
);
CREATE INDEX main."later_due" ON "later" (due_at, id);

-- Tells tableq of it.
INSERT INTO main."tableq_queues" (name, identity, kind, layout, options)
VALUES ('later', 155367456114013821, 'pending', 1, '');
