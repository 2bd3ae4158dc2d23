-- For a claim queue whose concurrency is limited: its leases, told from what is delayed.
CREATE INDEX IF NOT EXISTS main.{table:lease} ON {table} (state, due_at) WHERE state = 1;
