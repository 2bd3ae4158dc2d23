-- Adds the time of arrival, and an index of the messages that were due when they arrived.

-- name: 1.transaction
-- A column without a default changes no row: the table is locked for an instant, but for that all others must
-- leave it. Those who wait behind this statement wait for the time-out at most.
SET LOCAL lock_timeout = '100ms';

ALTER TABLE {table} ADD COLUMN IF NOT EXISTS arrived_at bigint;
ALTER TABLE {table} ALTER COLUMN arrived_at
  SET DEFAULT (CAST(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000 AS bigint));

-- name: 2.alone
-- A statement that was cut leaves an index that is not valid.
SET statement_timeout = 0;
SET lock_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS {index:late};
CREATE INDEX CONCURRENTLY {table:late} ON {table} (due_at, id) WHERE due_at < arrived_at - 10;
