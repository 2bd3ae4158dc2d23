-- Payloads compress by lz4 from now on; stored ones stay as they are.

-- name: 1.transaction
SET LOCAL lock_timeout = '100ms';

-- PostgreSQL 14 and later, where they are built with lz4: several times as fast as the usual method.
DO $lz4$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    EXECUTE 'ALTER TABLE {table} ALTER COLUMN payload SET COMPRESSION lz4';
  END IF;
END
$lz4$;
