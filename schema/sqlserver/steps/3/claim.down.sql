-- Fails if a message has a result: no state is 9.

-- name: 1.transaction
-- Of a session without it an error would end one statement only, and the next ones would drop all the same.
SET XACT_ABORT ON;
-- The batch is compiled while the columns may be gone; the settings end with the inner ones.
IF COL_LENGTH(N'{table}', N'result') IS NOT NULL
  EXEC sp_executesql N'SET LOCK_TIMEOUT 100; UPDATE {table} SET state = 9 WHERE result IS NOT NULL';
IF COL_LENGTH(N'{table}', N'result') IS NOT NULL
  EXEC sp_executesql N'SET LOCK_TIMEOUT 100; ALTER TABLE {table} DROP COLUMN result';
IF COL_LENGTH(N'{table}', N'progress') IS NOT NULL
  EXEC sp_executesql N'SET LOCK_TIMEOUT 100; ALTER TABLE {table} DROP COLUMN progress';
