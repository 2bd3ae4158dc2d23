-- Fails if a message has a result. EXEC: the batch is compiled while the columns may be gone.

-- name: 1.transaction
SET LOCK_TIMEOUT 100;
IF COL_LENGTH(N'{table}', N'result') IS NOT NULL
  EXEC (N'IF EXISTS (SELECT 1 FROM {table} WHERE result IS NOT NULL)
    THROW 50000, N''the table holds results, which layout 2 has no room for'', 1;
  ALTER TABLE {table} DROP COLUMN progress, result');
SET LOCK_TIMEOUT -1;
