-- Fails while there are schedules, batches or limits of groups: their row would have the name of the catalogue's own.

-- name: 1.transaction
INSERT INTO main.{catalog} (name, identity, kind, layout)
SELECT 'tableq', 0, 'catalogue', 2
WHERE EXISTS (SELECT 1 FROM main.{schedules})
   OR EXISTS (SELECT 1 FROM main.{batches})
   OR EXISTS (SELECT 1 FROM main.{members})
   OR EXISTS (SELECT 1 FROM main.{quotas});
DROP TABLE main.{schedules};
DROP TABLE main.{batches};
DROP TABLE main.{members};
DROP TABLE main.{quotas};
DROP TABLE main.{starts};
