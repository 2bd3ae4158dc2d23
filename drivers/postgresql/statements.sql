-- The statements of PostgreSQL (12 or later). core/seam/contract.cpp defines what each takes and returns.
--
-- A fragment replaces its name in braces, without its comments. `NAME.given` replaces NAME if a test sets the
-- clock, `NAME.shard` if the tables are shards of a cluster of Citus, and `NAME.turns` in a queue whose groups take
-- turns. `tableq ddl --statements` prints the complete texts for a server.
--
-- How a read works, and why:
--  * A CTE with a row lock and a LIMIT finds the rows. It runs once, in any plan; a LIMIT in a join or in a
--    sub-query may run again, and take more rows than were asked for.
--  * The found ids go into an array, `id = ANY (ARRAY(...))`, not into a join: a join may be planned as a hash of
--    the whole table, and a prepared statement keeps its plan when the table grows.
--  * The second search is by id, not by ctid: a row that changed between the snapshot and the lock has a new ctid,
--    which the statement's snapshot does not show.
--  * SKIP LOCKED skips rows that others have locked. The lock of a row checks the row again if it has changed.
--  * A row that is then updated is locked FOR NO KEY UPDATE, and FOR UPDATE only before a DELETE: an open transaction
--    that has added a row which references it holds FOR KEY SHARE, which only FOR UPDATE excludes.
--  * The returned rows have no order; core sorts.
--  * An UPDATE by id first checks the constraints on the row of its snapshot, and then takes the version that the
--    CTE has locked. Its new row must keep the constraints for a row in any state.
--
-- How a batch works: one array for each item parameter. unnest in a SELECT list unpacks new messages: it reads
-- all arrays together, row by row. In FROM it would first write all of them out, large payloads to a temporary
-- file. If the item's number is needed, unnest has WITH ORDINALITY. The planner assumes that arrays have ten
-- elements, and would join two batches of a thousand row by row. Therefore UNION ALL and GROUP BY match rows, and
-- width_bucket searches sorted arrays: it counts the elements up to a value. A name with the ending .one is for
-- one message: a scalar sub-query, which runs once, and no array. Each use of a parameter has a cast, because
-- some drivers send no types.
--
-- The queue of the caller's handle has the identity :own_identity. A change of messages without a fence finds no
-- row and adds none if the catalogue no longer has this identity: the table may then be that of a later queue of
-- the same name. A statement waits for a DROP TABLE before it takes its snapshot, so its view of the catalogue
-- belongs to its table.
--
-- What Citus asks of a text on a shard: no volatile function in an UPDATE or a DELETE, no stable one in a CASE or a
-- COALESCE outside sub-queries, and neither in RETURNING. A stable function of an UPDATE or DELETE runs on the called
-- server, any other function on the server that has the shard. An INSERT of a query that reads a table needs a
-- volatile function, such as that of the id: without one Citus sends a wrong text if another function is stable.

-- fragment: main
-- Of drivers/statements.sql, as the next three.

-- fragment: functions
pg_catalog.

-- fragment: returns

-- fragment: bytes
bytea

-- fragment: clock_of_server
-- Milliseconds since 1970. It stands still within one statement, and not within a transaction.
CAST(extract(epoch FROM pg_catalog.statement_timestamp()) OPERATOR(pg_catalog.*) 1000 AS bigint)

-- fragment: clock
{clock_of_server}

-- fragment: clock.given
-- The clock that a test sets.
CAST(:now AS bigint)

-- fragment: clock_now
-- The same, read anew at each use.
CAST(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000 AS bigint)

-- fragment: clock_now.given
CAST(:now AS bigint)

-- fragment: clock_at_change
-- The same for an UPDATE.
{clock_now}

-- fragment: clock_at_change.shard
-- Floors, which need the clock under the lock, are off.
{clock}

-- fragment: clock_of_all
-- The clock, read once for all rows of a batch. Read for each row, it costs half a microsecond or more a message.
(SELECT {clock})

-- fragment: clock_of_all.shard
{clock}

-- fragment: clock_now_of_all
-- The same under the lock of a writer.
(SELECT {clock_now})

-- fragment: clock_now_of_all.shard
{clock_now}

-- fragment: clock_at_change_of_all
-- The same for an UPDATE.
{clock_now_of_all}

-- fragment: clock_at_change_of_all.shard
{clock_at_change}

-- fragment: clock_of_delivery
-- The same for the RETURNING of a claim.
{clock}

-- fragment: clock_of_delivery.shard
(due_at - CAST(:lease AS bigint))

-- fragment: lock_place.shard
-- Where the lock of a queue is taken: on the called server.
-- On the server that has the shard.
FROM {catalog} WHERE name = 'tableq'

-- fragment: place_of_ids.shard
-- Where an INSERT that reads no table draws its ids: on the called server.
-- On the server that has the shard, as enqueues do: ids of one queue then have one order.
AND EXISTS (SELECT 1 FROM {catalog} WHERE name = 'tableq')

-- fragment: passed
-- The beginning of the search for due messages: no message fell due before. A :passed in the future means that
-- the server's clock was set back; then the search begins at the front.
CASE WHEN CAST(:passed AS bigint) <= {clock} THEN CAST(:passed AS bigint) ELSE -9223372036854775808 END

-- fragment: first_due_at
(SELECT due_at
      FROM {table} AS msg
      WHERE state IN (1, 2)
        AND due_at >= {passed}
        AND due_at <= {clock}
      ORDER BY due_at, id
      LIMIT 1)

-- fragment: none_due
-- With :guard: no delayed or expired message waits to be promoted. Reads the first row by due_at: a query for any
-- due row may be planned as a scan of the table.
CAST(:guard AS bigint) = 0
  OR {first_due_at} IS NULL

-- fragment: own_queue
-- The catalogue still has the queue that the handle was opened for.
EXISTS (SELECT 1 FROM {catalog} WHERE identity = CAST(:own_identity AS bigint))

-- fragment: listens
-- Whether a session shares the lock of listen.hold.
NOT CASE WHEN pg_catalog.pg_try_advisory_lock(1952606577, id)
         THEN pg_catalog.pg_advisory_unlock(1952606577, id)
         ELSE false END

-- fragment: with_writers
-- The transactions that hold the lock of a writer on the table: see drivers/postgresql/floor/writers_watch.hpp. An INSERT, a COPY
-- or a MERGE takes this lock before its default draws an id, and keeps it until its transaction ends, or until the
-- savepoint is rolled back to which its rows belong. A transaction that only reads, or writes elsewhere, does not
-- hold it.
WITH writers AS MATERIALIZED (
  SELECT virtualtransaction AS name
  FROM pg_catalog.pg_locks
  WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted
    AND relation = CAST(CAST('{table}' AS regclass) AS oid)
    AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
)

-- fragment: writers
-- A prepared transaction may have had another name before: it counts as one of the writers that are searched for.
(SELECT pg_catalog.string_agg(name, ' ') FROM writers) AS writers,
       CASE WHEN EXISTS (SELECT 1
                         FROM writers
                         WHERE name = ANY (pg_catalog.string_to_array(CAST(:writers AS text), ' ')) OR name LIKE '-1/%')
            THEN 0 ELSE 1 END AS ended

-- fragment: last_drawn
-- The highest id that was drawn, if the user may read the sequence.
(SELECT CASE WHEN pg_catalog.has_sequence_privilege(s.name, 'USAGE, SELECT, UPDATE')
        THEN pg_catalog.pg_sequence_last_value(CAST(s.name AS regclass)) END
 FROM (SELECT pg_catalog.pg_get_serial_sequence('{table}', 'id') AS name) AS s)

-- fragment: new_lease
-- The fence has a count in its upper half, so that it grows. Its lower half is the caller's random token, so that
-- the receipt of a take that was rolled back never matches a later take. The count is shifted, not multiplied,
-- and attempts have bounds, so that no value of plain SQL can stop the take.
state = 1,
    fence = ((fence / 4294967296 + 1) << 32) + CAST(:token AS bigint),
    attempts = LEAST(GREATEST(attempts, 0), 2147483646) + 1,
    claimed_at = CAST(:claimed_at AS bigint)

-- fragment: freed_key
key = CASE WHEN CAST(:unkey AS bigint) = 0 THEN key END,
    past_key = CASE WHEN CAST(:unkey AS bigint) = 0 THEN past_key ELSE COALESCE(key, past_key) END

-- fragment: since
-- Since when a taken message stood in line, where groups take turns.
0 AS ready_at

-- fragment: since.turns
ready_at

-- fragment: delivery
id, fence, attempts, priority, created_at, claimed_at, due_at AS lease_until,
          COALESCE(key, past_key) AS key, group_key,
          -- Few messages expire: IS NOT NULL spares the others the clock.
          CASE WHEN expires_at IS NOT NULL AND expires_at <= {clock_of_delivery}
               THEN 1 ELSE 0 END AS expired,
          headers, payload, {since}

-- fragment: begin_of_message
id, state, priority, attempts, created_at,

-- fragment: begin_of_message.seen
-- What a viewer may read, here and below.
id, state, priority, 0 AS attempts, created_at,

-- fragment: rest_of_message
claimed_at, finished_at,
       COALESCE(key, past_key) AS key, group_key, expires_at, headers, errors, payload

-- fragment: rest_of_message.outline
-- Without what may be private.
claimed_at, finished_at,
       COALESCE(key, past_key) AS key, group_key, expires_at, CAST(NULL AS text) AS headers, errors,
       CAST('' AS bytea) AS payload

-- fragment: rest_of_message.seen
CAST(NULL AS bigint) AS claimed_at, finished_at, CAST(NULL AS text) AS key, CAST(NULL AS text) AS group_key,
       CAST(NULL AS bigint) AS expires_at, CAST(NULL AS text) AS headers, CAST(NULL AS text) AS errors,
       CAST('' AS bytea) AS payload

-- fragment: message
{begin_of_message} due_at, {rest_of_message}

-- fragment: ready_at.turns
, ready_at

-- fragment: columns
-- Those that {message} and the order need.
*

-- fragment: columns.outline
id, state, priority, attempts, created_at, due_at, claimed_at, finished_at, key, past_key, group_key, expires_at,
               errors{ready_at}

-- fragment: columns.seen
id, state, priority, created_at, due_at, finished_at{ready_at}

-- fragment: line
-- The order of ready messages.
priority DESC, id

-- fragment: line.turns
priority DESC, ready_at, id

-- fragment: line_with_due
-- The same among due messages, which count as ready from now on.
priority DESC, id

-- fragment: line_with_due.turns
priority DESC, CASE WHEN state = 0 THEN ready_at ELSE {clock} END, id

-- fragment: parts
-- Priorities from a high one down to a low one, with the floor of their ids, one part after the other.
(SELECT pg_catalog.unnest(CAST('{' || CAST(:highs AS text) || '}' AS bigint[])) AS high,
        pg_catalog.unnest(CAST('{' || CAST(:lows AS text) || '}' AS bigint[])) AS low,
        pg_catalog.unnest(CAST('{' || CAST(:floors AS text) || '}' AS bigint[])) AS floor)

-- fragment: parts.turns
-- The floor is a time; see {passed} about one in the future. There is none beside a clock that a test sets.
(SELECT high, low, CASE WHEN floor <= {clock_of_server} THEN floor ELSE -9223372036854775808 END AS floor
 FROM {parts} AS part)

-- fragment: from_oldest
-- There is no message before :oldest: see claim.floor. An index that has ids steps over its deleted rows without
-- reading them.
id >= CAST(:oldest AS bigint)

-- fragment: returned_in_part
-- `state < 1` selects the index of returned messages instead of that of all ready ones, and `>=` with `<=` excludes
-- the primary key, as in claim.list_ready.
FROM {table} AS msg
          WHERE state < 1 AND fence > 0
            AND priority <= part.high AND priority >= part.low
            AND {from_oldest} AND id < part.floor

-- fragment: others_in_part
FROM {table} AS msg
          WHERE state = 0
            AND priority <= part.high AND priority >= part.low
            AND id >= part.floor

-- fragment: others_in_part.turns
-- All of them: messages that come back stand at the end of the line.
FROM {table} AS msg
          WHERE state = 0
            AND priority <= part.high AND priority >= part.low
            AND ready_at >= part.floor

-- fragment: ready_locked_in_parts
FROM {parts} AS part
  CROSS JOIN LATERAL (
    SELECT id
    FROM (SELECT id
          {returned_in_part}
          ORDER BY priority DESC, id
          FOR NO KEY UPDATE SKIP LOCKED) AS back
    UNION ALL
    SELECT id
    FROM (SELECT id
          {others_in_part}
          ORDER BY priority DESC, id
          FOR NO KEY UPDATE SKIP LOCKED) AS others
  ) AS found

-- fragment: ready_locked_in_parts.turns
FROM {parts} AS part
  CROSS JOIN LATERAL (
    SELECT id
    {others_in_part}
    ORDER BY priority DESC, ready_at, id
    FOR NO KEY UPDATE SKIP LOCKED
  ) AS found

-- fragment: lease_picked
UPDATE {table} AS msg
SET {new_lease},
    {freed_key},
    due_at = {clock_at_change_of_all} + CAST(:lease AS bigint)
WHERE id = ANY (ARRAY(SELECT id FROM picked))
RETURNING {delivery}

-- fragment: taken_columns
-- Those of {delivery}, by their names.
id, fence, attempts, priority, created_at, claimed_at, lease_until, key, group_key, expired, headers, payload, ready_at

-- fragment: none_taken
-- A row without a message.
0, 0, 0, 0, 0, NULL, 0, NULL, NULL, 0, NULL, '', 0

-- fragment: first_waiting
-- Delayed and leased messages that are not due yet, in their order.
FROM {table} AS msg
                        WHERE state IN (1, 2)
                          AND due_at > {clock}
                          AND {from_oldest}
                        ORDER BY due_at, id

-- fragment: leased_up_to_concurrency
-- The leases that have not ended. Only the index of leases is free of delayed messages, and only that of due times has
-- ids: it steps over the leases of completed messages without reading these. It decides if few messages are delayed.
SELECT CASE WHEN first.seen < m.concurrency + 100 THEN first.leased
                   ELSE (SELECT pg_catalog.count(*)
                         FROM (SELECT 1
                               FROM {table} AS msg
                               WHERE state = 1
                                 AND due_at > {clock}
                               LIMIT m.concurrency) AS leases)
                   END
            FROM (SELECT pg_catalog.count(*) AS seen, pg_catalog.count(*) FILTER (WHERE state = 1) AS leased
                  FROM (SELECT state {first_waiting} LIMIT m.concurrency + 100) AS waiting) AS first

-- fragment: first_ready
-- The first :max ready messages. As in claim.take, without locks.
FROM {parts} AS part
     CROSS JOIN LATERAL (
       SELECT * FROM (SELECT * {returned_in_part} ORDER BY priority DESC, id) AS back
       UNION ALL
       SELECT * FROM (SELECT * {others_in_part} ORDER BY priority DESC, id) AS others
     ) AS msg
     LIMIT CAST(:max AS bigint)

-- fragment: first_ready.turns
FROM {parts} AS part
     CROSS JOIN LATERAL (SELECT * {others_in_part} ORDER BY priority DESC, ready_at, id) AS msg
     LIMIT CAST(:max AS bigint)

-- fragment: first_ready_ids
-- The same with the rights to few columns.
FROM {parts} AS part
            CROSS JOIN LATERAL (
              SELECT id FROM (SELECT id {returned_in_part} ORDER BY priority DESC, id) AS back
              UNION ALL
              SELECT id FROM (SELECT id {others_in_part} ORDER BY priority DESC, id) AS others
            ) AS msg
            LIMIT CAST(:max AS bigint)

-- fragment: first_ready_ids.turns
FROM {parts} AS part
            CROSS JOIN LATERAL (SELECT id {others_in_part} ORDER BY priority DESC, ready_at, id) AS msg
            LIMIT CAST(:max AS bigint)

-- fragment: first_due
-- The first :max delayed messages that fell due, and messages whose lease ended.
FROM {table} AS msg
   WHERE state IN (1, 2)
     AND due_at >= {passed}
     AND due_at <= {clock}
   ORDER BY due_at, id
   LIMIT CAST(:max AS bigint)

-- fragment: first_held
FROM {table} AS msg
              WHERE state = 5 AND {from_oldest}
              ORDER BY priority DESC, id
              LIMIT CAST(:max AS bigint)

-- fragment: page_of_ready
-- The first :max ready messages after one with :after_priority and :after_id: first those of the same priority, then
-- those of lower ones, each from its floor on.
FROM (SELECT CAST(:after_priority AS bigint) AS high, CAST(:after_priority AS bigint) AS low, floor,
             CAST(:after_id AS bigint) AS after
      FROM {parts} AS part
      WHERE high >= CAST(:after_priority AS bigint) AND low <= CAST(:after_priority AS bigint)
      UNION ALL
      SELECT LEAST(high, CAST(:after_priority AS bigint) - 1), low, floor, -9223372036854775808
      FROM {parts} AS part
      WHERE low < CAST(:after_priority AS bigint)) AS part
     CROSS JOIN LATERAL (
       SELECT * FROM (SELECT {columns} {returned_in_part} AND id > part.after ORDER BY priority DESC, id) AS back
       UNION ALL
       SELECT * FROM (SELECT {columns} {others_in_part} AND id > part.after ORDER BY priority DESC, id) AS others
     ) AS msg
     LIMIT CAST(:max AS bigint)

-- fragment: page_of_ready.turns
-- After one that stands in line since :after_at.
FROM (SELECT CAST(:after_priority AS bigint) AS high, CAST(:after_priority AS bigint) AS low, floor,
             CAST(:after_at AS bigint) AS after_at, CAST(:after_id AS bigint) AS after_id
      FROM {parts} AS part
      WHERE high >= CAST(:after_priority AS bigint) AND low <= CAST(:after_priority AS bigint)
      UNION ALL
      SELECT LEAST(high, CAST(:after_priority AS bigint) - 1), low, floor, floor, -9223372036854775808
      FROM {parts} AS part
      WHERE low < CAST(:after_priority AS bigint)) AS part
     CROSS JOIN LATERAL (
       SELECT {columns}
       {others_in_part} AND (ready_at, id) > (part.after_at, part.after_id)
       ORDER BY priority DESC, ready_at, id
     ) AS msg
     LIMIT CAST(:max AS bigint)

-- fragment: set_ready_at.turns
-- For each change after which a message may be ready.
-- The clock is read under the lock of a writer: see claim.floor.
, ready_at = {clock_at_change_of_all}

-- fragment: set_place_in_line.turns
-- The same for a group that may have a weight: it stands in that part of the line, counted from the first message.
, ready_at = {clock_at_change_of_all} - COALESCE((
      SELECT ({clock} - front.ready_at) * (l.weight - 1) / l.weight
      FROM (SELECT weight
            FROM {quotas} AS l
            WHERE l.queue = CAST(:queue AS text) AND l.name IN (msg.group_key, '')
            ORDER BY l.name = ''
            LIMIT 1) AS l
      CROSS JOIN LATERAL (SELECT first.ready_at
                          FROM {table} AS first
                          WHERE first.state = 0 AND first.priority = msg.priority AND l.weight > 1
                          ORDER BY first.priority DESC, first.ready_at, first.id
                          LIMIT 1) AS front
      WHERE front.ready_at < {clock}), 0)

-- fragment: keep_or_set_ready_at.turns
, ready_at = CASE WHEN CAST(:postpone AS bigint) = 0 THEN q.ready_at ELSE n.clock END

-- fragment: clock_of_new.turns
, clock

-- fragment: any_message
-- The same with the time since which a ready message stands in line, if that decides.
{message}

-- fragment: any_message.turns
{begin_of_message} CASE WHEN state = 0 THEN ready_at ELSE due_at END AS due_at, {rest_of_message}

-- fragment: index_of_ready
(priority DESC, id) WHERE (state = 0)

-- fragment: index_of_ready.turns
(priority DESC, ready_at, id) WHERE (state = 0)

-- fragment: column_of_turns.turns
, ('claim', 'ready_at', 'bigint', 1)

-- fragment: since_layout
-- The index of returned messages: only takes that begin at a floor need it.
1

-- fragment: since_layout.turns
2147483647

-- fragment: mine
-- Of the messages in `held`: the ids, sorted, of those whose lease the given receipts hold, and the item of each.
-- Receipts come by rising ids, each id once.
mine AS MATERIALIZED (
  SELECT pg_catalog.array_agg(id ORDER BY id) AS ids, pg_catalog.array_agg(item ORDER BY id) AS items
  FROM (SELECT id, fence, state, pg_catalog.width_bucket(id, CAST(:id AS bigint[])) AS item FROM held) AS found
  WHERE state = 1 AND fence = (CAST(:fence AS bigint[]))[item]
)

-- fragment: held_receipts
-- The messages whose lease the given receipts hold.
-- Settling statements first lock their rows by rising ids, so that two batches never deadlock. They lock rows in
-- any state, and then check state and fence of the locked rows: a locked row is the current version, while the
-- rest of the statement has the version of its snapshot. With an older snapshot of the caller the lock fails with
-- 40001; otherwise the lease would be reported as lost.
held AS MATERIALIZED (
  SELECT id, fence, state FROM {table} AS msg WHERE id = ANY (CAST(:id AS bigint[])) ORDER BY id FOR NO KEY UPDATE
),
{mine}

-- fragment: held_unlocked
-- Those of them that no other transaction has locked.
held AS MATERIALIZED (
  SELECT id, fence, state
  FROM {table} AS msg
  WHERE id = ANY (CAST(:id AS bigint[]))
  ORDER BY id
  FOR NO KEY UPDATE SKIP LOCKED
)

-- fragment: kept
-- A completed message that stays. With a :window the key stays that long. With :strip only messages with keys change,
-- and keep only the key.
state = 3,
    due_at = ({clock} + CAST(:window AS bigint))
             * CASE WHEN CAST(:window AS bigint) > 0 AND key IS NOT NULL THEN 1 ELSE 0 END,
    key = CASE WHEN CAST(:window AS bigint) > 0 THEN key END,
    past_key = COALESCE(key, past_key),
    payload = CASE WHEN CAST(:strip AS bigint) = 0 THEN payload ELSE '' END,
    headers = CASE WHEN CAST(:strip AS bigint) = 0 THEN headers END,
    finished_at = {clock}

-- fragment: receipt_held
id = ANY (CAST((SELECT ids FROM mine) AS bigint[]))

-- fragment: receipt_item
(SELECT items FROM mine)[pg_catalog.width_bucket(id, (SELECT ids FROM mine))] - 1

-- fragment: in_states
-- Bit n of :states stands for the state n.
((CAST(:states AS bigint) OPERATOR(pg_catalog.>>) CAST(state AS integer)) OPERATOR(pg_catalog.&) CAST(1 AS bigint))
  OPERATOR(pg_catalog.=) CAST(1 AS bigint)

-- fragment: checked
-- Whether a CHECK of the table holds for `errors` and `retry`, by its name or by that of layout 1: without one, plain SQL
-- may have written any text, and a cast that fails would stop a whole batch. PostgreSQL before 16 cannot ask a text
-- whether it is JSON.
(SELECT TRUE
 FROM pg_catalog.pg_constraint AS own
 WHERE own.conrelid = CAST(CAST('{table}' AS regclass) AS oid)
   AND own.contypid = CAST(0 AS oid)
   AND own.conname IN (CAST(pg_catalog.btrim('{table:rules}', '"') AS name),
                       CAST(pg_catalog.btrim('{table:errors_check}', '"') AS name))
   AND own.contype = CAST('c' AS "char")
 LIMIT 1)

-- fragment: fits
-- What claim.filter looks for. Headers come as the JSON of one: `{"name":"value"}`. Plain SQL may have stored any
-- text as headers, so they are not read as JSON.
{in_states}
  AND (CAST(:older_than AS bigint) IS NULL
       OR COALESCE(finished_at, created_at) <= {clock} - CAST(:older_than AS bigint))
  AND (CAST(:group AS text) IS NULL OR group_key = CAST(:group AS text))
  AND (CAST(:key_prefix AS text) IS NULL
       OR pg_catalog.starts_with(COALESCE(key, past_key), CAST(:key_prefix AS text)))
  AND (CAST(:error AS text) IS NULL
       OR pg_catalog.strpos(CASE WHEN {checked} THEN CAST(errors AS jsonb) -> -1 ->> 'error' ELSE errors END,
                            CAST(:error AS text)) > 0)
  AND (CAST(:header AS text) IS NULL
       OR headers ~ (SELECT '[{,][[:space:]]*'
                              || pg_catalog.replace(
                                   pg_catalog.regexp_replace(
                                     pg_catalog.substr(CAST(:header AS text), 2,
                                                       pg_catalog.length(CAST(:header AS text)) - 2),
                                     '([[:punct:]])', '\\\1', 'g'),
                                   '\"\:\"', '\"[[:space:]]*:[[:space:]]*\"')
                              || '[[:space:]]*[,}]'))

-- fragment: most_attempts
COALESCE(q.max_attempts, t.most)

-- fragment: retry_delay
-- The caller's delay, otherwise that of the message or of the queue for this attempt; later attempts have the
-- last one. The dice change it by up to `jitter` per cent. Plain SQL may have written any rule: other values than
-- numbers are ignored, and numbers are limited to 0 to 3,650 days, or 100 per cent.
COALESCE((CAST(:delay AS bigint[]))[p.place],
  CASE WHEN pg_catalog.jsonb_typeof(p.rest) = 'number'
       THEN CAST(pg_catalog.trunc(GREATEST(LEAST(CAST(p.rest AS numeric), 315360000000), 0)) AS bigint)
       END
    * (100000 + (CAST(:dice AS bigint[]))[p.place]
         * CASE WHEN pg_catalog.jsonb_typeof(p.jitter) = 'number'
                THEN CAST(pg_catalog.trunc(GREATEST(LEAST(CAST(p.jitter AS numeric), 100), 0))
                       AS bigint)
                ELSE 0 END)
    / 100000,
  0)

-- fragment: earlier_errors
-- A history that nothing has checked, or of over 1,000,000 bytes, which is not from tableq, is replaced.
COALESCE(CASE WHEN pg_catalog.octet_length(q.errors) <= 1000000 THEN CASE WHEN {checked} THEN CAST(q.errors AS jsonb) END END,
         '[]')

-- fragment: ids_of_keys
ARRAY(SELECT id FROM {table} AS own WHERE key = ANY (CAST(:key AS text[])) AND key IS NOT NULL)

-- fragment: still_of_keys
-- Of the locked row. No condition on an index: the rows are found by their ids, and so locked in that order, as by all
-- other statements.
pg_catalog.array_position(CAST(:key AS text[]), key) IS NOT NULL

-- fragment: past_of_keys
-- Done messages that stayed only for these keys. `due_at + 0`: excludes the index by due_at.
SELECT id
  FROM {table} AS msg
  WHERE id = ANY ({ids_of_keys})
    AND {still_of_keys}
    AND state + 0 = 3
    AND due_at + 0 BETWEEN 1 AND {clock}
  ORDER BY id

-- fragment: other_past
-- Others whose window ended first.
SELECT id
  FROM {table} AS msg
  WHERE state = 3 AND due_at > 0
    AND due_at <= {clock}
  ORDER BY due_at
  LIMIT 10 * pg_catalog.cardinality(CAST(:key AS text[]))

-- name: catalog.exists
-- And the schema in which it is, or would be created: a session of the application may have another search path.
SELECT CASE WHEN c.id IS NULL THEN 0 ELSE 1 END AS present,
       COALESCE((SELECT CAST(n.nspname AS text)
                 FROM pg_catalog.pg_class AS t
                 JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace
                 WHERE t.oid = c.id),
                CAST(pg_catalog.current_schema() AS text)) AS schema,
       CASE WHEN EXISTS (SELECT 1
                         FROM pg_catalog.pg_trigger AS g
                         JOIN pg_catalog.pg_proc AS p ON p.oid = g.tgfoid
                         WHERE g.tgrelid = c.id AND p.proname = 'citus_truncate_trigger')
            THEN 1 ELSE 0 END AS sharded,
       -- SQL_ASCII keeps all bytes as they come.
       CASE WHEN CAST(pg_catalog.getdatabaseencoding() AS text) IN ('UTF8', 'SQL_ASCII') THEN 0 ELSE 1 END AS narrow
FROM (SELECT CAST(pg_catalog.to_regclass('{catalog}') AS oid) AS id) AS c

-- name: session.identity
-- Any user may read these. No two servers have started in the same microsecond.
SELECT CAST(d.oid AS text) || ' '
         || pg_catalog.to_char(pg_catalog.pg_postmaster_start_time() AT TIME ZONE 'UTC',
                               'YYYY-MM-DD HH24:MI:SS.US') AS database
FROM pg_catalog.pg_database AS d
WHERE d.datname = pg_catalog.current_database()

-- name: catalog.lock
-- Until the transaction ends. Only tableq uses this number.
SELECT pg_catalog.pg_advisory_xact_lock(7881093214601582961)

-- name: catalog.queue
SELECT name, identity, kind, layout, options, created_at,
       CASE WHEN pg_catalog.to_regclass('{table}') IS NULL THEN 0 ELSE 1 END AS present
FROM {catalog}
WHERE name = CAST(:name AS text)

-- name: catalog.migrator
-- For this catalogue, until the session ends.
SELECT CASE WHEN pg_catalog.pg_try_advisory_lock(1952606578,
                   CAST(CAST(CAST('{catalog}' AS regclass) AS oid) AS integer))
            THEN 1 ELSE 0 END AS held

-- name: table.exists
-- Also for an index or a view: no relation of that name may exist.
SELECT CASE WHEN pg_catalog.to_regclass('{table}') IS NULL THEN 0 ELSE 1 END AS present

-- name: queue.lock
-- Until the transaction ends. A reader that waits for the row at the head gets no row when the holder commits,
-- although more messages wait. Therefore readers and writers of a strict queue wait here, and read afterwards.
-- The locks are taken in the order of the array.
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.unnest(CAST(:identity AS bigint[]))) {lock_place}

-- name: queue.lock_briefly
-- The same, waiting for each lock only so long. The wait for others stays as it was.
WITH patience AS MATERIALIZED (
  SELECT pg_catalog.current_setting('lock_timeout') AS usual,
         pg_catalog.set_config('lock_timeout', '100ms', true) AS brief
),
locked AS MATERIALIZED (
  SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.unnest(CAST(:identity AS bigint[])))
  FROM patience
  WHERE brief IS NOT NULL
    {place_of_ids}
)
SELECT pg_catalog.set_config('lock_timeout', p.usual, true)
FROM patience AS p
CROSS JOIN (SELECT pg_catalog.count(*) AS all_of_them FROM locked) AS l
WHERE l.all_of_them > 0

-- name: queue.try_lock
-- The same without waiting: which of the locks were free.
SELECT g.item - 1 AS item, CASE WHEN pg_catalog.pg_try_advisory_xact_lock(g.identity) THEN 1 ELSE 0 END AS held
FROM (SELECT pg_catalog.unnest(CAST(:identity AS bigint[])) AS identity,
             pg_catalog.generate_subscripts(CAST(:identity AS bigint[]), 1) AS item {lock_place}) AS g

-- name: queue.alter
-- All others wait behind a lock that is waited for; so this transaction waits briefly, and is tried again. CREATE
-- INDEX goes together with readers.
SELECT CASE WHEN pg_catalog.set_config('lock_timeout', '100ms', true) IS NOT NULL
            THEN (SELECT pg_catalog.string_agg(DISTINCT COALESCE(CAST(pid AS text), 'of prepared transactions'), ', ')
                  FROM pg_catalog.pg_locks
                  WHERE locktype = 'relation' AND granted
                    AND relation = CAST(pg_catalog.to_regclass('{table}') AS oid)
                    AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
                    AND pid IS DISTINCT FROM pg_catalog.pg_backend_pid()
                    AND (CAST(:only_writers AS bigint) = 0 OR mode NOT IN ('AccessShareLock', 'RowShareLock', 'ShareLock')))
            END AS sessions

-- name: queue.hidden
-- A table without a policy for this role looks empty: the severity is 2.
SELECT CASE WHEN EXISTS (
                   SELECT 1
                   FROM pg_catalog.pg_policy AS p
                   WHERE p.polrelid = CAST(pg_catalog.to_regclass('{table}') AS oid)
                     AND p.polpermissive AND p.polcmd IN ('r', '*')
                     AND EXISTS (SELECT 1 FROM pg_catalog.unnest(p.polroles) AS r (member)
                                 WHERE r.member OPERATOR(pg_catalog.=) 0
                                    OR pg_catalog.pg_has_role(r.member, 'USAGE')))
            THEN 1 ELSE 2 END AS severity,
       'row level security is on' AS what,
       'this role reads only the messages that a policy lets it see' AS fix
WHERE pg_catalog.row_security_active(CAST(pg_catalog.to_regclass('{table}') AS oid))

-- name: notify.send
-- Only if another session listens: it then shares the lock of listen.hold. Otherwise this transaction shares the lock
-- of silent senders until its end; a new listener polls until these have ended: see listen.quiet. The second look
-- finds a listener that came between. Senders share locks until their end, so that none waits for another or sees it,
-- except in the moment of a look.
SELECT pg_catalog.pg_notify(CAST(:channel AS text), CAST(:payload AS text))
FROM (SELECT CAST(CAST(:identity AS bigint) OPERATOR(pg_catalog.&) 2147483647 AS integer) AS id) AS queue
WHERE CASE WHEN {listens} THEN true
           WHEN NOT pg_catalog.pg_try_advisory_xact_lock_shared(1952606579, id) THEN true
           ELSE {listens}
      END

-- name: listen.begin
LISTEN {table:tableq}

-- name: listen.hold
-- Until listen.drop, or the session's end. After LISTEN: a sender that finds the lock taken notifies this
-- listener.
SELECT CASE WHEN pg_catalog.pg_try_advisory_lock_shared(1952606577,
                   CAST(CAST(:identity AS bigint) OPERATOR(pg_catalog.&) 2147483647 AS integer))
            THEN 1 ELSE 0 END AS held

-- name: listen.quiet
-- Whether all transactions have ended whose senders found no listener.
SELECT CASE WHEN pg_catalog.pg_try_advisory_lock(1952606579, id)
            THEN CASE WHEN pg_catalog.pg_advisory_unlock(1952606579, id) THEN 1 END
            ELSE 0 END AS held
FROM (SELECT CAST(CAST(:identity AS bigint) OPERATOR(pg_catalog.&) 2147483647 AS integer) AS id) AS queue

-- name: listen.drop
SELECT pg_catalog.pg_advisory_unlock_shared(1952606577,
         CAST(CAST(:identity AS bigint) OPERATOR(pg_catalog.&) 2147483647 AS integer))

-- name: listen.end
UNLISTEN {table:tableq}

-- name: heap.enqueue fifo.enqueue lifo.enqueue
-- Ids are drawn row by row as the arrays are read, so the n-th lowest belongs to the n-th item; the session
-- numbers them if `item` is NULL. They come from the column's default, which needs no right on the
-- sequence. txid_current() serves programs of version 0.1 that read the same table: it gives the transaction a
-- number before it draws an id.
INSERT INTO {table} (created_at, payload)
SELECT COALESCE(created_at, {clock_of_all}),
       payload
FROM (SELECT pg_catalog.unnest(CAST(:payload AS bytea[])) AS payload,
             pg_catalog.unnest(CAST(:created_at AS bigint[])) AS created_at) AS items
WHERE pg_catalog.txid_current() IS NOT NULL
  AND {own_queue}
RETURNING CAST(NULL AS bigint) AS item, id

-- name: heap.enqueue.one fifo.enqueue.one lifo.enqueue.one
INSERT INTO {table} (created_at, payload)
SELECT COALESCE(CAST(:created_at AS bigint), {clock}),
       CAST(:payload AS bytea)
WHERE pg_catalog.txid_current() IS NOT NULL
  AND {own_queue}
RETURNING id

-- name: queue.floor
-- The first message from a snapshot, and then the writers: the look at pg_locks is younger than the snapshot.
{with_writers}
SELECT CAST(0 AS bigint) AS level,
       CAST(NULL AS bigint) AS ready,
       (SELECT id FROM {table} AS msg WHERE {from_oldest} ORDER BY id LIMIT 1) AS first,
       CAST(NULL AS bigint) AS due,
       CAST(NULL AS bigint) AS clock,
       {last_drawn} AS last,
       {writers}

-- fragment: delete_picked
LIMIT CAST(:max AS bigint)
  FOR UPDATE SKIP LOCKED
)
DELETE FROM {table}
WHERE id = ANY (ARRAY(SELECT id FROM picked))

-- name: heap.dequeue fifo.dequeue fifo.dequeue_strict
WITH picked AS MATERIALIZED (
  SELECT id
  FROM {table} AS msg
  WHERE {from_oldest}
    AND {own_queue}
  ORDER BY id
  {delete_picked}
RETURNING id, created_at, CAST(NULL AS bigint) AS due_at, payload

-- name: heap.dequeue.one fifo.dequeue.one fifo.dequeue_strict.one
DELETE FROM {table}
WHERE id = (
  SELECT id FROM {table} AS msg WHERE {from_oldest} ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
)
  AND {own_queue}
RETURNING id, created_at, CAST(NULL AS bigint) AS due_at, payload

-- name: lifo.dequeue lifo.dequeue_strict
WITH picked AS MATERIALIZED (
  SELECT id
  FROM {table} AS msg
  WHERE {own_queue}
  ORDER BY id DESC
  {delete_picked}
RETURNING id, created_at, CAST(NULL AS bigint) AS due_at, payload

-- name: lifo.dequeue.one lifo.dequeue_strict.one
DELETE FROM {table}
WHERE id = (SELECT id FROM {table} AS msg ORDER BY id DESC LIMIT 1 FOR UPDATE SKIP LOCKED)
  AND {own_queue}
RETURNING id, created_at, CAST(NULL AS bigint) AS due_at, payload

-- name: heap.purge fifo.purge lifo.purge pending.purge
WITH picked AS MATERIALIZED (
  SELECT id
  FROM {table} AS msg
  WHERE {own_queue}
  ORDER BY id
  {delete_picked}
RETURNING id

-- name: pending.enqueue
-- The clock is read under the lock of a writer: see pending.floor.
INSERT INTO {table} (created_at, due_at, payload)
SELECT COALESCE(created_at, clock),
       COALESCE(due_at, clock + COALESCE(delay, 0)),
       payload
FROM (SELECT pg_catalog.unnest(CAST(:payload AS bytea[])) AS payload,
             pg_catalog.unnest(CAST(:created_at AS bigint[])) AS created_at,
             pg_catalog.unnest(CAST(:due_at AS bigint[])) AS due_at,
             pg_catalog.unnest(CAST(:delay AS bigint[])) AS delay,
             {clock_now} AS clock) AS items
WHERE {own_queue}
RETURNING CAST(NULL AS bigint) AS item, id

-- name: pending.enqueue.one
INSERT INTO {table} (created_at, due_at, payload)
SELECT COALESCE(CAST(:created_at AS bigint), clock),
       COALESCE(CAST(:due_at AS bigint), clock + COALESCE(CAST(:delay AS bigint), 0)),
       CAST(:payload AS bytea)
FROM (SELECT {clock_now}) AS t (clock)
WHERE {own_queue}
RETURNING id

-- name: pending.dequeue
-- Rows are deleted by their place, which nothing changes while they are locked: by their id the planner may look
-- for them in all of the index of due times, because after an ANALYZE of the empty table all indexes cost the same.
WITH picked AS MATERIALIZED (
  SELECT ctid
  FROM {table} AS msg
  WHERE due_at <= {clock}
    AND {own_queue}
  ORDER BY due_at, id
  LIMIT CAST(:max AS bigint)
  FOR UPDATE SKIP LOCKED
)
DELETE FROM {table}
WHERE ctid = ANY (ARRAY(SELECT ctid FROM picked))
RETURNING id, created_at, due_at, payload

-- name: pending.dequeue.one
DELETE FROM {table}
WHERE ctid = (
  SELECT ctid
  FROM {table} AS msg
  WHERE due_at <= {clock}
  ORDER BY due_at, id
  LIMIT 1
  FOR UPDATE SKIP LOCKED
)
  AND {own_queue}
RETURNING id, created_at, due_at, payload

-- name: pending.floor
-- From one snapshot: the first due time from :passed on, and the time; and then the writers. The time is ten
-- milliseconds ago: a row that arrives later and falls due before that time counts as late (the index `late`).
{with_writers}
SELECT CAST(0 AS bigint) AS level,
       CAST(NULL AS bigint) AS ready,
       CAST(NULL AS bigint) AS first,
       (SELECT due_at
        FROM {table} AS msg
        WHERE due_at >= {passed} AND due_at <= {clock}
        ORDER BY due_at, id
        LIMIT 1) AS due,
       {clock} - 10 AS clock,
       CAST(NULL AS bigint) AS last,
       {writers}

-- name: pending.dequeue_from
-- pending.dequeue from a due time on. Before it only late messages wait.
WITH picked AS MATERIALIZED (
  SELECT found.ctid
  FROM (
    SELECT ctid
    FROM (SELECT ctid
          FROM {table} AS msg
          WHERE due_at < arrived_at - 10 AND due_at < {passed} AND due_at <= {clock}
          ORDER BY due_at, id
          FOR UPDATE SKIP LOCKED) AS late
    UNION ALL
    SELECT ctid
    FROM (SELECT ctid
          FROM {table} AS msg
          WHERE due_at >= {passed} AND due_at <= {clock}
          ORDER BY due_at, id
          FOR UPDATE SKIP LOCKED) AS others
  ) AS found
  WHERE {own_queue}
  LIMIT CAST(:max AS bigint)
)
DELETE FROM {table}
WHERE ctid = ANY (ARRAY(SELECT ctid FROM picked))
RETURNING id, created_at, due_at, payload

-- name: pending.next_due_from
SELECT GREATEST(LEAST((SELECT due_at
                       FROM {table} AS msg
                       WHERE due_at < arrived_at - 10
                       ORDER BY due_at, id
                       LIMIT 1),
                      (SELECT due_at
                       FROM {table} AS msg
                       WHERE due_at >= {passed}
                       ORDER BY due_at, id
                       LIMIT 1)), t.clock) - t.clock AS delay
FROM (SELECT {clock}) AS t (clock)
WHERE EXISTS (SELECT 1 FROM {table} AS msg WHERE due_at < arrived_at - 10)
  OR EXISTS (SELECT 1 FROM {table} AS msg WHERE due_at >= {passed})

-- name: claim.enqueue
-- If two items have one key, the first is inserted; no row is returned for items whose key is held.
-- Inserted rows are matched to items by key: the first item with that key. Without a key by rank: the n-th
-- lowest id without a key belongs to the n-th item without a key. A message with a group is held until
-- claim.advance makes it ready. txid_current(): see heap.enqueue.
WITH added AS (
  INSERT INTO {table} (state, priority, due_at, fence, created_at, key, headers, payload, expires_at,
                       max_attempts, retry, group_key{ready_at})
  SELECT {new_state},
         COALESCE(priority, 0),
         {new_due_at},
         CASE WHEN {new_state} = 0 THEN 0 ELSE 4294967296 END,
         COALESCE(created_at, clock),
         key,
         headers,
         payload,
         clock + ttl,
         max_attempts,
         retry,
         group_key{clock_of_new}
  FROM (SELECT payload, priority, COALESCE(due_at, clock + delay) AS due_at, key, headers, created_at, ttl,
               max_attempts, retry, group_key, clock
        FROM (SELECT pg_catalog.unnest(CAST(:payload AS bytea[])) AS payload,
                     pg_catalog.unnest(CAST(:priority AS bigint[])) AS priority,
                     pg_catalog.unnest(CAST(:delay AS bigint[])) AS delay,
                     pg_catalog.unnest(CAST(:due_at AS bigint[])) AS due_at,
                     pg_catalog.unnest(CAST(:key AS text[])) AS key,
                     pg_catalog.unnest(CAST(:headers AS text[])) AS headers,
                     pg_catalog.unnest(CAST(:created_at AS bigint[])) AS created_at,
                     pg_catalog.unnest(CAST(:ttl AS bigint[])) AS ttl,
                     pg_catalog.unnest(CAST(:max_attempts AS bigint[])) AS max_attempts,
                     pg_catalog.unnest(CAST(:retry AS text[])) AS retry,
                     pg_catalog.unnest(CAST(:group AS text[])) AS group_key,
                     {clock_now_of_all} AS clock) AS items) AS n
  WHERE pg_catalog.txid_current() IS NOT NULL
    AND {own_queue}
  ON CONFLICT (key) WHERE key IS NOT NULL DO NOTHING
  RETURNING id,
            CASE WHEN key IS NOT NULL THEN pg_catalog.array_position(CAST(:key AS text[]), key) END AS place
)
SELECT COALESCE(place, (SELECT pg_catalog.array_positions(CAST(:key AS text[]), CAST(NULL AS text)))[
                         pg_catalog.row_number() OVER (PARTITION BY place IS NULL ORDER BY id)]) - 1 AS item,
       id
FROM added

-- name: claim.enqueue.payloads
-- Messages that have nothing but a payload: nothing to pair, as in heap.enqueue.
INSERT INTO {table} (created_at, payload{ready_at})
SELECT clock, payload{clock_of_new}
FROM (SELECT pg_catalog.unnest(CAST(:payload AS bytea[])) AS payload,
             {clock_now_of_all} AS clock) AS n
WHERE pg_catalog.txid_current() IS NOT NULL
  AND {own_queue}
RETURNING CAST(NULL AS bigint) AS item, id

-- name: claim.enqueue.one.payloads
INSERT INTO {table} (created_at, payload{ready_at})
SELECT clock, CAST(:payload AS bytea){clock_of_new}
FROM (SELECT {clock_now}) AS n (clock)
WHERE pg_catalog.txid_current() IS NOT NULL
  AND {own_queue}
RETURNING id

-- name: claim.enqueue.one
INSERT INTO {table} (state, priority, due_at, fence, created_at, key, headers, payload, expires_at,
                     max_attempts, retry, group_key{ready_at})
SELECT {new_state},
       COALESCE(CAST(:priority AS bigint), 0),
       {new_due_at},
       CASE WHEN {new_state} = 0 THEN 0 ELSE 4294967296 END,
       COALESCE(CAST(:created_at AS bigint), clock),
       CAST(:key AS text),
       CAST(:headers AS text),
       CAST(:payload AS bytea),
       clock + CAST(:ttl AS bigint),
       CAST(:max_attempts AS bigint),
       CAST(:retry AS text),
       group_key{clock_of_new}
FROM (SELECT clock, COALESCE(CAST(:due_at AS bigint), clock + CAST(:delay AS bigint)) AS due_at,
             CAST(:group AS text) AS group_key
      FROM (SELECT {clock_now}) AS t (clock)) AS n
WHERE pg_catalog.txid_current() IS NOT NULL
  AND {own_queue}
ON CONFLICT (key) WHERE key IS NOT NULL DO NOTHING
RETURNING id

-- name: claim.find_key
SELECT item, id
FROM (
  SELECT item, pg_catalog.max(id) OVER (PARTITION BY key) AS id
  FROM (SELECT CAST(NULL AS bigint) AS item, key, id
        FROM {table} AS msg
        WHERE key = ANY (CAST(:key AS text[])) AND key IS NOT NULL
        UNION ALL
        SELECT g.item - 1, g.key, NULL
        FROM pg_catalog.unnest(CAST(:key AS text[])) WITH ORDINALITY AS g (key, item)) AS pairs
) AS known
WHERE item IS NOT NULL AND id IS NOT NULL
  AND {own_queue}

-- name: claim.replace
-- Gives waiting messages the payload of later ones with their keys; with :postpone also their due times. The
-- statement first locks the rows, in the order of their ids, and checks the locked versions. Without a due time a
-- message with a group is held until claim.advance makes it ready. A negative fence of a delayed message stays: see
-- claim.set_priority. Citus crashes on a column that is set to an element of an array as it is; `n` has these.
WITH held AS MATERIALIZED (
  SELECT id, key, state
  FROM {table} AS msg
  WHERE id = ANY ({ids_of_keys})
    AND {still_of_keys}
    AND {own_queue}
  ORDER BY id
  FOR NO KEY UPDATE
),
given AS MATERIALIZED (
  SELECT h.id, pg_catalog.array_position(CAST(:key AS text[]), h.key) AS place,
         {clock_at_change} AS clock
  FROM held AS h
  WHERE h.state IN (0, 2) OR (h.state = 5 AND CAST(:postpone AS bigint) = 0)
)
UPDATE {table} AS q
SET payload = n.payload,
    priority = COALESCE((CAST(:priority AS bigint[]))[n.place], 0),
    headers = n.headers,
    max_attempts = (CAST(:max_attempts AS bigint[]))[n.place],
    retry = n.retry,
    attempts = 0,
    fence = CASE WHEN q.fence < 0 AND q.state = 2 AND (CAST(:postpone AS bigint) = 0 OR {must_wait}) THEN q.fence
                 ELSE GREATEST(q.fence, 4294967296) END,
    expires_at = n.clock + (CAST(:ttl AS bigint[]))[n.place],
    state = CASE WHEN CAST(:postpone AS bigint) = 0 OR q.state IN (3, 4) THEN q.state
                 ELSE {postponed_state} END,
    due_at = CASE WHEN CAST(:postpone AS bigint) = 0 OR q.state IN (3, 4) THEN q.due_at
                  ELSE {postponed_due_at} END{keep_or_set_ready_at}
FROM (SELECT id, place, clock,
             (CAST(:payload AS bytea[]))[place] AS payload,
             (CAST(:headers AS text[]))[place] AS headers,
             (CAST(:retry AS text[]))[place] AS retry,
             COALESCE((CAST(:due_at AS bigint[]))[place], clock + (CAST(:delay AS bigint[]))[place]) AS due_at
      FROM given) AS n
WHERE q.id = n.id
RETURNING n.place - 1 AS item, q.id

-- name: claim.forget
WITH past AS MATERIALIZED (
  {past_of_keys}
  FOR UPDATE
),
others AS MATERIALIZED (
  {other_past}
  FOR UPDATE SKIP LOCKED
)
DELETE FROM {table}
WHERE id = ANY (ARRAY(SELECT id FROM past UNION ALL SELECT id FROM others))
  AND {own_queue}
RETURNING 0 AS item, id

-- name: claim.free
-- The same in queues that keep done messages: the key is free, the message stays.
WITH past AS MATERIALIZED (
  {past_of_keys}
  FOR NO KEY UPDATE
),
others AS MATERIALIZED (
  {other_past}
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE {table} AS msg
SET past_key = key, key = NULL, due_at = 0
WHERE id = ANY (ARRAY(SELECT id FROM past UNION ALL SELECT id FROM others))
  AND {own_queue}
RETURNING 0 AS item, id

-- name: claim.take
-- The take searches the parts in :highs, :lows and :floors one after the other: priorities from a high one down to a
-- low one, with ids from a floor on. Below the floor of a priority only returned messages wait; they have a fence: see
-- claim.floor. The nested loop reads one row after the other, and the LIMIT ends it: no more rows are locked than are
-- taken. With :guard nothing is taken while a delayed or expired message waits to be promoted, because it might come
-- first. No message is due before :passed, unless :passed is in the future: then the server's clock was set back, and
-- later messages fall due before it.
WITH picked AS MATERIALIZED (
  SELECT found.id
  {ready_locked_in_parts}
  WHERE {own_queue}
    AND ({none_due})
  LIMIT CAST(:max AS bigint)
)
{lease_picked}

-- name: claim.take.one
UPDATE {table} AS msg
SET {new_lease},
    {freed_key},
    due_at = {clock_at_change} + CAST(:lease AS bigint)
WHERE id = (
  SELECT found.id
  {ready_locked_in_parts}
  LIMIT 1
)
  AND {own_queue}
  AND ({none_due})
RETURNING {delivery}

-- fragment: in_line
-- In any priority, from the lowest floor on.
{from_oldest}

-- fragment: in_line.turns
-- See {parts} about a floor in the future.
ready_at >= CASE WHEN CAST(:floor AS bigint) <= {clock_of_server} THEN CAST(:floor AS bigint) ELSE -9223372036854775808 END

-- fragment: from_level
id >= CAST(:floor AS bigint)

-- fragment: from_level.turns
{in_line}

-- fragment: first_of_level
-- Of the level from its floor on, the first that nobody has locked.
FROM {table} AS msg
  WHERE state = 0
    AND priority <= CAST(:level AS bigint) AND priority >= CAST(:level AS bigint)
    AND {from_level}
  ORDER BY {line}
  LIMIT 1
  FOR NO KEY UPDATE SKIP LOCKED

-- fragment: none_returned
-- Nor one of the level that came back.
AND (SELECT id
       FROM {table} AS msg
       WHERE state < 1 AND fence > 0
         AND priority <= CAST(:level AS bigint) AND priority >= CAST(:level AS bigint)
         AND {from_oldest} AND id < CAST(:floor AS bigint)
       ORDER BY priority DESC, id
       LIMIT 1) IS NULL

-- fragment: none_returned.turns

-- fragment: first_in_line
-- No ready message has a higher priority. As in {none_due}, the first row by an index.
{own_queue}
  AND (SELECT id
       FROM {table} AS msg
       WHERE state = 0 AND priority > CAST(:level AS bigint) AND {in_line}
       ORDER BY {line}
       LIMIT 1) IS NULL
  {none_returned}

-- fragment: lease_of_first
UPDATE {table} AS msg
SET {new_lease},
    due_at = {clock_at_change} + CAST(:lease AS bigint)
WHERE id = (
  SELECT id
  {first_of_level}
)
  AND {first_in_line}

-- name: claim.take_first
-- claim.take for one message without :guard and :unkey, if it is of the one level that has a floor, and nothing comes
-- before it. Else it takes nothing. Lists, and locks in several searches, cost time.
{lease_of_first}
RETURNING {delivery}

-- name: claim.take_first_limited
-- The same for claim.take_limited with a concurrency alone, as far as the first waiting messages tell.
{lease_of_first}
  AND EXISTS (SELECT 1
              FROM {limits} AS l
              WHERE l.queue = CAST(:queue AS text)
                AND l.paused = 0
                AND l.rate IS NULL
                AND l.concurrency <= 1000000
                AND (SELECT CASE WHEN pg_catalog.count(*) < l.concurrency + 100
                                 THEN pg_catalog.count(*) FILTER (WHERE state = 1) END
                     FROM (SELECT state {first_waiting} LIMIT l.concurrency + 100) AS waiting) < l.concurrency)
RETURNING {delivery}, CAST(NULL AS bigint) AS retry_in

-- name: claim.take_first_metered
-- The same with a rate alone, in one statement: what counts is the version of the limits that it has locked, however old its
-- snapshot is. Numbers that tableq would not write are left to claim.take_limited.
WITH meter AS MATERIALIZED (
  SELECT clock,
         CASE WHEN clock - refilled_at > (most - tokens) / rate THEN most
              ELSE tokens + rate * (clock - refilled_at) END - 1000000000 AS tokens
  FROM (
    SELECT tokens, refilled_at, rate,
           COALESCE(burst, (rate + 999999) / 1000000) * 1000000000 AS most,
           {clock_now} AS clock
    FROM {limits}
    WHERE queue = CAST(:queue AS text)
      AND paused = 0
      AND concurrency IS NULL
      AND rate <= 1000000000000
      AND (burst IS NULL OR burst <= 1000000)
      AND tokens >= 0
      AND refilled_at >= 0
    FOR NO KEY UPDATE
  ) AS l
  WHERE refilled_at <= clock
),
picked AS MATERIALIZED (
  SELECT first.id, first.clock, first.tokens
  FROM meter AS m
  CROSS JOIN LATERAL (
    -- The limits are locked before the message.
    SELECT m.clock, m.tokens, id, expires_at
    {first_of_level}
  ) AS first
  WHERE m.tokens >= 0
    AND {first_in_line}
    AND (first.expires_at IS NULL OR first.expires_at > first.clock)
),
spent AS (
  UPDATE {limits} AS l
  SET tokens = p.tokens, refilled_at = p.clock
  FROM picked AS p
  WHERE l.queue = CAST(:queue AS text)
  RETURNING p.id
)
UPDATE {table} AS msg
SET {new_lease},
    due_at = {clock_at_change} + CAST(:lease AS bigint)
WHERE id = (SELECT id FROM spent)
RETURNING {delivery}, CAST(NULL AS bigint) AS retry_in

-- fragment: next_due
SELECT GREATEST(due_at, t.clock) - t.clock AS delay
FROM {table} AS msg
CROSS JOIN (SELECT {clock}) AS t (clock)
WHERE state IN (1, 2)
  AND due_at >= CASE WHEN CAST(:passed AS bigint) <= t.clock
                     THEN CAST(:passed AS bigint) ELSE -9223372036854775808 END
  AND {from_oldest}
ORDER BY due_at, id
LIMIT 1

-- name: claim.look
-- claim.take with :guard that also tells how long it takes until the next message falls due, 0 if one is due. If it
-- takes nothing, the only row has no id. So a process that waits needs no other statement. There is no row if the
-- queue has gone, has other options, or has limits for reads, which only other statements respect.
WITH due AS MATERIALIZED (
  {next_due}
),
opened AS MATERIALIZED (
  SELECT (SELECT delay FROM due) AS delay
  FROM {catalog} AS c
  LEFT JOIN {limits} AS l ON l.queue = c.name
  WHERE c.identity = CAST(:own_identity AS bigint)
    AND COALESCE(l.paused, 0) = 0
    AND l.rate IS NULL
    AND l.concurrency IS NULL
    AND c.options = COALESCE(CAST(:options AS text), c.options)
),
picked AS MATERIALIZED (
  SELECT found.id
  {ready_locked_in_parts}
  WHERE EXISTS (SELECT 1 FROM opened WHERE delay IS NULL OR delay > 0)
  LIMIT CAST(:max AS bigint)
),
taken AS (
  {lease_picked}
)
SELECT {taken_columns},
       (SELECT delay FROM due) AS due_in
FROM taken
UNION ALL
SELECT {none_taken}, delay
FROM opened
WHERE NOT EXISTS (SELECT 1 FROM taken)

-- name: claim.take_limited
-- claim.take from a queue with limits, whose row the transaction has locked before: then this statement sees all leases
-- that count. It counts them as claim.leased does, and tokens as core/queue/limit_gates.cpp; it spends those of the
-- messages that have not expired. If a limit may have left messages, one row has no id. LEAST and GREATEST pass over NULL.
WITH known AS MATERIALIZED (
  SELECT l.paused, l.rate, l.concurrency, l.clock, l.most AS full_at, l.had, l.clock - l.refilled_at AS passed
  FROM (SELECT l.paused, r.rate, GREATEST(l.refilled_at, 0) AS refilled_at, t.clock,
               CASE WHEN l.concurrency IS NULL THEN NULL ELSE GREATEST(LEAST(l.concurrency, 1000000), 1) END AS concurrency,
               b.burst * 1000000000 AS most,
               GREATEST(LEAST(l.tokens, b.burst * 1000000000), 0) AS had
        FROM {limits} AS l
        CROSS JOIN (SELECT {clock_now}) AS t (clock)
        CROSS JOIN LATERAL (SELECT CASE WHEN l.rate IS NULL THEN NULL
                                        ELSE GREATEST(LEAST(l.rate, 1000000000000), 1) END) AS r (rate)
        CROSS JOIN LATERAL (SELECT CASE WHEN l.burst IS NULL THEN (r.rate + 999999) / 1000000
                                        ELSE GREATEST(LEAST(l.burst, 1000000), 1) END) AS b (burst)
        WHERE l.queue = CAST(:queue AS text)) AS l
),
meter AS MATERIALIZED (
  SELECT paused, rate, concurrency, clock, passed,
         CASE WHEN rate IS NULL THEN NULL
              WHEN passed > (full_at - had) / rate THEN full_at
              WHEN passed > 0 THEN had + rate * passed
              ELSE had END AS tokens
  FROM known
),
room AS MATERIALIZED (
  SELECT CASE WHEN m.paused <> 0 OR m.tokens < 1000000000 THEN 0
              ELSE LEAST(CAST(:max AS bigint), m.tokens / 1000000000,
                         CASE WHEN m.concurrency IS NOT NULL THEN GREATEST(m.concurrency - ({leased_up_to_concurrency}), 0) END)
              END AS free,
         CASE WHEN m.paused <> 0 THEN 500
              WHEN m.tokens < 1000000000 THEN (1000000000 - m.tokens + m.rate - 1) / m.rate END AS retry_in
  FROM meter AS m
),
picked AS MATERIALIZED (
  SELECT found.id
  {ready_locked_in_parts}
  WHERE {own_queue}
    AND ({none_due})
  LIMIT COALESCE((SELECT free FROM room), CAST(:max AS bigint))
),
taken AS (
  {lease_picked}
),
spent AS (
  UPDATE {limits} AS l
  SET tokens = m.tokens - 1000000000 * (SELECT pg_catalog.count(*) FROM taken WHERE expired = 0), refilled_at = m.clock
  FROM meter AS m
  WHERE l.queue = CAST(:queue AS text) AND m.rate IS NOT NULL
    AND (m.passed < 0 OR EXISTS (SELECT 1 FROM taken))
)
SELECT {taken_columns},
       CAST(NULL AS bigint) AS retry_in
FROM taken
UNION ALL
SELECT {none_taken}, retry_in
FROM room
WHERE free = 0 OR free < CAST(:max AS bigint) AND EXISTS (SELECT 1 FROM taken)

-- fragment: fronts
-- The first ready message of each level from its floor on.
g.level,
       (SELECT id
        FROM {table} AS msg
        WHERE state = 0 AND priority <= g.level AND priority >= g.level AND id >= g.floor
        ORDER BY priority DESC, id
        LIMIT 1) AS ready

-- fragment: fronts.turns
-- The time since which the first ready message of any priority stands in line. A change of a message's priority leaves it
-- its time, so there is one floor for all priorities. It does not rise while ready messages have a priority that no level
-- has. With a weight messages stand before others: then nothing is known.
CAST(0 AS bigint) AS level,
       CASE WHEN EXISTS (SELECT 1
                         FROM {quotas}
                         WHERE queue = (SELECT name FROM {catalog} WHERE identity = CAST(:own_identity AS bigint))
                           AND weight > 1)
            THEN -9223372036854775808
            ELSE (SELECT pg_catalog.min(CASE WHEN part.high = part.low THEN found.ready_at ELSE part.floor END)
                  FROM {parts} AS part
                  CROSS JOIN LATERAL (
                    SELECT ready_at
                    {others_in_part}
                    ORDER BY priority DESC, ready_at, id
                    LIMIT 1
                  ) AS found)
            END AS ready

-- fragment: levels
FROM (SELECT pg_catalog.unnest(CAST('{' || CAST(:highs AS text) || '}' AS bigint[])) AS level,
             pg_catalog.unnest(CAST('{' || CAST(:floors AS text) || '}' AS bigint[])) AS floor) AS g

-- fragment: levels.turns

-- name: claim.floor
-- From one snapshot: the fronts of the queue, the first message in any state, the lowest due time, and the time; and then
-- the writers. A message that becomes ready after its insert, or whose priority changes, has a fence of at least 2^32 from
-- then on. Statements that set a due_at or a ready_at must read the clock under the lock of a writer, so they use
-- clock_timestamp().
{with_writers}
SELECT {fronts},
       (SELECT id FROM {table} AS msg WHERE {from_oldest} ORDER BY id LIMIT 1) AS first,
       {first_due_at} AS due,
       {clock} AS clock,
       {last_drawn} AS last,
       {writers}
{levels}

-- name: floors.read
-- Where the reads of other processes begin: see drivers/postgresql/floor/places.hpp.
SELECT f.floors,
       {clock} - f.saved_at AS age,
       CASE WHEN pg_catalog.current_setting('transaction_read_only') = 'off'
              AND pg_catalog.has_table_privilege('{floors}', 'INSERT')
              AND pg_catalog.has_table_privilege('{floors}', 'UPDATE')
            THEN 1 ELSE 0 END AS writable
FROM {catalog} AS c
LEFT JOIN {floors} AS f ON f.queue = c.name AND f.identity = c.identity
WHERE c.identity = CAST(:own_identity AS bigint)

-- name: floors.write
-- The last writer wins: the places of each process hold on their own.
INSERT INTO {floors} (queue, identity, floors, saved_at)
SELECT name, identity, CAST(:floors AS text), {clock}
FROM {catalog}
WHERE identity = CAST(:own_identity AS bigint)
ON CONFLICT (queue) DO UPDATE
SET identity = excluded.identity, floors = excluded.floors, saved_at = excluded.saved_at

-- name: claim.due
-- Of the messages that claim.promote would promote, those whose groups must be locked first.
SELECT q.id, q.group_key
FROM (SELECT * {first_due}) AS q
CROSS JOIN (SELECT CAST(:max_attempts AS bigint),
                   CAST(:regroup AS bigint),
                   CAST(:starts AS bigint)) AS t (most, regroup, starts)
WHERE q.group_key IS NOT NULL
  AND {moves_group}

-- name: claim.promote
WITH due AS MATERIALIZED (
  SELECT id
  {first_due}
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE {table} AS q
SET state = {promoted_state},
    finished_at = {promoted_finished_at},
    errors = CASE WHEN q.state = 1
      THEN CAST(pg_catalog.jsonb_path_query_array(
        {earlier_errors}
          || CAST('{"at": ' || CAST(t.clock AS text) || ', "error": "lease expired"}' AS jsonb),
        '$[last - 9 to last]') AS text)
      ELSE q.errors END,
    due_at = 0,
    fence = GREATEST(q.fence, 4294967296){set_ready_at}
FROM (SELECT {clock},
             CAST(:max_attempts AS bigint),
             CAST(:regroup AS bigint),
             CAST(:starts AS bigint)) AS t (clock, most, regroup, starts)
WHERE q.id = ANY (ARRAY(SELECT id FROM due))
  AND (CAST(:locked AS text) IS NULL OR q.group_key IS NULL OR NOT {moves_group}
       OR q.id = ANY (CAST('{' || CAST(:locked AS text) || '}' AS bigint[])))
  AND {own_queue}
RETURNING q.id, q.state

-- name: claim.complete
-- Receipts come by rising ids, each id once. The primary key finds the rows in this order, so two batches never
-- deadlock; CASE keeps the index of leases out. Two kinds of session lock the rows first, in any state. One has
-- planner settings of its own, and may find rows in another order. One keeps a snapshot: if a lease is newer, the
-- lock fails with 40001; otherwise the lease would be reported as lost.
WITH held AS MATERIALIZED (
  SELECT id
  FROM {table} AS msg
  WHERE id = ANY (CAST(:id AS bigint[]))
    AND (pg_catalog.current_setting('transaction_isolation') IN ('repeatable read', 'serializable')
         OR 'on' IN (pg_catalog.current_setting('enable_seqscan'), pg_catalog.current_setting('enable_bitmapscan')))
  ORDER BY id
  FOR UPDATE
)
DELETE FROM {table}
WHERE id = ANY (CAST(:id AS bigint[]))
  AND CASE WHEN state = 1 THEN fence END
        = (CAST(:fence AS bigint[]))[pg_catalog.width_bucket(id, CAST(:id AS bigint[]))]
  AND (SELECT pg_catalog.count(*) FROM held) >= 0
RETURNING pg_catalog.width_bucket(id, CAST(:id AS bigint[])) - 1 AS item, id

-- name: claim.complete.one
-- Only outside transactions, which may keep a snapshot.
DELETE FROM {table}
WHERE id = CAST(:id AS bigint)
  AND CASE WHEN state = 1 THEN fence END = CAST(:fence AS bigint)
RETURNING id

-- name: claim.keep
WITH {held_receipts}
UPDATE {table} AS msg
SET {kept}
WHERE {receipt_held}
  AND (CAST(:strip AS bigint) = 0 OR key IS NOT NULL)
RETURNING {receipt_item} AS item, id

-- name: claim.keep_result
-- The same with what the handler returns; what it has said before is over.
WITH {held_receipts}
UPDATE {table} AS msg
SET {kept},
    result = (SELECT (CAST(:result AS bytea[]))[items[pg_catalog.width_bucket(msg.id, ids)]] FROM mine),
    progress = NULL
WHERE {receipt_held}
  AND (CAST(:strip AS bigint) = 0 OR key IS NOT NULL)
RETURNING {receipt_item} AS item, id

-- name: claim.progress
-- What handlers say of their messages. It waits for no lock: see claim.heartbeat.
WITH {held_unlocked},
{mine}
UPDATE {table} AS msg
SET progress = (
  SELECT CAST(pg_catalog.jsonb_build_object(
           'done', (CAST(:done AS bigint[]))[p.place], 'at', {clock}, 'note', (CAST(:note AS text[]))[p.place]) AS text)
  FROM (SELECT items[pg_catalog.width_bucket(msg.id, ids)] AS place FROM mine) AS p)
WHERE {receipt_held}
RETURNING {receipt_item} AS item, id

-- name: claim.notes
SELECT pg_catalog.array_position(CAST(:id AS bigint[]), id) - 1 AS item, id, progress
FROM {table} AS msg
WHERE id = ANY (CAST(:id AS bigint[])) AND progress IS NOT NULL

-- name: claim.outcome
SELECT pg_catalog.array_position(CAST(:id AS bigint[]), id) - 1 AS item, id, result
FROM {table} AS msg
WHERE id = ANY (CAST(:id AS bigint[])) AND result IS NOT NULL

-- name: claim.fail
-- :final is 1 for a message that is given up, and 2 for one that expired before its attempt.
WITH {held_receipts}
UPDATE {table} AS q
SET (state, attempts, due_at, finished_at, errors) = (
  SELECT {failed_state},
         {failed_attempts},
         {failed_due_at},
         {failed_finished_at},
         CAST(pg_catalog.jsonb_path_query_array(
           {earlier_errors}
             || pg_catalog.jsonb_build_object('at', f.clock, 'error', f.error),
           '$[last - 9 to last]') AS text)
  FROM (SELECT q.attempts,
               COALESCE(q.max_attempts, CAST(:max_attempts AS bigint)) AS most,
               (CAST(:final AS bigint[]))[p.place] AS final,
               {retry_delay} AS delay,
               (CAST(:error AS text[]))[p.place] AS error,
               {clock_at_change} AS clock
        FROM (SELECT items[pg_catalog.width_bucket(q.id, ids)] AS place,
                     rule.after
                       -> (LEAST(GREATEST(q.attempts, 1), pg_catalog.jsonb_array_length(rule.after)) - 1) AS rest,
                     rule.jitter
              FROM mine
              CROSS JOIN (SELECT CASE WHEN pg_catalog.jsonb_typeof(given.rule -> CAST('after' AS text)) = 'array'
                                      THEN given.rule -> CAST('after' AS text) END AS after,
                                 given.rule -> CAST('jitter' AS text) AS jitter
                          FROM (SELECT CAST(COALESCE(CASE WHEN q.retry IS NOT NULL THEN
                                                       CASE WHEN {checked} THEN q.retry END END,
                                                     CAST(:policy AS text)) AS jsonb) AS rule) AS given)
                AS rule) AS p) AS f
){set_ready_at}
WHERE {receipt_held}
RETURNING {receipt_item} AS item, id, state

-- name: claim.release
WITH {held_receipts}
UPDATE {table} AS msg
SET state = 0, due_at = 0, attempts = GREATEST(attempts, 1) - 1{set_ready_at}
WHERE {receipt_held}
RETURNING {receipt_item} AS item, id

-- name: claim.extend
WITH {held_receipts}
UPDATE {table} AS msg
SET due_at = {clock_at_change} + CAST(:lease AS bigint)
WHERE {receipt_held}
RETURNING {receipt_item} AS item, id

-- name: claim.list
-- `state IN (3, 4)`: without a value for :state the planner needs this to see that the index has all these rows.
SELECT {message}
FROM {table} AS msg
WHERE state = CAST(:state AS smallint) AND state IN (3, 4)
  AND (finished_at, id) > (CAST(:after_at AS bigint), CAST(:after_id AS bigint))
  AND {from_oldest}
ORDER BY finished_at, id
LIMIT CAST(:max AS bigint)

-- name: claim.list_ready
SELECT {any_message}
FROM (SELECT *
      FROM (SELECT msg.* {page_of_ready}) AS found
      ORDER BY {line}
      LIMIT CAST(:max AS bigint)) AS page

-- name: claim.list_held
-- Messages of the same priority after the last one, and those of lower priorities: each is a range of the index.
-- `ANY`: with an equality the order would be by id only, and the planner might use the primary key.
SELECT {message}
FROM (
  (SELECT {columns}
   FROM {table} AS msg
   WHERE state = 5 AND priority = ANY (ARRAY[CAST(:after_priority AS bigint)])
     AND id > CAST(:after_id AS bigint) AND {from_oldest}
   ORDER BY priority DESC, id
   LIMIT CAST(:max AS bigint))
  UNION ALL
  (SELECT {columns}
   FROM {table} AS msg
   WHERE state = 5 AND priority < CAST(:after_priority AS bigint) AND {from_oldest}
   ORDER BY priority DESC, id
   LIMIT CAST(:max AS bigint))
) AS both_ranges
ORDER BY priority DESC, id
LIMIT CAST(:max AS bigint)

-- name: claim.list_waiting
SELECT {message}
FROM {table} AS msg
WHERE state = CAST(:state AS smallint) AND state IN (1, 2)
  AND (due_at, id) > (CAST(:after_at AS bigint), CAST(:after_id AS bigint))
  AND {from_oldest}
ORDER BY due_at, id
LIMIT CAST(:max AS bigint)

-- name: claim.get
SELECT pg_catalog.array_position(CAST(:id AS bigint[]), id) - 1 AS item,
       {any_message}
FROM {table} AS msg
WHERE id = ANY (CAST(:id AS bigint[]))

-- name: claim.make_ready
-- Of delayed messages, as if they fell due now: see claim.promote. Rows are first locked by rising ids, in any state,
-- as settling statements do.
WITH held AS MATERIALIZED (
  SELECT id, state FROM {table} AS msg WHERE id = ANY (CAST(:id AS bigint[])) ORDER BY id FOR NO KEY UPDATE
)
UPDATE {table} AS q
SET state = {rested_state}, due_at = 0, finished_at = NULL,
    fence = GREATEST(q.fence, 4294967296){set_ready_at}
FROM (SELECT CAST(:regroup AS bigint)) AS t (regroup)
WHERE q.id = ANY (ARRAY(SELECT id FROM held WHERE state = 2))
  AND {own_queue}
RETURNING pg_catalog.array_position(CAST(:id AS bigint[]), q.id) - 1 AS item, q.id, q.state

-- name: claim.filter
-- Reads :scan messages after a place: those of one finished state (:finished) by the time at which they finished,
-- and all others by their ids, up to :until. Returns those that fit, and the last one that was read.
WITH seen AS MATERIALIZED (
  SELECT id, at, CASE WHEN {fits} THEN 1 ELSE 0 END AS fits, pg_catalog.row_number() OVER (ORDER BY at, id) AS place
  FROM (
    (SELECT CAST(0 AS bigint) AS at, msg.*
     FROM {table} AS msg
     WHERE CAST(:finished AS bigint) = 0
       AND id > CAST(:after_id AS bigint) AND id <= COALESCE(CAST(:until AS bigint), 9223372036854775807)
       AND {from_oldest}
     ORDER BY id
     LIMIT CAST(:scan AS bigint))
    UNION ALL
    (SELECT finished_at AS at, msg.*
     FROM {table} AS msg
     WHERE CAST(:finished AS bigint) <> 0
       AND state = CAST(:finished AS smallint) AND state IN (3, 4)
       AND (finished_at, id) > (CAST(:after_at AS bigint), CAST(:after_id AS bigint))
       AND finished_at <= COALESCE(CAST(:until AS bigint), 9223372036854775807)
       AND {from_oldest}
     ORDER BY finished_at, id
     LIMIT CAST(:scan AS bigint))
  ) AS msg
)
SELECT id, at, fits, place,
       COALESCE(CAST(:until AS bigint),
                CASE WHEN CAST(:finished AS bigint) = 0 THEN (SELECT pg_catalog.max(id) FROM {table} AS msg) END,
                {clock}) AS until
FROM seen
WHERE fits = 1 OR place = (SELECT pg_catalog.count(*) FROM seen)
ORDER BY place
LIMIT CAST(:max AS bigint)

-- fragment: delete_in_states
-- Rows are first locked by rising ids, in any state, as settling statements do.
WITH held AS MATERIALIZED (
  SELECT id, state FROM {table} AS msg WHERE id = ANY (CAST(:id AS bigint[])) ORDER BY id FOR UPDATE
)
DELETE FROM {table}
WHERE id = ANY (ARRAY(SELECT id FROM held WHERE {in_states}))
  AND {own_queue}
RETURNING pg_catalog.array_position(CAST(:id AS bigint[]), id) - 1 AS item, id

-- name: claim.cancel
{delete_in_states}

-- name: claim.set_priority
-- A negative fence of a delayed message stays: by it claim.promote puts the message behind its group. Then it is raised.
WITH held AS MATERIALIZED (
  SELECT id, state FROM {table} AS msg WHERE id = ANY (CAST(:id AS bigint[])) ORDER BY id FOR NO KEY UPDATE
)
UPDATE {table} AS msg
SET priority = (CAST(:priority AS bigint[]))[pg_catalog.array_position(CAST(:id AS bigint[]), id)],
    fence = CASE WHEN fence < 0 AND state = 2 THEN fence ELSE GREATEST(fence, 4294967296) END
WHERE id = ANY (ARRAY(SELECT id FROM held WHERE state IN (0, 2, 5)))
  AND {own_queue}
RETURNING pg_catalog.array_position(CAST(:id AS bigint[]), id) - 1 AS item, id

-- name: claim.heartbeat
-- As claim.extend, but it waits for no lock: a row that a transaction has locked, such as that of a handler
-- which has completed its message and not committed, keeps its lease unchanged.
WITH {held_unlocked},
{mine}
UPDATE {table} AS msg
SET due_at = {clock_at_change} + CAST(:lease AS bigint)
WHERE {receipt_held}
RETURNING {receipt_item} AS item, id

-- name: claim.lost
-- Reads the last committed version: a row that an open transaction changes is not lost yet.
SELECT g.item - 1 AS item, g.id
FROM ROWS FROM (pg_catalog.unnest(CAST(:id AS bigint[])), pg_catalog.unnest(CAST(:fence AS bigint[])))
  WITH ORDINALITY AS g (id, fence, item)
WHERE NOT EXISTS (
  SELECT 1
  FROM (SELECT state, fence FROM {table} AS msg WHERE id = g.id OFFSET 0) AS q
  WHERE q.state = 1 AND q.fence = g.fence
)

-- name: claim.state_of
SELECT pg_catalog.array_position(CAST(:id AS bigint[]), id) - 1 AS item, id, state
FROM {table} AS msg
WHERE id = ANY (CAST(:id AS bigint[]))

-- name: claim.unseen
-- In a transaction with a snapshot, a later message looks like a deleted one.
SELECT g.item - 1 AS item, g.id
FROM pg_catalog.unnest(CAST(:id AS bigint[])) WITH ORDINALITY AS g (id, item)
WHERE pg_catalog.current_setting('transaction_isolation') IN ('repeatable read', 'serializable')
  AND NOT EXISTS (SELECT 1 FROM (SELECT id FROM {table} AS msg WHERE id = g.id OFFSET 0) AS q)

-- name: claim.redrive
WITH held AS MATERIALIZED (
  SELECT id, state FROM {table} AS msg WHERE id = ANY (CAST(:id AS bigint[])) ORDER BY id FOR NO KEY UPDATE
),
mine AS MATERIALIZED (
  SELECT pg_catalog.array_agg(id ORDER BY id) AS ids, pg_catalog.array_agg(item ORDER BY id) AS items
  FROM (
    SELECT id, pg_catalog.min(item) AS item
    FROM (SELECT id, state, CAST(NULL AS bigint) AS item FROM held
          UNION ALL
          SELECT g.id, NULL, g.item
          FROM pg_catalog.unnest(CAST(:id AS bigint[])) WITH ORDINALITY AS g (id, item)) AS pairs
    GROUP BY id
    HAVING pg_catalog.min(state) = 4
  ) AS dead
)
UPDATE {table} AS msg
SET state = {redriven_state}, attempts = 0, due_at = 0, finished_at = NULL, expires_at = NULL,
    fence = GREATEST(fence, 4294967296){set_ready_at}
WHERE {receipt_held}
  AND {own_queue}
RETURNING {receipt_item} AS item, id

-- name: claim.remove
{delete_in_states}, state, priority, attempts, created_at, due_at, claimed_at, finished_at,
          COALESCE(key, past_key) AS key, group_key, expires_at, headers, errors, payload,
          CASE WHEN key IS NULL THEN 0 ELSE 1 END AS holds_key, max_attempts, retry

-- name: claim.adopt
-- Messages from another queue. A past_key is only shown and holds no key. No row is returned for items whose key
-- is held. If none is, the n-th lowest id belongs to the n-th item. A conflict target would need the right to
-- read keys, which a user that moves dead messages does not have.
WITH added AS (
  INSERT INTO {table} (priority, created_at, key, past_key, headers, errors, payload)
  SELECT priority, created_at, key, past_key, headers, errors, payload
  FROM ROWS FROM (pg_catalog.unnest(CAST(:payload AS bytea[])),
                  pg_catalog.unnest(CAST(:priority AS bigint[])), pg_catalog.unnest(CAST(:created_at AS bigint[])),
                  pg_catalog.unnest(CAST(:key AS text[])), pg_catalog.unnest(CAST(:past_key AS text[])),
                  pg_catalog.unnest(CAST(:headers AS text[])), pg_catalog.unnest(CAST(:errors AS text[])))
    WITH ORDINALITY AS g (payload, priority, created_at, key, past_key, headers, errors, item)
  WHERE pg_catalog.txid_current() IS NOT NULL
    {place_of_ids}
  ORDER BY item
  ON CONFLICT DO NOTHING
  RETURNING id
)
SELECT pg_catalog.row_number() OVER (ORDER BY id) - 1 AS item, id
FROM added

-- name: claim.restore
-- Messages of another database with all that they had. No row is returned for items whose key is held. If none is,
-- the n-th lowest id belongs to the n-th item. A delayed message of a group gets behind its group when it falls due.
WITH added AS (
  INSERT INTO {table} (state, priority, due_at, fence, attempts, created_at, finished_at, expires_at, max_attempts,
                       retry, key, past_key, headers, errors, group_key, payload{ready_at})
  SELECT state, priority, COALESCE(due_at, 0),
         CASE WHEN state = 0 THEN 0 WHEN state = 2 AND group_key IS NOT NULL THEN -1 ELSE 4294967296 END,
         attempts, created_at, finished_at, expires_at, max_attempts, retry, key, past_key, headers, errors,
         group_key, payload{clock_of_new}
  FROM (SELECT items.*, {clock_now_of_all} AS clock
        FROM ROWS FROM (pg_catalog.unnest(CAST(:payload AS bytea[])), pg_catalog.unnest(CAST(:state AS bigint[])),
                        pg_catalog.unnest(CAST(:priority AS bigint[])), pg_catalog.unnest(CAST(:due_at AS bigint[])),
                        pg_catalog.unnest(CAST(:attempts AS bigint[])), pg_catalog.unnest(CAST(:created_at AS bigint[])),
                        pg_catalog.unnest(CAST(:finished_at AS bigint[])),
                        pg_catalog.unnest(CAST(:expires_at AS bigint[])),
                        pg_catalog.unnest(CAST(:max_attempts AS bigint[])), pg_catalog.unnest(CAST(:retry AS text[])),
                        pg_catalog.unnest(CAST(:key AS text[])), pg_catalog.unnest(CAST(:past_key AS text[])),
                        pg_catalog.unnest(CAST(:headers AS text[])), pg_catalog.unnest(CAST(:errors AS text[])),
                        pg_catalog.unnest(CAST(:group AS text[])))
          WITH ORDINALITY AS items (payload, state, priority, due_at, attempts, created_at, finished_at, expires_at,
                                    max_attempts, retry, key, past_key, headers, errors, group_key, item)) AS n
  WHERE pg_catalog.txid_current() IS NOT NULL
    AND {own_queue}
  ORDER BY item
  ON CONFLICT (key) WHERE key IS NOT NULL DO NOTHING
  RETURNING id
)
SELECT pg_catalog.row_number() OVER (ORDER BY id) - 1 AS item, id
FROM added

-- name: claim.group_of
SELECT g.item - 1 AS item, q.group_key
FROM pg_catalog.unnest(CAST(:id AS bigint[])) WITH ORDINALITY AS g (id, item)
JOIN {table} AS q ON q.id = g.id
WHERE q.group_key IS NOT NULL

-- fragment: running_in_group
-- With :hold messages that wait for their retry count too. Each state is a range of the index of groups, from
-- :oldest on: all entries before it are of messages that have left. No other index serves such a condition.
(SELECT pg_catalog.count(*)
         FROM {table} AS msg
         WHERE group_key = g.name AND group_key IS NOT NULL
           AND state <= 0 AND (state, id) >= (0, CAST(:oldest AS bigint)))
         + (SELECT pg_catalog.count(*)
            FROM {table} AS msg
            WHERE group_key = g.name AND group_key IS NOT NULL
              AND state <= 1 AND (state, id) >= (1, CAST(:oldest AS bigint)))
         + CASE WHEN CAST(:hold AS bigint) = 0 THEN 0
                ELSE (SELECT pg_catalog.count(*)
                      FROM {table} AS msg
                      WHERE group_key = g.name AND group_key IS NOT NULL
                        AND state <= 2 AND (state, id) >= (2, CAST(:oldest AS bigint))) END

-- name: claim.advance
-- Makes the next messages of a group ready, up to :limit at a time. The groups must be locked, and each given once.
-- `state + 0` excludes the index of held messages.
WITH next AS MATERIALIZED (
  SELECT n.id
  FROM pg_catalog.unnest(CAST(:group AS text[])) AS g (name)
  CROSS JOIN LATERAL (
    SELECT id
    FROM {table} AS msg
    WHERE group_key = g.name AND group_key IS NOT NULL AND (state, id) >= (5, CAST(:oldest AS bigint))
    ORDER BY state, id
    LIMIT GREATEST(CAST(:limit AS bigint) - ({running_in_group}), 0)
  ) AS n
)
UPDATE {table} AS q
SET state = 0{set_ready_at}
WHERE id = ANY (ARRAY(SELECT id FROM next)) AND state + 0 = 5
  AND {own_queue}
RETURNING 0 AS item, id

-- name: claim.advance_limited
-- The same for groups with limits of their own: up to :starts messages become ready, and the next one waits until
-- :alarm_at. If more are ready than may run, the last of them are held again, but for those that a take has locked.
-- The limits of a group are in its own row, otherwise in that of all others, which has no name.
WITH room AS MATERIALIZED (
  SELECT g.item, g.name, g.starts, g.alarm_at,
         COALESCE((SELECT l.running
                   FROM {quotas} AS l
                   WHERE l.queue = CAST(:queue AS text) AND l.name IN (g.name, '')
                   ORDER BY l.name = ''
                   LIMIT 1), CAST(:limit AS bigint))
         - ({running_in_group}) AS free
  FROM ROWS FROM (pg_catalog.unnest(CAST(:group AS text[])), pg_catalog.unnest(CAST(:starts AS bigint[])),
                  pg_catalog.unnest(CAST(:alarm_at AS bigint[])))
    WITH ORDINALITY AS g (name, starts, alarm_at, item)
),
next AS MATERIALIZED (
  SELECT r.item, n.id, r.starts, r.alarm_at,
         pg_catalog.row_number() OVER (PARTITION BY r.item ORDER BY n.id) AS place
  FROM room AS r
  CROSS JOIN LATERAL (
    SELECT id
    FROM {table} AS msg
    WHERE group_key = r.name AND group_key IS NOT NULL AND (state, id) >= (5, CAST(:oldest AS bigint))
    ORDER BY state, id
    LIMIT GREATEST(LEAST(r.free, r.starts + CASE WHEN r.alarm_at IS NULL THEN 0 ELSE 1 END), 0)
  ) AS n
),
surplus AS MATERIALIZED (
  SELECT id
  FROM {table} AS msg
  WHERE id = ANY (ARRAY(
      SELECT s.id
      FROM room AS r
      CROSS JOIN LATERAL (
        SELECT id
        FROM {table} AS msg
        WHERE group_key = r.name AND group_key IS NOT NULL AND state <= 0
        ORDER BY state DESC, id DESC
        LIMIT GREATEST(- r.free, 0)
      ) AS s))
    AND state + 0 = 0
  FOR NO KEY UPDATE SKIP LOCKED
),
mine AS MATERIALIZED (
  SELECT pg_catalog.array_agg(id ORDER BY id) AS ids, pg_catalog.array_agg(item ORDER BY id) AS items,
         pg_catalog.array_agg(state ORDER BY id) AS states, pg_catalog.array_agg(alarm_at ORDER BY id) AS times
  FROM (SELECT m.id, m.item, {moved_state} AS state, m.alarm_at
        FROM (SELECT id, item, place, starts, alarm_at FROM next
              UNION ALL
              SELECT id, 1, 0, 0, NULL FROM surplus) AS m) AS moved
)
UPDATE {table} AS msg
SET state = (SELECT states[pg_catalog.width_bucket(msg.id, ids)] FROM mine),
    due_at = (SELECT CASE WHEN states[pg_catalog.width_bucket(msg.id, ids)] = 2
                          THEN GREATEST(times[pg_catalog.width_bucket(msg.id, ids)], {clock_at_change})
                          ELSE 0 END
              FROM mine){set_place_in_line}
WHERE id = ANY (ARRAY(SELECT id FROM next UNION ALL SELECT id FROM surplus)) AND state + 0 IN (0, 5)
  AND {own_queue}
RETURNING (SELECT items[pg_catalog.width_bucket(msg.id, ids)] FROM mine) - 1 AS item, id, state, due_at

-- name: claim.tokens
SELECT g.item - 1 AS item, l.rate, l.burst, s.full_at, a.id AS alarm, a.due_at AS alarm_at, {clock} AS clock
FROM pg_catalog.unnest(CAST(:group AS text[])) WITH ORDINALITY AS g (name, item)
LEFT JOIN LATERAL (
  SELECT rate, burst
  FROM {quotas} AS l
  WHERE l.queue = CAST(:queue AS text) AND l.name IN (g.name, '')
  ORDER BY l.name = ''
  LIMIT 1
) AS l ON TRUE
LEFT JOIN LATERAL (
  SELECT full_at, alarm, alarm_at FROM {starts} WHERE queue = CAST(:queue AS text) AND name = g.name OFFSET 0
) AS s ON TRUE
LEFT JOIN LATERAL (
  SELECT id, state, due_at FROM {table} AS msg WHERE id = s.alarm OFFSET 0
) AS a ON a.state = 2 AND a.due_at = s.alarm_at
WHERE l.rate IS NOT NULL OR a.id IS NOT NULL

-- name: claim.hold
-- Messages that would become ready, or that wait for a start, wait for claim.advance_limited. One that another
-- transaction has locked is about to be promoted, and then to advance its group.
WITH held AS MATERIALIZED (
  SELECT id
  FROM {table} AS msg
  WHERE id = ANY (CAST(:id AS bigint[])) AND state + 0 IN (0, 2) AND group_key IS NOT NULL
  ORDER BY id
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE {table} AS msg
SET state = 5, due_at = 0, finished_at = NULL
WHERE id = ANY (ARRAY(SELECT id FROM held))
  AND {own_queue}
RETURNING pg_catalog.array_position(CAST(:id AS bigint[]), id) - 1 AS item, id

-- name: claim.purge
WITH picked AS MATERIALIZED (
  SELECT id
  FROM {table} AS msg
  WHERE state = CAST(:state AS smallint) AND state IN (3, 4)
    AND finished_at <= {clock}
                       - CAST(:older_than AS bigint)
    AND {own_queue}
  ORDER BY finished_at, id
  {delete_picked}
RETURNING id

-- fragment: figures
-- Each count stops at :max; delayed and leased messages share one.
ready.count + due.count AS ready, due.count AS due, later.delayed, later.leased,
       (SELECT pg_catalog.count(*) FROM (SELECT id {first_held}) AS counted) AS held,
       (SELECT pg_catalog.count(*)
        FROM (SELECT id FROM {table} AS msg WHERE state = 3 AND state IN (3, 4) AND {from_oldest}
              ORDER BY finished_at, id LIMIT CAST(:max AS bigint)) AS counted) AS done,
       (SELECT pg_catalog.count(*)
        FROM (SELECT id FROM {table} AS msg WHERE state = 4 AND state IN (3, 4) AND {from_oldest}
              ORDER BY finished_at, id LIMIT CAST(:max AS bigint)) AS counted) AS dead,
       (SELECT created_at FROM {table} AS msg WHERE id = LEAST(ready.first, due.first)) AS oldest,
       COALESCE({last_drawn},
                (SELECT id FROM {table} AS msg ORDER BY id DESC LIMIT 1)) AS last_id,
       t.clock AS as_of

-- fragment: figures_of_others
(SELECT pg_catalog.count(*) AS count, pg_catalog.min(id) AS first
      FROM (SELECT id {first_due}) AS counted) AS due,
     (SELECT pg_catalog.count(*) FILTER (WHERE state = 2) AS delayed,
             pg_catalog.count(*) FILTER (WHERE state = 1) AS leased
      FROM (SELECT state {first_waiting} LIMIT CAST(:max AS bigint)) AS counted) AS later,
     (SELECT {clock}) AS t (clock)

-- name: claim.stats
SELECT {figures}
FROM (SELECT pg_catalog.count(*) AS count, pg_catalog.min(id) AS first
      FROM (SELECT id FROM {table} AS msg WHERE state = 0
            ORDER BY {line} LIMIT CAST(:max AS bigint)) AS counted) AS ready,
     {figures_of_others}

-- name: claim.stats_from
-- For a user who may read the floors. Needs the right to read fences too.
SELECT {figures}
FROM (SELECT pg_catalog.count(*) AS count, pg_catalog.min(id) AS first
      FROM (SELECT id {first_ready_ids}) AS counted) AS ready,
     {figures_of_others}

-- name: claim.letters
-- Of a dead-letter queue. Headers are stored without blanks, and a quote in a value has a backslash before it: only
-- the header itself has this text. `source` has no character that JSON escapes.
SELECT pg_catalog.count(*) FILTER (WHERE position('"tableq-source":"' || CAST(:source AS text) || '"' IN headers) > 0)
         AS letters,
       pg_catalog.count(*) AS seen
FROM (SELECT msg.headers {first_ready}) AS looked_at

-- name: claim.next_due
{next_due}

-- name: limits.read limits.ask
SELECT c.identity, c.kind, l.paused, l.capacity, l.rate, l.burst, l.concurrency, c.options,
       CASE WHEN pg_catalog.current_setting('transaction_isolation') LIKE 'read %' THEN 1 ELSE 0 END AS latest
FROM {catalog} AS c
LEFT JOIN {limits} AS l ON l.queue = c.name
WHERE c.name = CAST(:queue AS text)

-- name: limits.lock limits.held
-- Until the transaction ends: readers of a limited queue run one after the other. The clock is read after
-- the wait, not at the beginning of the statement.
SELECT paused, rate, burst, concurrency, tokens, refilled_at,
       {clock_now} AS clock
FROM {limits}
WHERE queue = CAST(:queue AS text)
FOR NO KEY UPDATE

-- name: limits.hold
-- The same, for a take that reads the limits itself.
SELECT 1
FROM {limits}
WHERE queue = CAST(:queue AS text)
FOR NO KEY UPDATE

-- name: group.start
-- The groups are locked.
INSERT INTO {starts} AS s (queue, name, full_at, alarm, alarm_at)
SELECT CAST(:queue AS text), pg_catalog.unnest(CAST(:group AS text[])), pg_catalog.unnest(CAST(:full_at AS bigint[])),
       pg_catalog.unnest(CAST(:alarm AS bigint[])), pg_catalog.unnest(CAST(:alarm_at AS bigint[]))
ON CONFLICT (queue, name) DO UPDATE
SET full_at = EXCLUDED.full_at, alarm = EXCLUDED.alarm, alarm_at = EXCLUDED.alarm_at

-- name: group.forget
-- A row that another transaction has locked is in use.
DELETE FROM {starts}
WHERE queue = CAST(:queue AS text)
  AND name = ANY (ARRAY(SELECT name
                        FROM {starts}
                        WHERE queue = CAST(:queue AS text)
                          AND (CAST(:all AS bigint) = 1 OR full_at <= {clock} * 1000)
                        LIMIT CASE WHEN CAST(:all AS bigint) = 1 THEN NULL ELSE CAST(:max AS bigint) END
                        FOR UPDATE SKIP LOCKED))
RETURNING 1 AS present

-- name: schedules.fire
-- Once for each time: the due time is compared in the transaction of the message. Another process that is about to
-- do the same is not waited for, and a lock on the queue of the message only briefly: the reader may be of another queue.
WITH own AS MATERIALIZED (
  SELECT name
  FROM {schedules}
  WHERE name = CAST(:name AS text)
    AND enabled = 1
    AND queue = CAST(:queue AS text)
    AND zone = CAST(:zone AS text)
    AND cron IS NOT DISTINCT FROM CAST(:cron AS text)
    AND every_ms IS NOT DISTINCT FROM CAST(:every AS bigint)
    AND due_at IS NOT DISTINCT FROM CAST(:due AS bigint)
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE {schedules} AS s
SET due_at = CAST(:next AS bigint), last_at = COALESCE(CAST(:last AS bigint), last_at),
    problem = CAST(:problem AS text), enabled = 1 - CAST(:disable AS bigint)
WHERE name = ANY (ARRAY(SELECT name FROM own))
  AND pg_catalog.set_config('lock_timeout', '500ms', true) IS NOT NULL
RETURNING {message_of_rule}

-- name: floors.exist
SELECT 1 AS present WHERE pg_catalog.to_regclass('{floors}') IS NOT NULL

-- name: floors.remove
DELETE FROM {floors} WHERE queue = CAST(:name AS text)

-- name: claim.count_from
-- For a user who may read the floors. Needs the right to read fences and priorities too.
SELECT CASE WHEN span <= CAST(CAST(:enough AS bigint) AS numeric) THEN CAST(span AS bigint)
            ELSE (SELECT pg_catalog.count(*) FROM (SELECT id {first_ready_ids}) AS ready)
               + (SELECT pg_catalog.count(*)
                  FROM (SELECT id
                        FROM {table} AS msg
                        WHERE state IN (1, 2) AND due_at >= {passed} AND {from_oldest}
                        ORDER BY due_at, id
                        LIMIT CAST(:max AS bigint)) AS later)
               + (SELECT pg_catalog.count(*) FROM (SELECT id {first_held}) AS held)
            END AS number
FROM {span} AS ids

-- name: claim.leased
SELECT ({leased_up_to_concurrency}) AS number
FROM (SELECT CAST(:max AS bigint)) AS m (concurrency)

-- fragment: doctor_shards.shard
-- Further checks of tables that are shards.
-- The settings of tableq's sessions stay on the called server; those of a role go to all.
UNION ALL
  SELECT CASE WHEN pg_catalog.count(*) = 0 THEN 0 ELSE 1 END,
         CAST(pg_catalog.count(*) AS text) || ' settings of the planner are on where shards are read',
         'old statistics then make reads slow: ALTER ROLE ' || pg_catalog.quote_ident(current_user)
           || ' SET enable_sort TO off, and the same with enable_seqscan and enable_bitmapscan'
  FROM pg_settings
  WHERE name IN ('enable_sort', 'enable_seqscan', 'enable_bitmapscan') AND reset_val = 'on'

-- name: doctor.database
-- One row for each check. Only the rights of pg_monitor show other users' sessions.
SELECT checked.severity, checked.what,
       CASE WHEN checked.severity = 0 THEN '' ELSE checked.fix END AS fix
FROM (
  SELECT CASE WHEN CAST(pg_catalog.current_setting('server_version_num') AS integer) < 120000 THEN 2 ELSE 0 END
           AS severity,
         'PostgreSQL ' || pg_catalog.current_setting('server_version') AS what,
         'tableq needs version 12 or later' AS fix
  UNION ALL
  SELECT CASE WHEN CAST(pg_catalog.getdatabaseencoding() AS text) = 'UTF8' THEN 0 ELSE 1 END,
         'the encoding of the database is ' || CAST(pg_catalog.getdatabaseencoding() AS text),
         'use a database with ENCODING ''UTF8'': this one refuses, or does not check, texts in other characters'
  UNION ALL
  SELECT CASE WHEN pg_catalog.count(*) = 0 THEN 0 ELSE 1 END,
         CASE WHEN pg_catalog.count(*) = 0 THEN 'nobody was granted to create in the schemas of the search path'
              ELSE 'others may create functions in schemas of the search path: '
                     || pg_catalog.string_agg(granted.name || ' (' || granted.who || ')', ', ') END,
         'REVOKE CREATE ON SCHEMA, or leave it out of the path: a function there may run in your own statements, '
           || 'triggers and views, with your rights'
  FROM (SELECT CAST(n.nspname AS text) AS name,
               CASE WHEN a.grantee = CAST(0 AS oid) THEN 'PUBLIC'
                    ELSE CAST(pg_catalog.pg_get_userbyid(a.grantee) AS text) END AS who
        FROM pg_catalog.pg_namespace AS n
        CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) AS a
        WHERE n.nspname = ANY (pg_catalog.current_schemas(false))
          AND a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner
          AND a.grantee <> (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = current_user)) AS granted
  UNION ALL
  -- At 2^31 transactions, but for three million (in PostgreSQL 12 and 13 one), the server refuses all writes.
  SELECT CASE WHEN pg_catalog.pg_is_in_recovery() OR used.share > 99.8 THEN 2 WHEN used.share > 75.0 THEN 1 ELSE 0 END,
         CASE WHEN pg_catalog.pg_is_in_recovery() THEN 'the server is a standby and takes no writes'
              WHEN used.share > 99.8 THEN 'the numbers of transactions are used up: writes fail, or soon will'
              WHEN used.share > 75.0 THEN CAST(used.share AS text) || ' per cent of the numbers of transactions are used up'
              ELSE 'the server takes writes' END,
         CASE WHEN pg_catalog.pg_is_in_recovery() THEN 'name all hosts and add target_session_attrs=read-write'
              ELSE 'end old transactions, prepared ones and slots, then run VACUUM in each database' END
  FROM (SELECT pg_catalog.round(100.0 * CAST(pg_catalog.max(GREATEST(pg_catalog.age(datfrozenxid),
                                                             pg_catalog.mxid_age(datminmxid))) AS numeric)
                           / 2147483647.0, 1) AS share
        FROM pg_database) AS used
  UNION ALL
  SELECT CASE WHEN pg_catalog.current_setting('autovacuum') = 'on' AND pg_catalog.current_setting('track_counts') = 'on'
              THEN 0 ELSE 2 END,
         'autovacuum is ' || pg_catalog.current_setting('autovacuum')
           || ', track_counts is ' || pg_catalog.current_setting('track_counts'),
         'switch both on: without them reads grow slower with every message that was read'
  UNION ALL
  SELECT CASE WHEN pg_catalog.current_setting('fsync') = 'on'
                AND pg_catalog.current_setting('synchronous_commit') <> 'off'
              THEN 0 ELSE 1 END,
         'fsync is ' || pg_catalog.current_setting('fsync')
           || ', synchronous_commit is ' || pg_catalog.current_setting('synchronous_commit'),
         'a crash can lose messages that were reported as stored: switch both on'
  UNION ALL
  SELECT CASE WHEN reset_val = 'read committed' THEN 0 ELSE 1 END,
         'the default isolation level is ' || reset_val,
         'tableq pins its own sessions to read committed; begin transactions that it joins like that too'
  FROM pg_settings
  WHERE name = 'default_transaction_isolation'
  UNION ALL
  SELECT CASE WHEN pg_catalog.count(*) = 0 THEN 0 ELSE 1 END,
         CAST(pg_catalog.count(*) AS text) || ' transactions have been open for over 5 minutes'
           || COALESCE(': server processes ' || pg_catalog.string_agg(CAST(pid AS text), ', ' ORDER BY pid), ''),
         'end them, for example with pg_terminate_backend(PID): while they last vacuum removes no dead rows'
  FROM pg_stat_activity
  WHERE (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
    AND xact_start < pg_catalog.clock_timestamp() - INTERVAL '5 minutes'
  UNION ALL
  SELECT CASE WHEN pg_catalog.count(*) = 0 THEN 0 ELSE 1 END,
         CAST(pg_catalog.count(*) AS text) || ' prepared transactions wait since over 5 minutes',
         'commit or roll them back: they hold back vacuum as an open transaction does'
  FROM pg_prepared_xacts
  WHERE prepared < pg_catalog.clock_timestamp() - INTERVAL '5 minutes'
  UNION ALL
  SELECT CASE WHEN pg_catalog.count(*) = 0 THEN 0 ELSE 1 END,
         CAST(pg_catalog.count(*) AS text)
           || ' replication slots or standbys hold back vacuum by over 100000 transactions',
         'drop slots that nobody reads; look for long queries on standbys with hot_standby_feedback'
  FROM (SELECT xmin FROM pg_replication_slots
        UNION ALL
        SELECT backend_xmin FROM pg_stat_replication) AS far (xmin)
  WHERE pg_catalog.age(xmin) > 100000
  UNION ALL
  SELECT 2,
         'the table {floors} is missing',
         'create it as `tableq ddl postgresql fifo QUEUE` prints it'
  WHERE CAST(:layout AS bigint) >= 2 AND pg_catalog.to_regclass('{floors}') IS NULL
  {doctor_shards}
) AS checked

-- name: doctor.queue
-- The indexes are compared with their definitions as the server prints them.
WITH wanted (kind, index, definition, since) AS (
  VALUES ('pending', '{table:due}', '(due_at, id)', 1),
         ('pending', '{table:late}', '(due_at, id) WHERE (due_at < (arrived_at - 10))', 2),
         ('claim', '{table:ready}', '{index_of_ready}', 1),
         ('claim', '{table:again}', '(priority DESC, id) WHERE ((state < 1) AND (fence > 0))', {since_layout}),
         ('claim', '{table:wait}', '(due_at, id) WHERE (state = ANY (ARRAY[1, 2]))', 1),
         ('claim', '{table:done}', '(state, finished_at, id) WHERE (state = ANY (ARRAY[3, 4]))', 1),
         ('claim', '{table:held}', '(priority DESC, id) WHERE (state = 5)', 1),
         ('claim', '{table:past}', '(due_at) WHERE ((state = 3) AND (due_at > 0))', 1),
         ('claim', '{table:group}', '(group_key, state, id) WHERE (group_key IS NOT NULL)', 1),
         ('claim', '{table:key}', '(key) WHERE (key IS NOT NULL)', 1)
),
columns (kind, name, type, since) AS (
  VALUES ('all', 'id', 'bigint', 1), ('all', 'created_at', 'bigint', 1), ('all', 'payload', 'bytea', 1),
         ('pending', 'due_at', 'bigint', 1), ('pending', 'arrived_at', 'bigint', 2),
         ('claim', 'state', 'smallint', 1), ('claim', 'priority', 'integer', 1), ('claim', 'due_at', 'bigint', 1),
         ('claim', 'fence', 'bigint', 1), ('claim', 'attempts', 'integer', 1),
         ('claim', 'claimed_at', 'bigint', 1), ('claim', 'finished_at', 'bigint', 1), ('claim', 'key', 'text', 1),
         ('claim', 'headers', 'text', 1), ('claim', 'errors', 'text', 1),
         ('claim', 'max_attempts', 'integer', 1), ('claim', 'retry', 'text', 1), ('claim', 'expires_at', 'bigint', 1),
         ('claim', 'past_key', 'text', 1), ('claim', 'group_key', 'text', 1),
         ('claim', 'progress', 'text', 3), ('claim', 'result', 'bytea', 3){column_of_turns}
),
present AS (
  SELECT '"' || CAST(c.relname AS text) || '"' AS index, i.indisprimary AS main, i.indisvalid AS valid,
         pg_catalog.replace(substring(pg_catalog.pg_get_indexdef(i.indexrelid) FROM 'USING btree (.*)$'), '"', '')
           AS definition
  FROM pg_index AS i
  JOIN pg_class AS c ON c.oid = i.indexrelid
  WHERE i.indrelid = CAST(pg_catalog.to_regclass('{table}') AS oid)
)
SELECT checked.severity, checked.what,
       CASE WHEN checked.severity = 0 THEN '' ELSE checked.fix END AS fix
FROM (
  SELECT CASE WHEN p.index IS NULL OR NOT p.valid OR p.definition <> w.definition THEN 2 ELSE 0 END
           AS severity,
         'index ' || w.index || CASE WHEN p.index IS NULL THEN ' is missing'
                                     WHEN NOT p.valid THEN ' is invalid'
                                     WHEN p.definition <> w.definition THEN ' is defined otherwise'
                                     ELSE ' is there' END AS what,
         'create it as `tableq ddl postgresql ' || w.kind || '` prints it' AS fix
  FROM wanted AS w
  LEFT JOIN present AS p USING (index)
  WHERE w.kind = CAST(:kind AS text) AND w.since <= CAST(:layout AS bigint)
  UNION ALL
  SELECT CASE WHEN pg_catalog.count(*) = 0 THEN 2 ELSE 0 END,
         CASE WHEN pg_catalog.count(*) = 0 THEN 'the primary key on id is missing'
              ELSE 'the primary key is there' END,
         'ALTER TABLE {table} ADD PRIMARY KEY (id)'
  FROM present
  WHERE main AND valid AND definition = '(id)'
  UNION ALL
  SELECT CASE WHEN pg_catalog.count(*) = 0 THEN 0 ELSE 2 END,
         CASE WHEN pg_catalog.count(*) = 0 THEN 'the columns are as created'
              ELSE 'missing or of another type: ' || pg_catalog.string_agg(w.name, ', ') END,
         'restore them; after a step by hand that failed: tableq migrate --to 1, then tableq migrate; '
           || 'at worst drop the queue and create it anew'
  FROM columns AS w
  LEFT JOIN pg_attribute AS a ON a.attrelid = CAST(pg_catalog.to_regclass('{table}') AS oid) AND a.attname = w.name
    AND NOT a.attisdropped AND pg_catalog.format_type(a.atttypid, NULL) = w.type
  WHERE w.kind IN ('all', CAST(:kind AS text)) AND w.since <= CAST(:layout AS bigint) AND a.attname IS NULL
  UNION ALL
  SELECT CASE WHEN pg_catalog.count(*) = 0 THEN 2 ELSE 0 END,
         CASE WHEN pg_catalog.count(*) = 0 THEN 'the column arrived_at has no default'
              ELSE 'the column arrived_at has a default' END,
         'set it as `tableq ddl postgresql pending` prints it'
  FROM pg_attribute AS a
  WHERE a.attrelid = CAST(pg_catalog.to_regclass('{table}') AS oid) AND a.attname = 'arrived_at' AND a.atthasdef
  HAVING CAST(:kind AS text) = 'pending' AND CAST(:layout AS bigint) >= 2
  UNION ALL
  SELECT CASE WHEN COALESCE(pg_catalog.bool_or(convalidated), false) THEN 0 ELSE 2 END,
         'check {table:rules} ' || CASE WHEN pg_catalog.count(*) = 0 THEN 'is missing'
                                        WHEN pg_catalog.bool_or(convalidated) THEN 'is there'
                                        ELSE 'is not valid' END,
         CASE WHEN pg_catalog.count(*) = 0 THEN 'add it as `tableq ddl postgresql claim` prints it'
              ELSE 'ALTER TABLE {table} VALIDATE CONSTRAINT {table:rules}' END
  FROM pg_constraint
  WHERE conrelid = CAST(pg_catalog.to_regclass('{table}') AS oid) AND contype = 'c'
    AND '"' || CAST(conname AS text) || '"' = '{table:rules}'
  HAVING CAST(:kind AS text) = 'claim' AND CAST(:layout AS bigint) >= 2
  UNION ALL
  -- The column exists from PostgreSQL 14 on.
  SELECT 0,
         'payloads are compressed by ' || CASE pg_catalog.to_jsonb(a) ->> 'attcompression' WHEN 'l' THEN 'lz4'
                                               WHEN 'p' THEN 'pglz' ELSE 'the usual method' END,
         ''
  FROM pg_attribute AS a
  WHERE a.attrelid = CAST(pg_catalog.to_regclass('{table}') AS oid) AND a.attname = 'payload'
  UNION ALL
  SELECT 2,
         'the added column ' || CAST(a.attname AS text) || ' must be given, and tableq does not know it',
         'give it a default or let it be null'
  FROM pg_attribute AS a
  WHERE a.attrelid = CAST(pg_catalog.to_regclass('{table}') AS oid) AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AND a.attname <> 'payload'
  UNION ALL
  SELECT 1,
         'trigger ' || CAST(tgname AS text) || ' runs on each operation',
         'make sure that it is cheap, and neither fails nor drops rows'
  FROM pg_trigger
  WHERE tgrelid = CAST(pg_catalog.to_regclass('{table}') AS oid) AND NOT tgisinternal
  UNION ALL
  SELECT 2,
         'rule ' || CAST(rulename AS text) || ' rewrites operations',
         'drop it, or replace it by a trigger: messages may go elsewhere'
  FROM pg_rewrite
  WHERE ev_class = CAST(pg_catalog.to_regclass('{table}') AS oid) AND rulename <> '_RETURN'
  UNION ALL
  SELECT found.severity, found.what, found.fix
  FROM pg_class AS c
  CROSS JOIN LATERAL (VALUES
    (c.relkind = 'r' AND EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = c.oid), 2,
     'tables inherit from the table', 'detach them with NO INHERIT: one id in two tables is read as one message'),
    (c.relkind <> 'r', 2,
     'it is no plain table', 'drop the queue by hand, its row of the catalogue too, and create it anew'),
    (c.relrowsecurity, 1,
     'row level security is on', 'consumers read only the messages that a policy lets them see'),
    (c.relpersistence = 'u', 1,
     'the table is not logged', 'a crash empties it: ALTER TABLE {table} SET LOGGED'),
    (pg_catalog.array_to_string(c.reloptions, ',') ~* 'autovacuum_enabled=(f|off|no|0)', 2,
     'autovacuum is switched off for the table', 'ALTER TABLE {table} RESET (autovacuum_enabled)')
  ) AS found (yes, severity, what, fix)
  WHERE c.oid = CAST(pg_catalog.to_regclass('{table}') AS oid) AND found.yes
  UNION ALL
  SELECT CASE WHEN n_dead_tup > 200000 THEN 1 ELSE 0 END,
         CAST(n_dead_tup AS text) || ' dead rows wait for vacuum',
         'look for old transactions above, then run VACUUM {table}'
  FROM pg_stat_all_tables
  WHERE relid = CAST(pg_catalog.to_regclass('{table}') AS oid)
  UNION ALL
  -- Only the rights of pg_monitor show when the transaction of another user began.
  SELECT 1,
         CASE WHEN l.pid IS NULL THEN 'a prepared transaction'
              ELSE 'the session of the server process ' || CAST(l.pid AS text) END
           || ' holds the lock of a writer on the table for over a minute',
         CASE WHEN l.pid IS NULL THEN 'commit it or roll it back: '
              ELSE 'end it, for example with pg_terminate_backend(' || CAST(l.pid AS text) || '): ' END
           || 'until then reads pass over all rows that are read meanwhile'
  FROM pg_locks AS l
  LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
  WHERE l.locktype = 'relation' AND l.mode = 'RowExclusiveLock' AND l.granted
    AND l.relation = CAST(pg_catalog.to_regclass('{table}') AS oid)
    AND l.database = (SELECT oid FROM pg_database WHERE datname = pg_catalog.current_database())
    AND COALESCE(a.xact_start,
                 (SELECT pg_catalog.min(prepared)
                  FROM pg_prepared_xacts
                  WHERE l.pid IS NULL AND database = pg_catalog.current_database()))
          < pg_catalog.clock_timestamp() - INTERVAL '1 minute'
) AS checked

-- name: doctor.ids
-- Logical replication and plain INSERTs with ids do not move the sequence. Its value is read after the snapshot.
SELECT CASE WHEN ids.drawn < ids.highest THEN 2 ELSE 0 END AS severity,
       CASE WHEN ids.drawn < ids.highest
            THEN 'the sequence of the ids is at ' || CAST(ids.drawn AS text) || ', below the highest id, '
                   || CAST(ids.highest AS text) || ': enqueues fail, and messages come in another order'
            ELSE 'the sequence of the ids is above all ids' END AS what,
       CASE WHEN ids.drawn < ids.highest
            THEN 'SELECT setval(' || pg_catalog.quote_literal(ids.name) || ', (SELECT max(id) FROM {table}))'
            ELSE '' END AS fix
FROM (SELECT s.name,
             (SELECT id FROM {table} AS msg ORDER BY id DESC LIMIT 1) AS highest,
             COALESCE(pg_catalog.pg_sequence_last_value(CAST(s.name AS regclass)), 0) AS drawn
      FROM (SELECT pg_catalog.pg_get_serial_sequence('{table}', 'id') AS name) AS s
      WHERE pg_catalog.has_sequence_privilege(s.name, 'USAGE, SELECT, UPDATE')) AS ids

-- name: table.find
-- Tables and views whose name differs in case at most: PostgreSQL folds names without quotes.
SELECT CAST(n.nspname AS text) AS schema, CAST(c.relname AS text) AS name,
       CASE WHEN c.relkind IN ('r', 'p') THEN 1 ELSE 0 END AS is_table,
       CASE WHEN c.relhastriggers THEN 1 ELSE 0 END AS has_triggers,
       CASE WHEN n.nspname IN ('pg_catalog', 'pg_toast', 'information_schema') THEN 'system'
            WHEN c.relkind = 'r' AND EXISTS (SELECT 1 FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid)
              THEN 'inherited'
            WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite AS r
                         WHERE r.ev_class = c.oid AND r.ev_type IN ('2', '4') AND r.ev_enabled <> 'D') THEN 'ruled'
            WHEN c.relkind = 'p' THEN 'keyless'
            ELSE '' END AS trouble
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND pg_catalog.lower(c.relname) = pg_catalog.lower(CAST(:table AS text))
  AND CASE WHEN CAST(:schema AS text) = '' THEN pg_catalog.pg_table_is_visible(c.oid)
           ELSE n.nspname = CAST(:schema AS text) END

-- name: table.columns
SELECT CAST(a.attname AS text) AS name,
       pg_catalog.format_type(a.atttypid, a.atttypmod) AS declared,
       CASE WHEN t.typname IN ('int2', 'int4', 'int8') THEN 'integer'
            WHEN t.typname = 'bool' THEN 'boolean'
            WHEN t.typname IN ('float4', 'float8', 'numeric') THEN 'number'
            WHEN t.typname = 'bytea' THEN 'bytes'
            WHEN t.typname = 'timestamptz' THEN CASE WHEN m.modifier BETWEEN 0 AND 2 THEN 'time.coarse' ELSE 'time' END
            WHEN t.typname = 'date' OR (t.typname = 'timestamp' AND m.modifier BETWEEN 0 AND 2) THEN 'time.local.coarse'
            WHEN t.typname = 'timestamp' THEN 'time.local'
            WHEN t.typname IN ('varchar', 'bpchar') THEN 'text.limited'
            WHEN t.typcategory = 'S' THEN 'text'
            WHEN t.typcategory IN ('A', 'G') OR t.typname IN ('json', 'xml', 'jsonpath', 'xid', 'cid', 'aclitem')
              THEN 'text.typed.unordered'
            WHEN t.typtype = 'e' THEN 'text.typed.enum'
            ELSE 'text.typed' END
         -- The server writes `now() AT TIME ZONE 'utc'` in one of two ways.
         || CASE WHEN t.typname IN ('timestamp', 'date')
                   AND d.text ~* 'now[(][)]|''now''|current_date|localtimestamp|(current|statement|clock|transaction)_timestamp'
                   AND d.text !~* 'time ?zone[^'']*''(utc|gmt|etc/utc|etc/gmt|uct|z|zulu|universal)'''
                 THEN '.zoned' ELSE '' END AS form,
       CASE WHEN a.attnotnull OR own.typnotnull THEN 1 ELSE 0 END AS required,
       CASE WHEN a.atthasdef OR a.attidentity <> '' THEN 1 ELSE 0 END AS has_value,
       CASE WHEN a.attgenerated <> '' OR a.attidentity = 'a' THEN 1 ELSE 0 END AS computed,
       CASE WHEN t.typname IN ('int2', 'int4', 'int8') THEN t.typlen
            WHEN t.typname IN ('varchar', 'bpchar') THEN GREATEST(m.modifier - 4, 0)
            ELSE 0 END AS room,
       COALESCE((SELECT pg_catalog.string_agg(CAST(e.enumlabel AS text), pg_catalog.chr(10) ORDER BY e.enumsortorder)
                 FROM pg_catalog.pg_enum AS e WHERE e.enumtypid = t.oid), '') AS labels
FROM pg_catalog.pg_attribute AS a
INNER JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
INNER JOIN pg_catalog.pg_type AS own ON own.oid = a.atttypid
INNER JOIN pg_catalog.pg_type AS t ON t.oid = CASE WHEN own.typtype = 'd' THEN own.typbasetype ELSE own.oid END
LEFT JOIN LATERAL (SELECT pg_catalog.pg_get_expr(x.adbin, x.adrelid) AS text
                   FROM pg_catalog.pg_attrdef AS x
                   WHERE x.adrelid = a.attrelid AND x.adnum = a.attnum AND a.attgenerated = '') AS d ON TRUE
CROSS JOIN LATERAL (SELECT CASE WHEN own.typtype = 'd' THEN own.typtypmod ELSE a.atttypmod END AS modifier) AS m
WHERE n.nspname = CAST(:schema AS text) AND c.relname = CAST(:table AS text)
  AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum

-- name: table.keys
-- A column that takes different texts as equal is unique only by an index that does the same.
SELECT CAST(i.relname AS text) AS index_name,
       CASE WHEN COALESCE(k.collisdeterministic, TRUE) OR x.indcollation[part.place - 1] = a.attcollation
            THEN COALESCE(CAST(a.attname AS text), '') ELSE '' END AS name
FROM pg_catalog.pg_index AS x
INNER JOIN pg_catalog.pg_class AS c ON c.oid = x.indrelid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
INNER JOIN pg_catalog.pg_class AS i ON i.oid = x.indexrelid
CROSS JOIN LATERAL pg_catalog.unnest(CAST(x.indkey AS smallint[])) WITH ORDINALITY AS part (attnum, place)
LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = part.attnum
LEFT JOIN pg_catalog.pg_collation AS k ON k.oid = a.attcollation
WHERE n.nspname = CAST(:schema AS text) AND c.relname = CAST(:table AS text)
  AND x.indisunique AND x.indisvalid AND x.indpred IS NULL AND part.place <= x.indnkeyatts
ORDER BY i.relname, part.place

-- name: table.indexes
-- Only an index whose columns are in the order of their types, NULL last, serves an ORDER BY.
SELECT CAST(i.relname AS text) AS index_name,
       CASE WHEN a.attname IS NOT NULL AND o.opcdefault AND x.indoption[part.place - 1] IN (0, 3)
              AND x.indcollation[part.place - 1] = a.attcollation
            THEN CAST(a.attname AS text) ELSE '' END AS name,
       CASE WHEN x.indoption[part.place - 1] = 3 THEN 1 ELSE 0 END AS descending,
       COALESCE(pg_catalog.pg_get_expr(x.indpred, x.indrelid), '') AS condition
FROM pg_catalog.pg_index AS x
INNER JOIN pg_catalog.pg_class AS c ON c.oid = x.indrelid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
INNER JOIN pg_catalog.pg_class AS i ON i.oid = x.indexrelid
INNER JOIN pg_catalog.pg_am AS m ON m.oid = i.relam
CROSS JOIN LATERAL pg_catalog.generate_series(1, CAST(x.indnkeyatts AS integer)) AS part (place)
INNER JOIN pg_catalog.pg_opclass AS o ON o.oid = x.indclass[part.place - 1]
LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = x.indkey[part.place - 1] AND a.attnum > 0
WHERE n.nspname = CAST(:schema AS text) AND c.relname = CAST(:table AS text)
  AND m.amname = 'btree' AND x.indisvalid AND x.indisready
ORDER BY i.relname, part.place

-- name: batch.open
-- The last outstanding member tells: mostly it leaves last, and the first places of the index are those of rows that
-- were deleted.
SELECT b.id AS batch,
       CASE WHEN b.queue IS NULL THEN 0 ELSE 1 END AS outstanding,
       CASE WHEN b.queue > 0 AND NOT EXISTS (SELECT 1 FROM {catalog} AS c WHERE c.identity = b.queue)
            THEN b.queue END AS lost,
       b.ends_in
FROM (SELECT o.id, o.queue AS ends_in,
             (SELECT m.queue
              FROM {members} AS m
              WHERE m.batch = o.id AND m.outcome = 0
              ORDER BY m.batch DESC, m.outcome DESC, m.queue DESC, m.message DESC
              LIMIT 1) AS queue
      FROM (SELECT id, queue
            FROM {batches}
            WHERE finished_at IS NULL AND sealed = 1
              AND id >= CAST(:first AS bigint) AND id <= CAST(:last AS bigint)
            ORDER BY finished_at, sealed, id
            LIMIT CAST(:max AS bigint)) AS o
      OFFSET 0) AS b

-- name: batch.lock
-- Waits for nobody: an open transaction that has the row is adding to the batch, or ends it. A lock on the queue of the
-- message at the end is waited for only briefly: a later look ends the batch.
SELECT cancelled, payload, headers, key, group_key, priority
FROM {batches}
WHERE id = CAST(:batch AS bigint) AND sealed = 1 AND finished_at IS NULL
  AND pg_catalog.set_config('lock_timeout', '100ms', true) IS NOT NULL
FOR NO KEY UPDATE SKIP LOCKED

-- name: batch.forget
DELETE FROM {batches}
WHERE id = ANY (ARRAY(SELECT id
                      FROM {batches}
                      WHERE finished_at < {clock} - CAST(:older_than AS bigint)
                      ORDER BY finished_at
                      LIMIT CAST(:max AS bigint)
                      FOR UPDATE SKIP LOCKED))

-- name: batch.list
-- The counts of a batch that has not ended are made of so many of its members, those without an outcome last and from
-- their end: mostly the last one leaves last, and the first places of the index are those of rows that were deleted.
SELECT b.total,
       COALESCE(b.completed, b.total - n.others) AS completed,
       COALESCE(b.dead, n.dead) AS dead,
       COALESCE(b.removed, n.removed) AS removed,
       COALESCE(b.gone, n.gone) AS gone,
       b.id, b.name, n.outstanding, b.sealed, b.cancelled, b.queue AS then, b.created_at, b.finished_at
FROM (SELECT id, name, total, completed, dead, removed, gone, sealed, cancelled, queue, created_at, finished_at
      FROM {batches}
      WHERE id >= CAST(:first AS bigint) AND id <= CAST(:last AS bigint)
      ORDER BY id DESC
      LIMIT CAST(:max AS bigint)) AS b
CROSS JOIN LATERAL (SELECT pg_catalog.count(*) AS others,
                           pg_catalog.count(*) FILTER (WHERE few.outcome = 0) AS outstanding,
                           pg_catalog.count(*) FILTER (WHERE few.outcome = 1) AS dead,
                           pg_catalog.count(*) FILTER (WHERE few.outcome = 2) AS removed,
                           pg_catalog.count(*) FILTER (WHERE few.outcome = 3) AS gone
                    FROM (SELECT m.outcome
                          FROM {members} AS m
                          WHERE m.batch = b.id AND b.finished_at IS NULL
                          ORDER BY m.batch DESC, m.outcome DESC, m.queue DESC, m.message DESC
                          LIMIT CAST(:count_to AS bigint)) AS few) AS n
ORDER BY b.id DESC

-- name: batch.members
-- As a range of the index. With batch = and outcome =, the planner may walk the primary key, past members of others.
SELECT queue, message
FROM {members}
WHERE (batch, outcome, queue, message)
      > (CAST(:batch AS bigint), 0, CAST(:after_queue AS bigint), CAST(:after_message AS bigint))
  AND (batch, outcome) <= (CAST(:batch AS bigint), 0)
ORDER BY batch, outcome, queue, message
LIMIT CAST(:max AS bigint)

-- name: batch.of
SELECT pg_catalog.array_position(CAST(:id AS bigint[]), message) - 1 AS item, batch,
       COALESCE((SELECT b.cancelled FROM {batches} AS b WHERE b.id = m.batch), 0) AS cancelled
FROM {members} AS m
WHERE queue = CAST(:queue AS bigint) AND message = ANY (CAST(:id AS bigint[]))

-- name: batch.join
INSERT INTO {members} (queue, message, batch)
SELECT CAST(:queue AS bigint), pg_catalog.unnest(CAST(:id AS bigint[])), pg_catalog.unnest(CAST(:batch AS bigint[]))

-- name: batch.leave
WITH ended AS (
  DELETE FROM {members}
  WHERE queue = CAST(:queue AS bigint) AND message = ANY (CAST(:id AS bigint[]))
  RETURNING batch
)
SELECT DISTINCT CAST(0 AS bigint) AS item, batch FROM ended

-- name: batch.mark
WITH marked AS (
  UPDATE {members}
  SET outcome = CAST(:outcome AS smallint)
  WHERE queue = CAST(:queue AS bigint) AND message = ANY (CAST(:id AS bigint[]))
    AND outcome = CAST(:before AS smallint)
  RETURNING batch
)
SELECT DISTINCT CAST(0 AS bigint) AS item, batch FROM marked

-- name: batch.rejoin
UPDATE {members}
SET outcome = 0,
    message = (CAST(:id AS bigint[]))[pg_catalog.array_position(CAST(:former AS bigint[]), message)]
WHERE queue = CAST(:queue AS bigint) AND message = ANY (CAST(:former AS bigint[])) AND outcome = 1
