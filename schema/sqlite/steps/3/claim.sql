-- Adds the progress and the result of a message.

-- name: 1.transaction
ALTER TABLE main.{table} ADD COLUMN progress TEXT;
ALTER TABLE main.{table} ADD COLUMN result BLOB;
