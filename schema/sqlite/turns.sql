-- A claim queue whose groups take turns, after claim.sql: ready messages stand in line by a time.
-- When the message last became ready. Its value counts for ready messages only.
ALTER TABLE main.{table} ADD COLUMN ready_at INTEGER NOT NULL
  DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
  CHECK (typeof(ready_at) = 'integer');
DROP INDEX main.{table:ready};
CREATE INDEX main.{table:ready} ON {table} (priority DESC, ready_at, id) WHERE state = 0;
