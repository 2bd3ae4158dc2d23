-- Adds the floors. Users with the rights of a consumer, manager or owner get theirs on it; owners may also
-- change the number of a layout.

-- name: 1.transaction
SET LOCAL lock_timeout = '100ms';

CREATE TABLE IF NOT EXISTS {floors} (
  queue text COLLATE "C" PRIMARY KEY,
  identity bigint NOT NULL,
  floors text NOT NULL,
  saved_at bigint NOT NULL
) WITH (
  fillfactor = 20,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000
);

DO $grants$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT CASE WHEN a.grantee = CAST(0 AS oid) THEN 'PUBLIC' ELSE CAST(CAST(a.grantee AS regrole) AS text) END AS name,
           a.privilege_type = 'DELETE' AS owns
    FROM pg_class AS c
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE c.oid = CAST(CAST('{limits}' AS regclass) AS oid) AND a.privilege_type IN ('UPDATE', 'DELETE')
    UNION
    SELECT CASE WHEN a.grantee = CAST(0 AS oid) THEN 'PUBLIC' ELSE CAST(CAST(a.grantee AS regrole) AS text) END, false
    FROM pg_attribute AS t
    CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) AS a
    WHERE t.attrelid = CAST(CAST('{limits}' AS regclass) AS oid) AND t.attname = 'tokens' AND a.privilege_type = 'UPDATE'
  LOOP
    EXECUTE 'GRANT SELECT, INSERT, UPDATE ON {floors} TO ' || given.name;
    IF given.owns THEN
      EXECUTE 'GRANT DELETE ON {floors} TO ' || given.name;
      EXECUTE 'GRANT UPDATE (layout) ON {catalog} TO ' || given.name;
    END IF;
  END LOOP;
END
$grants$;
