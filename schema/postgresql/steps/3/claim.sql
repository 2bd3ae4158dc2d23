-- Adds the progress and the result of a message, with the rights on them. The check is shorter. Payloads compress by lz4 from now on; stored ones stay as they are.

-- name: 1.transaction
SET LOCAL lock_timeout = '100ms';

ALTER TABLE {table} ADD COLUMN IF NOT EXISTS progress text, ADD COLUMN IF NOT EXISTS result bytea;

-- Where groups take turns, plain SQL lines up by the time under the lock, as reads begin behind times that have passed.
DO $turns$
BEGIN
  IF EXISTS (
    SELECT 1
    FROM pg_attribute
    WHERE attrelid = CAST(CAST('{table}' AS regclass) AS oid) AND attname = 'ready_at' AND NOT attisdropped)
  THEN
    ALTER TABLE {table} ALTER COLUMN ready_at
      SET DEFAULT (CAST(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000 AS bigint));
  END IF;
END
$turns$;

-- To those who may record what became of an attempt.
DO $grants$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT CASE WHEN a.grantee = CAST(0 AS oid) THEN 'PUBLIC' ELSE CAST(CAST(a.grantee AS regrole) AS text) END AS name
    FROM pg_attribute AS t
    CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) AS a
    WHERE t.attrelid = CAST(CAST('{table}' AS regclass) AS oid) AND t.attname = 'errors' AND a.privilege_type = 'UPDATE'
  LOOP
    EXECUTE 'GRANT UPDATE (progress, result) ON {table} TO ' || given.name;
  END LOOP;
END
$grants$;

-- PostgreSQL 14 and later, where they are built with lz4: several times as fast as the usual method.
DO $lz4$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    EXECUTE 'ALTER TABLE {table} ALTER COLUMN payload SET COMPRESSION lz4';
  END IF;
END
$lz4$;

ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table:rules};
ALTER TABLE {table} ADD CONSTRAINT {table:rules} CHECK (
  state BETWEEN 0 AND 5
  AND pg_catalog.jsonb_typeof(CAST(retry AS jsonb)) = 'object'
  AND pg_catalog.jsonb_typeof(CAST(errors AS jsonb)) = 'array'
) NOT VALID;

-- name: 2.alone
SET statement_timeout = 0;
SET lock_timeout = 0;
ALTER TABLE {table} VALIDATE CONSTRAINT {table:rules};
