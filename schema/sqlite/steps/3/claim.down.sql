-- Fails if a message has a result: its copy would have the id of a message.

-- name: 1.transaction
INSERT INTO main.{table} (id, payload)
SELECT id, payload FROM main.{table} WHERE result IS NOT NULL LIMIT 1;
ALTER TABLE main.{table} DROP COLUMN progress;
ALTER TABLE main.{table} DROP COLUMN result;
