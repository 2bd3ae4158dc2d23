-- The queue.
CREATE TABLE main."jobs" (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 5),
  priority INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL DEFAULT 0 CHECK (due_at = 0 OR state BETWEEN 1 AND 3),
  fence INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER CHECK (max_attempts > 0),
  retry TEXT CHECK (json_type(retry) = 'object'),
  expires_at INTEGER,
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  claimed_at INTEGER,
  finished_at INTEGER CHECK ((finished_at IS NOT NULL) = (state IN (3, 4))),
  key TEXT CHECK (length(CAST(key AS BLOB)) BETWEEN 1 AND 200),
  past_key TEXT,
  group_key TEXT CHECK (length(CAST(group_key AS BLOB)) BETWEEN 1 AND 200),
  headers TEXT CHECK (json_type(headers) = 'object'),
  errors TEXT CHECK (json_type(errors) = 'array'),
  payload BLOB NOT NULL
);
CREATE INDEX main."jobs_ready" ON "jobs" (priority DESC, id) WHERE state = 0;
CREATE INDEX main."jobs_wait" ON "jobs" (due_at, id) WHERE state IN (1, 2);
CREATE INDEX main."jobs_done" ON "jobs" (state, finished_at, id) WHERE state IN (3, 4);
CREATE INDEX main."jobs_held" ON "jobs" (priority DESC, id) WHERE state = 5;
CREATE INDEX main."jobs_past" ON "jobs" (due_at) WHERE state = 3 AND due_at > 0;
CREATE INDEX main."jobs_group" ON "jobs" (group_key, state, id) WHERE group_key IS NOT NULL;
CREATE UNIQUE INDEX main."jobs_key" ON "jobs" (key) WHERE key IS NOT NULL;

-- Tells tableq of it.
INSERT INTO main."tableq_queues" (name, identity, kind, layout, options)
VALUES ('jobs', 292979914905801046, 'claim', 1, 'lease_ms=30000 max_attempts=5 keep=1 key_window_ms=3600000 groups_hold=1');
