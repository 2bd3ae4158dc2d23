-- The catalogue: one row for each queue, and one for its own layout.
CREATE TABLE IF NOT EXISTS {catalog} (
  name text COLLATE "C" PRIMARY KEY,
  -- Receipts carry it. A queue that is dropped and created again has another.
  identity bigint NOT NULL UNIQUE,
  kind text NOT NULL,
  -- The version of the table's layout.
  layout integer NOT NULL,
  options text NOT NULL DEFAULT '',
  created_at bigint NOT NULL
    DEFAULT (CAST(extract(epoch FROM pg_catalog.statement_timestamp()) OPERATOR(pg_catalog.*) 1000 AS bigint))
);

-- One row for each queue that has had a limit or a pause.
CREATE TABLE IF NOT EXISTS {limits} (
  queue text COLLATE "C" PRIMARY KEY,
  paused smallint NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
  -- Messages that wait or run.
  capacity bigint CHECK (capacity > 0),
  -- Millionths of a message in each second.
  rate bigint CHECK (rate > 0),
  -- Messages.
  burst bigint CHECK (burst > 0),
  -- Messages under a lease.
  concurrency bigint CHECK (concurrency > 0),
  -- The messages that reads may take, in units of 10^-9 message, and the time of that number.
  tokens bigint NOT NULL DEFAULT 0,
  refilled_at bigint NOT NULL DEFAULT 0
) WITH (
  -- Reads of a limited queue update its row often: in place, as long as its page has room.
  fillfactor = 20,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000
);

-- Where reads begin, one row for each queue: a new process need not search. Without a row it searches.
CREATE TABLE IF NOT EXISTS {floors} (
  queue text COLLATE "C" PRIMARY KEY,
  identity bigint NOT NULL,
  floors text NOT NULL,
  saved_at bigint NOT NULL
) WITH (
  fillfactor = 20,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000
);

INSERT INTO {catalog} (name, identity, kind, layout)
VALUES ('tableq', 0, 'catalogue', 2)
ON CONFLICT (name) DO NOTHING;
