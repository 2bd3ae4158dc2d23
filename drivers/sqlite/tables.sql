-- Statements on tables of applications: see drivers/postgresql/tables.sql for the names in braces. Times are texts
-- in UTC, as SQLite's own functions write them, or numbers of milliseconds. A change begins with WITH, because the ODBC
-- driver otherwise keeps back its rows.

-- fragment: clock
CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)

-- fragment: clock.given
:now

-- name: quote
-- In double quotes a name that is no column is a text, without an error.
`

-- name: now
{clock}

-- name: row_address
-- The name that an application is least likely to give a column.
_rowid_

-- name: no_order
msg._rowid_

-- name: earliest
MIN({column})

-- name: true
1

-- name: false
0

-- name: read.integer read.boolean read.bytes
{column}

-- name: read.number
-- The shorter text, if it reads as the same number.
CASE WHEN typeof({column}) <> 'real' THEN CAST({column} AS TEXT)
  WHEN CAST(printf('%!.15g', {column}) AS REAL) = {column} THEN printf('%!.15g', {column})
  ELSE printf('%!.17g', {column}) END

-- name: read.text
CAST({column} AS TEXT)

-- name: read.time
-- A number is milliseconds since 1970.
CASE WHEN typeof({column}) = 'integer' THEN {column}
  ELSE CAST(ROUND((julianday({column}) - 2440587.5) * 86400000) AS INTEGER) END

-- name: value.integer value.boolean value.number value.text
{value}

-- name: value.bytes
CAST({value} AS BLOB)

-- name: value.time
strftime('%Y-%m-%d %H:%M:%f', ({value}) / 1000.0, 'unixepoch')

-- name: fence
((MAX(COALESCE({column}, 0), 0) >> 32) + 1) * 4294967296 + {value}

-- name: history
-- Newest first. Types cut nothing.
substr({value} || COALESCE(char(10) || NULLIF(CAST({column} AS TEXT), ''), ''), 1, {most})

-- fragment: changed
WITH unused AS (SELECT 1)
UPDATE {table} AS msg
SET {set}

-- fragment: removed
WITH unused AS (SELECT 1)
DELETE FROM {table} AS msg

-- fragment: first_rows
SELECT {keys}
  FROM {table} AS msg
  WHERE {where:msg}
  ORDER BY {order}

-- name: table.take
{changed}
WHERE ({keys}) IN (
  {first_rows}
  LIMIT :max)
RETURNING 0 AS place, {columns}

-- name: table.take.one
-- A comparison needs no list of keys.
{changed}
WHERE ({keys}) = (
  {first_rows}
  LIMIT 1)
RETURNING 0 AS place, {columns}

-- name: table.remove
{removed}
WHERE ({keys}) IN (
  {first_rows}
  LIMIT :max)
RETURNING 0 AS place, {columns}

-- name: table.remove.one
{removed}
WHERE ({keys}) = (
  {first_rows}
  LIMIT 1)
RETURNING 0 AS place, {columns}

-- name: table.settle
{changed}
WHERE {where:msg}
RETURNING {dead} AS state

-- name: table.delete
{removed}
WHERE {where:msg}
RETURNING 0 AS state

-- name: table.keep
{changed}
WHERE {where:msg}
RETURNING 0 AS state

-- name: table.lost
SELECT 0 AS state
WHERE NOT EXISTS (SELECT 1 FROM {table} AS msg WHERE {where:msg})

-- name: table.return
{changed}
WHERE ({keys}) IN (SELECT {keys} FROM {table} AS msg WHERE {where:msg} LIMIT :max)
RETURNING {dead} AS state

-- name: table.peek
SELECT 0 AS place, {columns}
FROM {table} AS msg
WHERE {where:msg}
ORDER BY {order}
LIMIT :max

-- name: table.count
SELECT count(*) AS count, {clock} AS as_of
FROM (SELECT 1 FROM {table} AS msg WHERE {where:msg} LIMIT :max)

-- name: table.next
SELECT MAX({timed} - {clock}, 0) AS delay
FROM {table} AS msg
WHERE {where:msg}

-- name: table.insert
WITH unused AS (SELECT 1)
INSERT INTO {table} ({names})
VALUES ({values})
RETURNING 0 AS place, {columns}

-- name: table.index
CREATE INDEX {schema}.{index} ON {bare} ({indexed})

-- name: table.index.some
CREATE INDEX {schema}.{index} ON {bare} ({indexed}) WHERE {where}

-- name: table.index.rows
{where}
