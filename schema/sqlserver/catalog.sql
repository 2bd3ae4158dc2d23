-- The catalogue: one row for each queue, and one for its own layout.
IF OBJECT_ID(N'{catalog}', N'U') IS NULL
  CREATE TABLE {catalog} (
    name nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
    -- Receipts carry it. A queue that is dropped and created again has another.
    [identity] bigint NOT NULL UNIQUE,
    kind nvarchar(20) NOT NULL,
    -- The version of the table's layout.
    layout int NOT NULL,
    options nvarchar(4000) NOT NULL DEFAULT (N''),
    created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()))
  );

-- One row for each queue that has had a limit or a pause.
IF OBJECT_ID(N'{limits}', N'U') IS NULL
  CREATE TABLE {limits} (
    queue nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
    paused tinyint NOT NULL DEFAULT (0) CHECK (paused IN (0, 1)),
    -- Messages that wait or run.
    capacity bigint NULL CHECK (capacity > 0),
    -- Millionths of a message in each second.
    rate bigint NULL CHECK (rate > 0),
    -- Messages.
    burst bigint NULL CHECK (burst > 0),
    -- Messages under a lease.
    concurrency bigint NULL CHECK (concurrency > 0),
    -- The messages that reads may take, in units of 10^-9 message, and the time of that number.
    tokens bigint NOT NULL DEFAULT (0),
    refilled_at bigint NOT NULL DEFAULT (0)
  );

INSERT INTO {catalog} (name, [identity], kind, layout)
SELECT N'tableq', 0, N'catalogue', 2
WHERE NOT EXISTS (SELECT 1 FROM {catalog} WITH (UPDLOCK, HOLDLOCK) WHERE name = N'tableq');
