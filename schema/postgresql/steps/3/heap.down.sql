-- Stored payloads stay as they are.

-- name: 1.transaction
SET LOCAL lock_timeout = '100ms';

DO $lz4$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression') THEN
    EXECUTE 'ALTER TABLE {table} ALTER COLUMN payload SET COMPRESSION DEFAULT';
  END IF;
END
$lz4$;
