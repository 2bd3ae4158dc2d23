-- The catalogue.
CREATE TABLE [tableq_queues] (
  name nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
  [identity] bigint NOT NULL UNIQUE,
  kind nvarchar(20) NOT NULL,
  layout int NOT NULL,
  options nvarchar(4000) NOT NULL DEFAULT (N''),
  created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()))
);
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
VALUES (N'tableq', 0, N'catalogue', 1);
