-- Statements on tables of applications: see drivers/postgresql/tables.sql for the names in braces.
-- A read is the one of the article on tables as queues: a CTE with TOP and ORDER BY finds the rows, ROWLOCK keeps
-- locks small, READPAST skips locked rows, UPDLOCK makes two readers of one row impossible, and OUTPUT returns it.
-- Never executed on a SQL Server: docs/sqlserver.md. A table with triggers refuses OUTPUT without INTO; core tells.

-- fragment: clock
DATEDIFF_BIG(millisecond, CAST('1970-01-01' AS datetime2(3)), SYSUTCDATETIME())

-- fragment: clock.given
CAST(:now AS bigint)

-- name: quote
-- Sessions of tableq have QUOTED_IDENTIFIER on.
"

-- name: now
{clock}

-- name: no_order
(SELECT NULL)

-- name: earliest
MIN({column})

-- name: true
1

-- name: false
0

-- name: read.integer read.boolean
CAST({column} AS bigint)

-- name: read.number
CAST({column} AS nvarchar(60))

-- name: read.number.money
-- Style 2: all four decimals.
CONVERT(nvarchar(60), {column}, 2)

-- name: read.number.float
-- Style 3: 17 digits.
CONVERT(nvarchar(60), {column}, 3)

-- name: read.text
CAST({column} AS nvarchar(max))

-- name: read.bytes
CAST({column} AS varbinary(max))

-- name: read.time
DATEDIFF_BIG(millisecond, CAST('1970-01-01' AS datetime2(3)), CAST(SWITCHOFFSET({column}, '+00:00') AS datetime2(3)))

-- name: read.time.local
DATEDIFF_BIG(millisecond, CAST('1970-01-01' AS datetime2(3)), {column})

-- name: value.integer value.boolean
CAST({value} AS bigint)

-- name: value.number value.number.money value.number.float value.text
CAST({value} AS {type})

-- name: insert.text insert.text.code_page
CAST({value} AS nvarchar(max))

-- name: value.bytes
CAST({value} AS varbinary(max))

-- name: value.time
TODATETIMEOFFSET(
  DATEADD(millisecond, ({value}) % 86400000,
          DATEADD(day, ({value}) / 86400000, CAST('1970-01-01' AS datetime2(3)))), '+00:00')

-- name: value.time.local
CAST(DATEADD(millisecond, ({value}) % 86400000,
             DATEADD(day, ({value}) / 86400000, CAST('1970-01-01' AS datetime2(3)))) AS {type})

-- name: fence
(CASE WHEN {column} > 0 THEN {column} ELSE 0 END / CAST(4294967296 AS bigint) + 1) * CAST(4294967296 AS bigint)
  + CAST({value} AS bigint)

-- name: history
-- Newest first. A collation with supplementary characters never cuts one in two.
CAST(LEFT((CAST({value} AS nvarchar(max)) + COALESCE(NCHAR(10) + NULLIF(CAST({column} AS nvarchar(max)), N''), N''))
  COLLATE Latin1_General_100_CI_AS_SC, {most}) AS {type})

-- name: history.text.code_page
-- The column's own collation has the code page.
CAST(LEFT(CAST({value} AS nvarchar(max)) + COALESCE(NCHAR(10) + NULLIF(CAST({column} AS nvarchar(max)), N''), N''),
  {most}) AS {type})

-- name: locked
WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)

-- name: locked.strict
-- Without READPAST a take waits for the first rows, and continues from there.
WITH (UPDLOCK, ROWLOCK)

-- name: item.integer
CAST(:{name} AS bigint)

-- name: item.text
CAST(:{name} AS nvarchar(max))

-- name: given
(VALUES {items: (:item, {casts})}) AS given (item, {parameters})

-- fragment: with_picked
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) {all}
  FROM {table} AS msg {locked}
  WHERE {where:msg}
  ORDER BY {order}
)

-- name: table.take
{with_picked}
UPDATE picked
SET {set}
OUTPUT 0 AS place, {columns:inserted}

-- name: table.remove
{with_picked}
DELETE FROM picked
OUTPUT 0 AS place, {columns:deleted}

-- name: table.settle
UPDATE msg
SET {set:msg}
OUTPUT given.item AS item, {dead:inserted} AS state
FROM {given}
INNER JOIN {table} AS msg WITH (ROWLOCK) ON {where:msg}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: table.delete
DELETE msg
OUTPUT given.item AS item, 0 AS state
FROM {given}
INNER JOIN {table} AS msg WITH (ROWLOCK) ON {where:msg}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: table.keep
UPDATE msg
SET {set:msg}
OUTPUT given.item AS item, 0 AS state
FROM {given}
INNER JOIN {table} AS msg WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) ON {where:msg}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: table.lost
-- A row that another transaction has locked may be settled, and is not lost yet. Without row versioning the look would wait
-- for it. NOWAIT: instead none counts as lost until the next look. XACT_ABORT would end the transaction then; both settings
-- end with the text.
SET XACT_ABORT OFF;
SET NOCOUNT ON;
DECLARE @lost TABLE (item int);
BEGIN TRY
  INSERT INTO @lost (item)
  SELECT given.item
  FROM {given}
  WHERE given.key_0 IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM {table} AS msg WITH (READCOMMITTED, ROWLOCK, NOWAIT) WHERE {where:msg});
END TRY
BEGIN CATCH
  IF ERROR_NUMBER() <> 1222
    THROW;
END CATCH;
SELECT item, 0 AS state FROM @lost

-- name: table.return
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) {all}
  FROM {table} AS msg WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
  WHERE {where:msg}
)
UPDATE picked
SET {set}
OUTPUT {dead:inserted} AS state

-- name: table.peek
SELECT TOP (CAST(:max AS bigint)) 0 AS place, {columns:msg}
FROM {table} AS msg WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE {where:msg}
ORDER BY {order}

-- name: table.count
SELECT COUNT_BIG(*) AS count, {clock} AS as_of
FROM (SELECT TOP (CAST(:max AS bigint)) 1 AS one FROM {table} AS msg WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) WHERE {where:msg}) AS counted

-- name: table.next
SELECT CASE WHEN {timed} < {clock} THEN 0 ELSE {timed} - {clock} END AS delay
FROM {table} AS msg WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE {where:msg}

-- name: table.insert
INSERT INTO {table} WITH (ROWLOCK) ({names})
OUTPUT 0 AS place, {columns:inserted}
VALUES ({values})

-- name: table.index
-- Never of some rows only: the inserts of sessions with other settings would fail with error 1934.
CREATE INDEX {index} ON {table} ({indexed})

-- name: table.index.rows
{where}
