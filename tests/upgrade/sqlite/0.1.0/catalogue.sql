-- The catalogue.
CREATE TABLE main."tableq_queues" (
  name TEXT PRIMARY KEY,
  identity INTEGER NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  layout INTEGER NOT NULL,
  options TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
) WITHOUT ROWID;
CREATE TABLE main."tableq_limits" (
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
VALUES ('tableq', 0, 'catalogue', 1);
