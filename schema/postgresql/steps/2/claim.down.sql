-- Fails if the table holds what layout 1 refuses, such as a key of more than 200 bytes.

-- name: 1.alone
SET statement_timeout = 0;
SET lock_timeout = 0;

DO $rows$
BEGIN
  IF EXISTS (
    SELECT 1
    FROM {table} AS msg
    WHERE NOT (COALESCE(max_attempts > 0, true)
               AND COALESCE(pg_catalog.octet_length(key) BETWEEN 1 AND 200, true)
               AND COALESCE(pg_catalog.octet_length(group_key) BETWEEN 1 AND 200, true)
               AND COALESCE(pg_catalog.jsonb_typeof(CAST(headers AS jsonb)) = 'object', true)))
  THEN
    RAISE check_violation USING MESSAGE = 'the table holds messages that layout 1 refuses';
  END IF;
END
$rows$;

-- name: 2.transaction
SET LOCAL lock_timeout = '100ms';

DO $checks$
DECLARE
  old record;
BEGIN
  FOR old IN
    SELECT conname
    FROM pg_constraint
    WHERE conrelid = CAST(CAST('{table}' AS regclass) AS oid)
      AND contype = 'c'
      AND pg_catalog.replace(pg_catalog.pg_get_constraintdef(oid), ' NOT VALID', '') IN (
        'CHECK (((state >= 0) AND (state <= 5)))',
        'CHECK (((due_at = 0) OR ((state >= 1) AND (state <= 3))))',
        'CHECK ((max_attempts > 0))',
        'CHECK ((jsonb_typeof((retry)::jsonb) = ''object''::text))',
        'CHECK (((finished_at IS NOT NULL) = (state = ANY (ARRAY[3, 4]))))',
        'CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 200)))',
        'CHECK (((octet_length(group_key) >= 1) AND (octet_length(group_key) <= 200)))',
        'CHECK ((jsonb_typeof((headers)::jsonb) = ''object''::text))',
        'CHECK ((jsonb_typeof((errors)::jsonb) = ''array''::text))')
  LOOP
    EXECUTE pg_catalog.format('ALTER TABLE {table} DROP CONSTRAINT %I', old.conname);
  END LOOP;
END
$checks$;

ALTER TABLE {table}
  ADD CHECK (state BETWEEN 0 AND 5) NOT VALID,
  ADD CHECK (due_at = 0 OR state BETWEEN 1 AND 3) NOT VALID,
  ADD CHECK (max_attempts > 0) NOT VALID,
  ADD CHECK (pg_catalog.jsonb_typeof(CAST(retry AS jsonb)) = 'object') NOT VALID,
  ADD CHECK ((finished_at IS NOT NULL) = (state IN (3, 4))) NOT VALID,
  ADD CHECK (pg_catalog.octet_length(key) BETWEEN 1 AND 200) NOT VALID,
  ADD CHECK (pg_catalog.octet_length(group_key) BETWEEN 1 AND 200) NOT VALID,
  ADD CHECK (pg_catalog.jsonb_typeof(CAST(headers AS jsonb)) = 'object') NOT VALID,
  ADD CHECK (pg_catalog.jsonb_typeof(CAST(errors AS jsonb)) = 'array') NOT VALID;

-- name: 3.alone
DO $valid$
DECLARE
  added record;
BEGIN
  FOR added IN
    SELECT conname
    FROM pg_constraint
    WHERE conrelid = CAST(CAST('{table}' AS regclass) AS oid) AND contype = 'c' AND NOT convalidated
  LOOP
    EXECUTE pg_catalog.format('ALTER TABLE {table} VALIDATE CONSTRAINT %I', added.conname);
  END LOOP;
END
$valid$;

-- name: 4.transaction
SET LOCAL lock_timeout = '100ms';

ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table:rules};
