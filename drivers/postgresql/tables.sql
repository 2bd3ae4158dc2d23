-- Statements on tables of applications: see core/seam/table_form.hpp. Names in braces are filled in by
-- drivers/table_text.cpp:
--   {table} {keys} {columns} {names} {values}    lists of the mapping; with `:x` each name begins with `x.`
--   {where} {set} {order} {dead}                         what the statement compares and sets
--   {given}                                      the items, as a relation of that name
--   {picked_keys}                                the same for the keys of `picked`, in its order
--   {index} {schema} {bare} {indexed}            of a new index: its name, the schema and the table alone, its columns
--   {same:x}                                     the keys of `msg` and of `x` are equal
--   {locked}                                     the lock of the rows, before they are changed
-- `read.FORM` makes of a column what the client library gets; `value.FORM` makes a column's value of a number or a
-- text. Times are milliseconds since 1970; a local time is taken as UTC.

-- fragment: clock
CAST(extract(epoch FROM pg_catalog.statement_timestamp()) OPERATOR(pg_catalog.*) 1000 AS bigint)

-- fragment: clock.given
CAST(:now AS bigint)

-- name: quote
"

-- name: now
{clock}

-- name: row_address
ctid

-- name: no_order
-- A constant: an order by the address would sort the whole table.
(SELECT NULL)

-- name: condition.equals.text.limited condition.equals.text.typed.enum
-- These types have no operators of their own: one of another schema would be a better match than those for all texts
-- or labels.
{column} OPERATOR(pg_catalog.=) {value}

-- name: condition.differs.text.limited condition.differs.text.typed.enum
({column} OPERATOR(pg_catalog.<>) {value} OR {column} IS NULL)

-- name: earliest
pg_catalog.min({column})

-- name: true
TRUE

-- name: false
FALSE

-- name: read.integer
CAST({column} AS bigint)

-- name: read.boolean
CAST(CAST({column} AS integer) AS bigint)

-- name: read.number read.text
CAST({column} AS text)

-- name: read.bytes
{column}

-- name: read.time
-- Neither infinity has a number. The epoch of a time with a zone is stable, which Citus returns from no change.
CASE WHEN pg_catalog.isfinite({column})
     THEN CAST(pg_catalog.floor(extract(epoch FROM {column} AT TIME ZONE 'UTC')
                                OPERATOR(pg_catalog.*) 1000) AS bigint) END

-- name: read.time.local
CASE WHEN pg_catalog.isfinite({column})
     THEN CAST(pg_catalog.floor(extract(epoch FROM {column}) OPERATOR(pg_catalog.*) 1000) AS bigint) END

-- name: value.integer
CAST({value} AS bigint)

-- name: value.boolean
(CAST({value} AS bigint) <> 0)

-- name: value.number value.text
CAST(CAST({value} AS text) AS {type})

-- name: insert.text.limited
CAST({value} AS text)

-- name: value.bytes
CAST({value} AS bytea)

-- name: value.time
pg_catalog.to_timestamp(CAST({value} AS bigint) OPERATOR(pg_catalog./) 1000.0)

-- name: value.time.local
CAST(pg_catalog.to_timestamp(CAST({value} AS bigint) OPERATOR(pg_catalog./) 1000.0) AT TIME ZONE 'UTC' AS {type})

-- name: fence
-- As in claim.take: a count in the upper half, an arbitrary number in the lower one.
((GREATEST({column}, 0) >> 32) + 1) * 4294967296 + CAST({value} AS bigint)

-- name: history
-- Newest first. An explicit cast cuts what does not fit. Citus takes no concat_ws, which is not immutable.
CAST(pg_catalog.left(CAST({value} AS text)
                       || COALESCE(pg_catalog.chr(10) || NULLIF(CAST({column} AS text), ''), ''), {most}) AS {type})

-- name: locked
-- Not FOR UPDATE, which skips rows that rows of open transactions reference.
FOR NO KEY UPDATE SKIP LOCKED

-- name: locked.strict
-- Takes come one after the other by queue.lock. The rows that others have locked are waited for.
FOR NO KEY UPDATE

-- name: locked.whole
-- Of a row that is deleted, or whose changed columns others may reference.
FOR UPDATE SKIP LOCKED

-- name: locked.strict.whole
FOR UPDATE

-- name: item.integer
pg_catalog.unnest(CAST(:{name} AS bigint[]))

-- name: item.text
pg_catalog.unnest(CAST(:{name} AS text[]))

-- name: given
ROWS FROM ({casts}) WITH ORDINALITY AS given ({parameters}, item)

-- name: picked_keys
ROWS FROM ({arrays}) WITH ORDINALITY AS given ({keys}, tableq_place)

-- name: key_array
pg_catalog.unnest((SELECT pg_catalog.array_agg({key}) FROM picked))

-- fragment: first_rows
SELECT {keys}
  FROM {table} AS msg
  WHERE {where:msg}
  ORDER BY {order}

-- fragment: with_picked
WITH picked AS MATERIALIZED (
  {first_rows}
  LIMIT CAST(:max AS bigint)
  {locked}
)

-- name: table.take
-- The planner expects a tenth of the waiting rows of a LIMIT that it does not know, and few items of an array: from
-- `picked` itself it might plan a join with the whole table.
{with_picked}
UPDATE {table} AS msg
SET {set:msg}
FROM {picked_keys}
WHERE {same:given}
RETURNING given.tableq_place AS place, {columns:msg}

-- name: row_equals
OPERATOR(pg_catalog.=)

-- name: row_equals.own
-- Types outside of pg_catalog have operators of their own.
=

-- name: table.take.one
UPDATE {table} AS msg
SET {set:msg}
WHERE ({keys:msg}) {row_equals} (
  {first_rows}
  LIMIT 1
  {locked})
RETURNING 1 AS place, {columns:msg}

-- name: table.remove
-- A take that deletes.
{with_picked}
DELETE FROM {table} AS msg
USING {picked_keys}
WHERE {same:given}
RETURNING given.tableq_place AS place, {columns:msg}

-- name: table.remove.one
DELETE FROM {table} AS msg
WHERE ({keys:msg}) {row_equals} (
  {first_rows}
  LIMIT 1
  {locked})
RETURNING 1 AS place, {columns:msg}

-- name: table.settle
UPDATE {table} AS msg
SET {set:msg}
FROM {given}
WHERE {where:msg}
RETURNING given.item - 1 AS item, {dead:msg} AS state

-- name: table.settle.one
UPDATE {table} AS msg
SET {set:msg}
WHERE {where:msg}
RETURNING {dead:msg} AS state

-- name: table.delete
DELETE FROM {table} AS msg
USING {given}
WHERE {where:msg}
RETURNING given.item - 1 AS item, 0 AS state

-- name: table.delete.one
DELETE FROM {table} AS msg
WHERE {where:msg}
RETURNING 0 AS state

-- name: table.keep
-- As a settlement, but it waits for no lock: a handler's transaction may be about to settle the row.
WITH held AS MATERIALIZED (
  SELECT {keys:msg}, given.item AS tableq_item
  FROM {given}
  INNER JOIN {table} AS msg ON {where:msg}
  {locked}
)
UPDATE {table} AS msg
SET {set:msg}
FROM held
WHERE {same:held}
RETURNING held.tableq_item - 1 AS item, 0 AS state

-- name: table.lost
SELECT given.item - 1 AS item, 0 AS state
FROM {given}
WHERE NOT EXISTS (SELECT 1 FROM {table} AS msg WHERE {where:msg})

-- name: table.return
WITH picked AS MATERIALIZED (
  SELECT {keys}
  FROM {table} AS msg
  WHERE {where:msg}
  LIMIT CAST(:max AS bigint)
  {locked}
)
UPDATE {table} AS msg
SET {set:msg}
FROM {picked_keys}
WHERE {same:given}
RETURNING {dead:msg} AS state

-- name: table.peek
SELECT 0 AS place, {columns:msg}
FROM {table} AS msg
WHERE {where:msg}
ORDER BY {order}
LIMIT CAST(:max AS bigint)

-- name: table.count
SELECT pg_catalog.count(*) AS count, {clock} AS as_of
FROM (SELECT 1 FROM {table} AS msg WHERE {where:msg} LIMIT CAST(:max AS bigint)) AS counted

-- name: table.next
-- Without the LIMIT a plan that was made for a small table may read all rows for their minimum.
SELECT CASE WHEN {timed} IS NOT NULL THEN GREATEST({timed} - {clock}, 0) END AS delay
FROM (SELECT {order} FROM {table} AS msg WHERE {where:msg} ORDER BY {order} LIMIT 1) AS msg

-- name: table.insert
INSERT INTO {table} AS msg ({names})
VALUES ({values})
RETURNING 0 AS place, {columns:msg}

-- name: table.index
CREATE INDEX {index} ON {table} ({indexed})

-- name: table.index.some
CREATE INDEX {index} ON {table} ({indexed}) WHERE {where}

-- name: table.index.rows
{where}
