-- A heap, FIFO or LIFO queue.
CREATE TABLE main."{name}" (
  id INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  payload BLOB NOT NULL
);

-- Tells tableq of it.
INSERT INTO main."tableq_queues" (name, identity, kind, layout, options)
VALUES ('{name}', {identity}, '{kind}', 1, '{options}');
