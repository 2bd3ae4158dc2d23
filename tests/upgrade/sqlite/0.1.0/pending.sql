-- The queue.
CREATE TABLE main."later" (
  id INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  due_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  payload BLOB NOT NULL
);
CREATE INDEX main."later_due" ON "later" (due_at, id);

-- Tells tableq of it.
INSERT INTO main."tableq_queues" (name, identity, kind, layout, options)
VALUES ('later', 155367456114013821, 'pending', 1, '');
