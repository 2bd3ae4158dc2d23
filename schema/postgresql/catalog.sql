-- The catalogue: one row for each queue, and one for its own layout.
CREATE TABLE IF NOT EXISTS {catalog} (
  name text COLLATE "C" PRIMARY KEY,
  -- What receipts carry: another one when a queue is dropped and made anew.
  identity bigint NOT NULL UNIQUE,
  kind text NOT NULL,
  -- The version of the table's layout.
  layout integer NOT NULL,
  options text NOT NULL DEFAULT '',
  created_at bigint NOT NULL
    DEFAULT (CAST(extract(epoch FROM statement_timestamp()) * 1000 AS bigint))
);

INSERT INTO {catalog} (name, identity, kind, layout)
VALUES ('tableq', 0, 'catalogue', 1)
ON CONFLICT (name) DO NOTHING;
