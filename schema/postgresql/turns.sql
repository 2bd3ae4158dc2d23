-- A claim queue whose groups take turns, after claim.sql: ready messages stand in line by a time.
-- When the message last became ready. Its value counts for ready messages only. The clock is read under the lock of the
-- insert: reads may have passed the time at which a long statement began.
ALTER TABLE {table} ADD COLUMN ready_at bigint NOT NULL
  DEFAULT (CAST(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000 AS bigint));
DROP INDEX {index:ready};
CREATE INDEX {table:ready} ON {table} (priority DESC, ready_at, id) WHERE state = 0;
-- Reads begin at the front: none looks for returned messages first.
DROP INDEX {index:again};
