-- The queue.
SET ANSI_NULLS ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET QUOTED_IDENTIFIER ON;
SET NUMERIC_ROUNDABORT OFF;
CREATE TABLE [jobs] (
  id bigint IDENTITY(1, 1) NOT NULL,
  state tinyint NOT NULL DEFAULT (0) CHECK (state BETWEEN 0 AND 5),
  priority int NOT NULL DEFAULT (0),
  due_at bigint NOT NULL DEFAULT (0),
  fence bigint NOT NULL DEFAULT (0),
  attempts int NOT NULL DEFAULT (0),
  max_attempts int NULL CHECK (max_attempts > 0),
  retry nvarchar(1000) NULL CHECK (ISJSON(retry) = 1),
  expires_at bigint NULL,
  created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME())),
  claimed_at bigint NULL,
  finished_at bigint NULL,
  [key] varbinary(400) NULL CHECK (DATALENGTH([key]) > 0),
  past_key varbinary(400) NULL,
  group_key varbinary(400) NULL CHECK (DATALENGTH(group_key) > 0),
  headers nvarchar(max) NULL CHECK (ISJSON(headers) = 1 AND LTRIM(headers) LIKE N'{%'),
  errors nvarchar(max) NULL CHECK (ISJSON(errors) = 1 AND LTRIM(errors) LIKE N'[[]%'),
  payload varbinary(max) NOT NULL,
  PRIMARY KEY CLUSTERED (id),
  CHECK (due_at = 0 OR state BETWEEN 1 AND 3),
  CHECK ((finished_at IS NULL AND state IN (0, 1, 2, 5)) OR (finished_at IS NOT NULL AND state IN (3, 4)))
);
ALTER TABLE [jobs] SET (LOCK_ESCALATION = DISABLE);
IF CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 8, 12)
  OR CAST(SERVERPROPERTY('ProductMajorVersion') AS int) >= 15
  EXEC (N'ALTER INDEX ALL ON [jobs] SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');
CREATE INDEX [jobs_next] ON [jobs] (state, due_at, priority DESC, id);
CREATE INDEX [jobs_done] ON [jobs] (state, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX [jobs_group] ON [jobs] (group_key, state, id) WHERE group_key IS NOT NULL;
CREATE UNIQUE INDEX [jobs_key] ON [jobs] ([key]) WHERE [key] IS NOT NULL;

-- Tells tableq of it.
INSERT INTO [tableq_queues] (name, [identity], kind, layout, options)
VALUES (CAST('jobs' AS nvarchar(60)), CAST(8057890939525093351 AS bigint), CAST('claim' AS nvarchar(20)),
        CAST(1 AS bigint), CAST('lease_ms=30000 max_attempts=5 keep=1 key_window_ms=3600000 groups_hold=1' AS nvarchar(4000)));
