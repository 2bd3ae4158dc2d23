-- Messages in no order. Times are milliseconds since 1970, UTC.
CREATE TABLE main.{table} (
  id INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  payload BLOB NOT NULL
);
