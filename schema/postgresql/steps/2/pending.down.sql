-- Loses only the time of arrival, which no read returns.

-- name: 1.alone
SET statement_timeout = 0;
SET lock_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS {index:late};

-- name: 2.transaction
SET LOCAL lock_timeout = '100ms';

ALTER TABLE {table} DROP COLUMN IF EXISTS arrived_at;
