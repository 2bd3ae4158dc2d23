-- The queue.
CREATE TABLE [later] (
  id bigint IDENTITY(1, 1) NOT NULL,
  created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME())),
  due_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME())),
  payload varbinary(max) NOT NULL,
  PRIMARY KEY CLUSTERED (due_at, id)
);
ALTER TABLE [later] SET (LOCK_ESCALATION = DISABLE);
IF CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 8, 12)
  OR CAST(SERVERPROPERTY('ProductMajorVersion') AS int) >= 15
  EXEC (N'ALTER INDEX ALL ON [later] SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');

-- Tells tableq of it.
INSERT INTO [tableq_queues] (name, [identity], kind, layout, options)
VALUES (CAST('later' AS nvarchar(60)), CAST(6191029855425288662 AS bigint), CAST('pending' AS nvarchar(20)),
        CAST(1 AS bigint), CAST('' AS nvarchar(4000)));
