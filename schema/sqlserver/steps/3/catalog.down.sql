-- Fails while there are schedules or batches: their row would have the name of the catalogue's own.

-- name: 1.transaction
INSERT INTO {catalog} (name, [identity], kind, layout)
SELECT N'tableq', 0, N'catalogue', 2
WHERE EXISTS (SELECT 1 FROM {schedules}) OR EXISTS (SELECT 1 FROM {batches}) OR EXISTS (SELECT 1 FROM {members});
DROP TABLE {schedules};
DROP TABLE {batches};
DROP TABLE {members};
