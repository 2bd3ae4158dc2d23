-- Oldest first: reads take the lowest id.
-- Times are milliseconds since 1970, UTC.
CREATE TABLE {table} (
  id bigint IDENTITY(1, 1) NOT NULL,
  created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME())),
  payload varbinary(max) NOT NULL,
  PRIMARY KEY CLUSTERED (id)
);

-- Reads skip locked rows, but wait for a locked table: row locks must not become a table lock.
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);

-- Many concurrent writers use the last page. Versions before 2019 lack the option; Azure has it.
IF CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 8, 12)
  OR CAST(SERVERPROPERTY('ProductMajorVersion') AS int) >= 15
  EXEC (N'ALTER INDEX ALL ON {table} SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');
