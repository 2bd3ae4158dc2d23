-- The catalogue: one row for each queue, and one for its own layout.
CREATE TABLE IF NOT EXISTS main.{catalog} (
  name TEXT PRIMARY KEY,
  -- Receipts carry it. A queue that is dropped and created again has another.
  identity INTEGER NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  -- The version of the table's layout.
  layout INTEGER NOT NULL,
  options TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
) WITHOUT ROWID;

-- One row for each queue that has had a limit or a pause.
CREATE TABLE IF NOT EXISTS main.{limits} (
  queue TEXT PRIMARY KEY,
  paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
  -- Messages that wait or run.
  capacity INTEGER CHECK (capacity > 0),
  -- Millionths of a message in each second.
  rate INTEGER CHECK (rate > 0),
  -- Messages.
  burst INTEGER CHECK (burst > 0),
  -- Messages under a lease.
  concurrency INTEGER CHECK (concurrency > 0),
  -- The messages that reads may take, in units of 10^-9 message, and the time of that number.
  tokens INTEGER NOT NULL DEFAULT 0,
  refilled_at INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

INSERT INTO main.{catalog} (name, identity, kind, layout)
VALUES ('tableq', 0, 'catalogue', 2)
ON CONFLICT DO NOTHING;
