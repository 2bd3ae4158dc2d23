-- The catalogue: one row for each queue, and one for its own layout.
IF OBJECT_ID(N'{catalog}', N'U') IS NULL
  CREATE TABLE {catalog} (
    name nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
    -- What receipts carry: another one when a queue is dropped and made anew.
    [identity] bigint NOT NULL UNIQUE,
    kind nvarchar(20) NOT NULL,
    -- The version of the table's layout.
    layout int NOT NULL,
    options nvarchar(1000) NOT NULL DEFAULT (N''),
    created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()))
  );

INSERT INTO {catalog} (name, [identity], kind, layout)
SELECT N'tableq', 0, N'catalogue', 1
WHERE NOT EXISTS (SELECT 1 FROM {catalog} WITH (UPDLOCK, HOLDLOCK) WHERE name = N'tableq');
