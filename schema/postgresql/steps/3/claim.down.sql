-- Fails if a message has a result. Stored payloads stay as they are.

-- name: 1.alone
SET statement_timeout = 0;
SET lock_timeout = 0;

DO $rows$
BEGIN
  IF EXISTS (SELECT 1 FROM {table} WHERE result IS NOT NULL) THEN
    RAISE check_violation USING MESSAGE = 'the table holds results, which layout 2 has no room for';
  END IF;
END
$rows$;

-- name: 2.transaction
SET LOCAL lock_timeout = '100ms';

ALTER TABLE {table} DROP COLUMN IF EXISTS progress, DROP COLUMN IF EXISTS result;

DO $lz4$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression') THEN
    EXECUTE 'ALTER TABLE {table} ALTER COLUMN payload SET COMPRESSION DEFAULT';
  END IF;
END
$lz4$;
