-- Fails while there are schedules, batches or limits of groups: their row would have the name of the catalogue's own.

-- name: 1.transaction
-- Of a session without it an error would end one statement only, and the next ones would drop all the same.
SET XACT_ABORT ON;
INSERT INTO {catalog} (name, [identity], kind, layout)
SELECT N'tableq', 0, N'catalogue', 2
WHERE EXISTS (SELECT 1 FROM {schedules}) OR EXISTS (SELECT 1 FROM {batches}) OR EXISTS (SELECT 1 FROM {members})
   OR EXISTS (SELECT 1 FROM {quotas});
DROP TABLE {schedules};
DROP TABLE {batches};
DROP TABLE {members};
DROP TABLE {quotas};
DROP TABLE {starts};
