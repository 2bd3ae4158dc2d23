-- The catalogue, unless it is there.
IF OBJECT_ID(N'[tableq_queues]', N'U') IS NULL
  CREATE TABLE [tableq_queues] (
    name nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
    [identity] bigint NOT NULL UNIQUE,
    kind nvarchar(20) NOT NULL,
    layout int NOT NULL,
    options nvarchar(4000) NOT NULL DEFAULT (N''),
    created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()))
  );
IF OBJECT_ID(N'[tableq_limits]', N'U') IS NULL
  CREATE TABLE [tableq_limits] (
    queue nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
    paused tinyint NOT NULL DEFAULT (0) CHECK (paused IN (0, 1)),
    capacity bigint NULL CHECK (capacity > 0),
    rate bigint NULL CHECK (rate > 0),
    burst bigint NULL CHECK (burst > 0),
    concurrency bigint NULL CHECK (concurrency > 0),
    tokens bigint NOT NULL DEFAULT (0),
    refilled_at bigint NOT NULL DEFAULT (0)
  );
INSERT INTO [tableq_queues] (name, [identity], kind, layout)
SELECT N'tableq', 0, N'catalogue', 1
WHERE NOT EXISTS (SELECT 1 FROM [tableq_queues] WITH (UPDLOCK, HOLDLOCK) WHERE name = N'tableq');

-- The queue.
CREATE TABLE [line] (
  id bigint IDENTITY(1, 1) NOT NULL,
  created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME())),
  payload varbinary(max) NOT NULL,
  PRIMARY KEY CLUSTERED (id)
);
ALTER TABLE [line] SET (LOCK_ESCALATION = DISABLE);
IF CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 8, 12)
  OR CAST(SERVERPROPERTY('ProductMajorVersion') AS int) >= 15
  EXEC (N'ALTER INDEX ALL ON [line] SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');

-- Tells tableq of it.
INSERT INTO [tableq_queues] (name, [identity], kind, layout, options)
VALUES (CAST('line' AS nvarchar(60)), CAST(8332876916117854609 AS bigint), CAST('fifo' AS nvarchar(20)),
        CAST(1 AS bigint), CAST('ordering=strict' AS nvarchar(4000)));
