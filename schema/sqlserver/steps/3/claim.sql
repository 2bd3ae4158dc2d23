-- Adds the progress and the result of a message. Columns without a default change no row.

-- name: 1.transaction
-- The setting ends with the inner batch.
IF COL_LENGTH(N'{table}', N'progress') IS NULL
  EXEC sp_executesql N'SET LOCK_TIMEOUT 100; ALTER TABLE {table} ADD progress nvarchar(4000) NULL';
IF COL_LENGTH(N'{table}', N'result') IS NULL
  EXEC sp_executesql N'SET LOCK_TIMEOUT 100; ALTER TABLE {table} ADD result varbinary(max) NULL';
