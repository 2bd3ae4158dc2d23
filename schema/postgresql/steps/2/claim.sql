-- One check takes the place of nine, which every change of a message paid for.

-- name: 1.transaction
-- NOT VALID: the rows are looked at later, while others use the table.
SET LOCAL lock_timeout = '100ms';

-- The old ones by what they say: they may have other names.
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

ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table:rules};
ALTER TABLE {table} ADD CONSTRAINT {table:rules} CHECK (
  state BETWEEN 0 AND 5
  AND (due_at = 0 OR state BETWEEN 1 AND 3)
  AND (finished_at IS NOT NULL) = (state IN (3, 4))
  AND pg_catalog.jsonb_typeof(CAST(retry AS jsonb)) = 'object'
  AND pg_catalog.jsonb_typeof(CAST(errors AS jsonb)) = 'array'
) NOT VALID;

-- name: 2.alone
SET statement_timeout = 0;
SET lock_timeout = 0;
ALTER TABLE {table} VALIDATE CONSTRAINT {table:rules};
