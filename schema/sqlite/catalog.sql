-- The catalogue: one row for each queue, and one for its own layout.
CREATE TABLE IF NOT EXISTS {catalog} (
  name TEXT PRIMARY KEY,
  -- What receipts carry: another one when a queue is dropped and made anew.
  identity INTEGER NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  -- The version of the table's layout.
  layout INTEGER NOT NULL,
  options TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
) WITHOUT ROWID;

INSERT INTO {catalog} (name, identity, kind, layout)
VALUES ('tableq', 0, 'catalogue', 1)
ON CONFLICT DO NOTHING;
