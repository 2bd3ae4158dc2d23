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

-- One row for each rule of periodic messages.
CREATE TABLE IF NOT EXISTS main.{schedules} (
  name TEXT PRIMARY KEY,
  -- The declaration that it belongs to; NULL: it was added by itself.
  owner TEXT,
  queue TEXT NOT NULL,
  -- One of both: five fields, or milliseconds.
  cron TEXT,
  every_ms INTEGER CHECK (every_ms > 0),
  zone TEXT NOT NULL DEFAULT 'UTC',
  -- The message.
  payload BLOB NOT NULL,
  headers TEXT,
  key TEXT,
  group_key TEXT,
  priority INTEGER NOT NULL DEFAULT 0,
  -- How many times that nobody was there for are made up for: the latest ones. 0: none.
  catch_up INTEGER NOT NULL DEFAULT 1,
  -- Times that are longer ago than this many milliseconds are left out.
  latest_ms INTEGER CHECK (latest_ms >= 0),
  -- 1: no message while the last one is in the queue.
  skip_if_running INTEGER NOT NULL DEFAULT 0 CHECK (skip_if_running IN (0, 1)),
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  -- Why it cannot be followed.
  problem TEXT,
  -- The last time that it fired for, and the next one. NULL: none yet; not computed yet.
  last_at INTEGER,
  due_at INTEGER,
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  CHECK ((cron IS NULL) <> (every_ms IS NULL))
) WITHOUT ROWID;

-- One row for each batch.
CREATE TABLE IF NOT EXISTS main.{batches} (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- For people.
  name TEXT,
  -- The message at its end; NULL: none.
  queue TEXT,
  payload BLOB,
  headers TEXT,
  key TEXT,
  group_key TEXT,
  priority INTEGER NOT NULL DEFAULT 0,
  -- Messages that were added.
  total INTEGER NOT NULL DEFAULT 0,
  sealed INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1)),
  cancelled INTEGER NOT NULL DEFAULT 0 CHECK (cancelled IN (0, 1)),
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  -- When it ended, and what became of its messages.
  finished_at INTEGER,
  completed INTEGER,
  dead INTEGER,
  removed INTEGER,
  gone INTEGER,
  -- The open ones, and those that ended long ago.
  UNIQUE (finished_at, sealed, id)
);

-- One row for each message of a batch that is not completed.
CREATE TABLE IF NOT EXISTS main.{members} (
  -- The identity of its queue, and its id there.
  queue INTEGER NOT NULL,
  message INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  -- 0 outstanding, 1 dead, 2 removed, 3 gone.
  outcome INTEGER NOT NULL DEFAULT 0 CHECK (outcome BETWEEN 0 AND 3),
  PRIMARY KEY (queue, message),
  UNIQUE (batch, outcome, queue, message)
) WITHOUT ROWID;

-- Limits of groups: one row for each group that has its own, and one for all others.
CREATE TABLE IF NOT EXISTS main.{quotas} (
  queue TEXT NOT NULL,
  -- Of the group; empty: all groups without a row of their own.
  name TEXT NOT NULL,
  -- Messages that are ready or leased. NULL: as many as the queue's option says.
  running INTEGER CHECK (running BETWEEN 1 AND 1000),
  -- Millionths of a start in each second.
  rate INTEGER CHECK (rate BETWEEN 1000 AND 1000000000),
  -- Starts.
  burst INTEGER CHECK (burst BETWEEN 1 AND 1000),
  -- Turns, where others have one. NULL: one.
  weight INTEGER CHECK (weight BETWEEN 1 AND 1000),
  -- In the row without a name: the number of changes, and the one that waiting messages follow.
  changes INTEGER NOT NULL DEFAULT 0,
  applied INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (queue, name)
) WITHOUT ROWID;

-- The groups that have started messages lately.
CREATE TABLE IF NOT EXISTS main.{starts} (
  queue TEXT NOT NULL,
  name TEXT NOT NULL,
  -- When the group may start a whole burst again, in microseconds since 1970.
  full_at INTEGER NOT NULL,
  -- The message that waits for the next start, and its due time.
  alarm INTEGER,
  alarm_at INTEGER,
  PRIMARY KEY (queue, name)
) WITHOUT ROWID;

INSERT INTO main.{catalog} (name, identity, kind, layout)
VALUES ('tableq', 0, 'catalogue', 3)
ON CONFLICT DO NOTHING;
