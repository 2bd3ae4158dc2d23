-- The catalogue.
CREATE TABLE "tableq_queues" (
  name text COLLATE "C" PRIMARY KEY,
  identity bigint NOT NULL UNIQUE,
  kind text NOT NULL,
  layout integer NOT NULL,
  options text NOT NULL DEFAULT '',
  created_at bigint NOT NULL
    DEFAULT (CAST(extract(epoch FROM statement_timestamp()) * 1000 AS bigint))
);
CREATE TABLE "tableq_limits" (
  queue text COLLATE "C" PRIMARY KEY,
  paused smallint NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
  capacity bigint CHECK (capacity > 0),
  rate bigint CHECK (rate > 0),
  burst bigint CHECK (burst > 0),
  concurrency bigint CHECK (concurrency > 0),
  tokens bigint NOT NULL DEFAULT 0,
  refilled_at bigint NOT NULL DEFAULT 0
) WITH (
  fillfactor = 20,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000
);
INSERT INTO "tableq_queues" (name, identity, kind, layout)
VALUES ('tableq', 0, 'catalogue', 1);
