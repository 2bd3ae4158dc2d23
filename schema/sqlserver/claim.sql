-- A claim queue: a read leases a message. Times are milliseconds since 1970, UTC.
--
-- Filtered indexes need these settings: here, and in every session that writes to the table. Without
-- them its INSERT fails with error 1934.
SET ANSI_NULLS ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET QUOTED_IDENTIFIER ON;
SET NUMERIC_ROUNDABORT OFF;

CREATE TABLE {table} (
  -- Never goes back, so no receipt can match a later message.
  id bigint IDENTITY(1, 1) NOT NULL,
  -- 0 ready, 1 leased, 2 delayed, 3 done, 4 dead, 5 held until its group lets it go.
  state tinyint NOT NULL DEFAULT (0) CHECK (state BETWEEN 0 AND 5),
  -- Higher comes first.
  priority int NOT NULL DEFAULT (0),
  -- Delayed: when it falls due. Leased: when the lease ends. Done: when the key is free. Otherwise 0.
  due_at bigint NOT NULL DEFAULT (0),
  -- Grows with every take; no value returns. A receipt is the id and this. Before the first take it may be
  -- any number below 2^32.
  fence bigint NOT NULL DEFAULT (0),
  attempts int NOT NULL DEFAULT (0),
  -- The message's own rules: the number of attempts, and the delay after each, as {"after": [milliseconds,
  -- ...], "jitter": per cent}. NULL: the queue's rules.
  max_attempts int NULL CHECK (max_attempts > 0),
  retry nvarchar(1000) NULL CHECK (ISJSON(retry) = 1),
  -- From then on a take makes it dead.
  expires_at bigint NULL,
  created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME())),
  -- The correlation id given by the caller of the last take.
  claimed_at bigint NULL,
  -- When it became done or dead.
  finished_at bigint NULL,
  -- Unique. A key that is free again moves to past_key. The bytes are those of UTF-16, as
  -- CAST(N'invoice-42' AS varbinary(400)) writes them: texts that differ in trailing blanks, or that a
  -- collation equates, would be equal.
  [key] varbinary(400) NULL CHECK (DATALENGTH([key]) > 0),
  past_key varbinary(400) NULL,
  -- Messages of one group are handed out one after the other. Bytes like those of the key.
  group_key varbinary(400) NULL CHECK (DATALENGTH(group_key) > 0),
  -- A JSON object of strings.
  headers nvarchar(max) NULL CHECK (ISJSON(headers) = 1 AND LTRIM(headers) LIKE N'{%'),
  -- A JSON array of {"at": milliseconds, "error": text}: the last ten.
  errors nvarchar(max) NULL CHECK (ISJSON(errors) = 1 AND LTRIM(errors) LIKE N'[[]%'),
  -- The handler's words, as JSON: {"done": millionths, "at": milliseconds, "note": text}.
  progress nvarchar(4000) NULL,
  -- What the handler returned, of a kept message.
  result varbinary(max) NULL,
  payload varbinary(max) NOT NULL,
  PRIMARY KEY CLUSTERED (id),
  CHECK (due_at = 0 OR state BETWEEN 1 AND 3),
  CHECK ((finished_at IS NULL AND state IN (0, 1, 2, 5)) OR (finished_at IS NOT NULL AND state IN (3, 4)))
);

-- Reads skip locked rows, but wait for a locked table: row locks must not become a table lock.
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);

-- Many concurrent writers use the last page. Versions before 2019 lack the option; Azure has it.
IF CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 8, 12)
  OR CAST(SERVERPROPERTY('ProductMajorVersion') AS int) >= 15
  EXEC (N'ALTER INDEX ALL ON {table} SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');

-- Ready messages by priority, leased and delayed ones by due_at: each state is one range.
CREATE INDEX {table:next} ON {table} (state, due_at, priority DESC, id);
CREATE INDEX {table:done} ON {table} (state, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX {table:group} ON {table} (group_key, state, id) WHERE group_key IS NOT NULL;
CREATE UNIQUE INDEX {table:key} ON {table} ([key]) WHERE [key] IS NOT NULL;
