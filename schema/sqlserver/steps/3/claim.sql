-- Adds the progress and the result of a message. Columns without a default change no row.

-- name: 1.transaction
SET LOCK_TIMEOUT 100;
IF COL_LENGTH(N'{table}', N'progress') IS NULL
  ALTER TABLE {table} ADD progress nvarchar(1000) NULL, result varbinary(max) NULL;
SET LOCK_TIMEOUT -1;
