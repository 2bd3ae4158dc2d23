-- Fails if a message has a result: no state is 9.

-- name: 1.transaction
UPDATE main.{table} SET state = 9 WHERE result IS NOT NULL;
ALTER TABLE main.{table} DROP COLUMN progress;
ALTER TABLE main.{table} DROP COLUMN result;
