-- Fails if the table holds what layout 2 refuses, such as a result. Stored payloads stay as they are.

-- name: 1.alone
SET statement_timeout = 0;
SET lock_timeout = 0;

DO $rows$
BEGIN
  IF EXISTS (SELECT 1 FROM {table} WHERE result IS NOT NULL) THEN
    RAISE check_violation USING MESSAGE = 'the table holds results, which layout 2 has no room for';
  END IF;
  IF EXISTS (
    SELECT 1
    FROM {table} AS msg
    WHERE NOT ((due_at = 0 OR state BETWEEN 1 AND 3) AND (finished_at IS NOT NULL) = (state IN (3, 4))))
  THEN
    RAISE check_violation USING MESSAGE = 'the table holds messages that layout 2 refuses';
  END IF;
END
$rows$;

-- name: 2.transaction
SET LOCAL lock_timeout = '100ms';

ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table:rules};
ALTER TABLE {table} ADD CONSTRAINT {table:rules} CHECK (
  state BETWEEN 0 AND 5
  AND (due_at = 0 OR state BETWEEN 1 AND 3)
  AND (finished_at IS NOT NULL) = (state IN (3, 4))
  AND pg_catalog.jsonb_typeof(CAST(retry AS jsonb)) = 'object'
  AND pg_catalog.jsonb_typeof(CAST(errors AS jsonb)) = 'array'
) NOT VALID;

-- name: 3.alone
SET statement_timeout = 0;
SET lock_timeout = 0;
ALTER TABLE {table} VALIDATE CONSTRAINT {table:rules};

-- name: 4.transaction
SET LOCAL lock_timeout = '100ms';

ALTER TABLE {table} DROP COLUMN IF EXISTS progress, DROP COLUMN IF EXISTS result;

DO $turns$
BEGIN
  IF EXISTS (
    SELECT 1
    FROM pg_attribute
    WHERE attrelid = CAST(CAST('{table}' AS regclass) AS oid) AND attname = 'ready_at' AND NOT attisdropped)
  THEN
    ALTER TABLE {table} ALTER COLUMN ready_at
      SET DEFAULT (CAST(extract(epoch FROM pg_catalog.statement_timestamp()) OPERATOR(pg_catalog.*) 1000 AS bigint));
  END IF;
END
$turns$;

DO $lz4$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression') THEN
    EXECUTE 'ALTER TABLE {table} ALTER COLUMN payload SET COMPRESSION DEFAULT';
  END IF;
END
$lz4$;
