-- A claim queue: a read leases a message. Times are milliseconds since 1970, UTC.
CREATE TABLE main.{table} (
  -- AUTOINCREMENT: an id is never used twice, so that no receipt can match a later message.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 0 ready, 1 leased, 2 delayed, 3 done, 4 dead, 5 held until its group lets it go.
  state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 5),
  -- Higher comes first.
  priority INTEGER NOT NULL DEFAULT 0,
  -- Delayed: when it falls due. Leased: when the lease ends. Done: when the key is free. Otherwise 0.
  due_at INTEGER NOT NULL DEFAULT 0 CHECK (due_at = 0 OR state BETWEEN 1 AND 3),
  -- Grows with every take; no value returns. A receipt is the id and this.
  fence INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- The message's own rules: the number of attempts, and the delay after each, as {"after": [milliseconds,
  -- ...], "jitter": per cent}. NULL: the queue's rules.
  max_attempts INTEGER CHECK (max_attempts > 0),
  retry TEXT CHECK (json_type(retry) = 'object'),
  -- From then on a take makes it dead.
  expires_at INTEGER,
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  -- The correlation id given by the caller of the last take.
  claimed_at INTEGER,
  -- When it became done or dead.
  finished_at INTEGER CHECK ((finished_at IS NOT NULL) = (state IN (3, 4))),
  -- Unique. A key that is free again moves to past_key.
  key TEXT CHECK (length(CAST(key AS BLOB)) BETWEEN 1 AND 200),
  past_key TEXT,
  -- Messages of one group are handed out one after the other.
  group_key TEXT CHECK (length(CAST(group_key AS BLOB)) BETWEEN 1 AND 200),
  -- A JSON object of strings.
  headers TEXT CHECK (json_type(headers) = 'object'),
  -- A JSON array of {"at": milliseconds, "error": text}: the last ten.
  errors TEXT CHECK (json_type(errors) = 'array'),
  -- The handler's words, as JSON: {"done": millionths, "at": milliseconds, "note": text}.
  progress TEXT,
  -- What the handler returned, of a kept message.
  result BLOB,
  payload BLOB NOT NULL
);

-- One index for each question, with only the rows that can answer it.
CREATE INDEX main.{table:ready} ON {table} (priority DESC, id) WHERE state = 0;
CREATE INDEX main.{table:wait} ON {table} (due_at, id) WHERE state IN (1, 2);
CREATE INDEX main.{table:done} ON {table} (state, finished_at, id) WHERE state IN (3, 4);
CREATE INDEX main.{table:held} ON {table} (priority DESC, id) WHERE state = 5;
CREATE INDEX main.{table:past} ON {table} (due_at) WHERE state = 3 AND due_at > 0;
CREATE INDEX main.{table:group} ON {table} (group_key, state, id) WHERE group_key IS NOT NULL;
CREATE UNIQUE INDEX main.{table:key} ON {table} (key) WHERE key IS NOT NULL;
