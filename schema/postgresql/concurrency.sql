-- For a claim queue with a concurrency: its leases, without delayed messages.
CREATE INDEX IF NOT EXISTS {table:lease} ON {table} (state, due_at) WHERE state = 1;
