-- A claim queue whose groups take turns, after claim.sql: ready messages stand in line by a time.
-- When the message last became ready. Its value counts for ready messages only.
ALTER TABLE {table} ADD ready_at bigint NOT NULL
  DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()));

-- Messages in other states are read from the index `next`, which needs this order for none of them.
CREATE INDEX {table:turns} ON {table} (priority DESC, ready_at, id) WHERE state = 0;
