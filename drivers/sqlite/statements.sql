-- The statements of SQLite (3.35 or later). core/seam/contract.cpp defines what each takes and returns.
--
-- Tables are those of `main`: a session of the application may have temporary tables of the same name, which
-- would hide them.
--
-- A fragment replaces its name in braces, without its comments. `NAME.given` replaces NAME if a test sets the
-- clock, and `NAME.turns` in a queue whose groups take turns. `tableq ddl --statements` prints the complete texts.
--
-- Each text is one statement, so that it is atomic and durable by itself; a writer has the whole file. A
-- statement that returns rows begins with SELECT or WITH: the ODBC driver decides by the first word whether there
-- are rows. A WITH that is needed only for that has an unused name, and costs nothing.
--
-- A name with the ending .one is for :max = 1, when a comparison needs no list of ids. One with .next is for the
-- transport that reports the ids itself: RETURNING costs a table in memory each time.
--
-- The queue of the caller's handle has the identity :own_identity. A change of messages without a fence finds no
-- row and adds none if the catalogue no longer has this identity: the table may then be that of a later queue of
-- the same name. One snapshot has both the catalogue and the table.

-- fragment: clock
-- Milliseconds since 1970. It stands still within one statement.
CAST((julianday('now') - 2440587.5) * 86400000 + 0.5 AS INTEGER)

-- fragment: clock.given
-- The clock that a test sets, or that the transport reads: it costs a tenth of the function.
:now

-- fragment: clock_now
{clock}

-- fragment: main
-- Of drivers/statements.sql, as the next five.
main.

-- fragment: functions

-- fragment: returns
WITH unused AS (SELECT 1)

-- fragment: bytes
blob

-- fragment: from_oldest
TRUE

-- fragment: last_drawn
NULL

-- fragment: own_queue
-- The catalogue still has the queue that the handle was opened for.
EXISTS (SELECT 1 FROM main.{catalog} WHERE identity = :own_identity)

-- fragment: delete
WITH unused AS (SELECT 1)
DELETE FROM main.{table}

-- fragment: update
WITH unused AS (SELECT 1)
UPDATE main.{table}

-- fragment: begin_of_message
id, state, priority, attempts, created_at,

-- fragment: begin_of_message.seen
-- What a viewer may read, here and below.
id, state, priority, 0 AS attempts, created_at,

-- fragment: rest_of_message
claimed_at, finished_at, COALESCE(key, past_key) AS key, group_key, expires_at, headers, errors, payload

-- fragment: rest_of_message.outline
-- Without what may be private.
claimed_at, finished_at, COALESCE(key, past_key) AS key, group_key, expires_at, NULL AS headers, errors, x'' AS payload

-- fragment: rest_of_message.seen
NULL AS claimed_at, finished_at, NULL AS key, NULL AS group_key, NULL AS expires_at, NULL AS headers, NULL AS errors,
       x'' AS payload

-- fragment: message
{begin_of_message} due_at, {rest_of_message}

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

-- fragment: set_ready_at.turns
-- For each change after which a message may be ready.
, ready_at = {clock}

-- fragment: keep_or_set_ready_at.turns
, ready_at = CASE WHEN :postpone = 0 THEN q.ready_at ELSE n.clock END

-- fragment: ready_at.turns
, ready_at

-- fragment: clock_of_new.turns
, n.clock

-- fragment: clock_again.turns
, {clock}

-- fragment: any_message
-- The same with the time since which a ready message stands in line, if that decides.
{message}

-- fragment: any_message.turns
{begin_of_message} CASE WHEN state = 0 THEN ready_at ELSE due_at END AS due_at, {rest_of_message}

-- fragment: after_last
-- The ready messages of the same priority after the last one of a page.
id > :after_id

-- fragment: after_last.turns
(ready_at, id) > (:after_at, :after_id)

-- fragment: receipt_held
-- The message whose lease the given receipt holds.
id = :id AND state = 1 AND fence = :fence

-- fragment: in_states
-- Bit n of :states stands for the state n.
((:states >> state) & 1) = 1

-- fragment: filtered
-- What the filter reads: not the payloads.
id, state, created_at, finished_at, group_key, key, past_key, errors, headers

-- fragment: fits
-- What claim.filter looks for. Headers come as the JSON of one.
{in_states}
  AND (:older_than IS NULL OR COALESCE(finished_at, created_at) <= {clock} - :older_than)
  AND (:group IS NULL OR group_key = :group)
  AND (:key_prefix IS NULL OR substr(COALESCE(key, past_key), 1, length(:key_prefix)) = :key_prefix)
  AND (:error IS NULL OR instr(json_extract(CASE WHEN json_valid(errors) THEN errors END, '$[#-1].error'), :error) > 0)
  AND (:header IS NULL OR EXISTS (
         SELECT 1 FROM json_each(CASE WHEN json_valid(headers) THEN headers END) AS h
         INNER JOIN json_each(:header) AS w ON w.key = h.key AND w.value = h.value))

-- fragment: most_attempts
-- Plain SQL may have written something else than a number.
COALESCE(CASE typeof(q.max_attempts) WHEN 'integer' THEN q.max_attempts END, t.most)

-- fragment: retry_delay
-- The caller's delay, otherwise that of the message or of the queue for this attempt; later attempts have the
-- last one. The dice change it by up to `jitter` per cent. Plain SQL may have written any rule: other values than
-- numbers are ignored, and numbers are limited to 0 to 3,650 days, or 100 per cent.
COALESCE(:delay,
  CASE WHEN json_type(rule, place) IN ('integer', 'real')
       THEN CAST(MIN(MAX(json_extract(rule, place), 0), 315360000000) AS INTEGER) END
    * (100000 + :dice
         * CASE WHEN json_type(rule, '$.jitter') IN ('integer', 'real')
                THEN CAST(MIN(MAX(json_extract(rule, '$.jitter'), 0), 100) AS INTEGER)
                ELSE 0 END)
    / 100000,
  0)

-- fragment: own_rule
-- Of the message, or of the queue. Plain SQL may have written other than JSON where CHECKs were ignored.
COALESCE(CASE WHEN json_valid(q.retry) THEN q.retry END, :policy)

-- fragment: new_fence
-- Twelve bytes, which count as 0: the lease and the fence of the first take have six each. SQLite then overwrites
-- the row where it is; a row that changes its length is written again with its payload.
'never leased'

-- fragment: earlier_errors
-- At most nine; another is added. A history that is no array, or of over 1,000,000 characters, is not from tableq, and
-- is replaced: plain SQL may have written it where CHECKs were ignored.
CASE WHEN length(q.errors) > 1000000 OR NOT json_valid(q.errors) THEN '[]'
     WHEN json_type(q.errors) <> 'array' THEN '[]'
     WHEN json_array_length(q.errors) >= 10 THEN json_remove(q.errors, '$[0]')
     ELSE COALESCE(q.errors, '[]') END

-- fragment: next_fence
-- A count in its upper half, so that it grows. Its lower half is the caller's random token, so that the receipt of a
-- take that was rolled back never matches a later take. Plain SQL may have put any value into the columns, even text:
-- with the casts and bounds here and below it cannot stop a take or a settlement.
(CAST(fence AS INTEGER) / 4294967296 + 1) % 2147483648 * 4294967296 + :token

-- fragment: next_attempt
CASE WHEN attempts BETWEEN 0 AND 2147483645 THEN attempts
         ELSE MIN(MAX(CAST(attempts AS INTEGER), 0), 2147483646) END + 1

-- fragment: lease_end
{clock} + :lease

-- fragment: new_lease
state = 1, fence = {next_fence},
    attempts = {next_attempt},
    claimed_at = :claimed_at

-- fragment: freed_key
key = CASE WHEN :unkey = 0 THEN key END,
    past_key = CASE WHEN :unkey = 0 THEN past_key ELSE COALESCE(key, past_key) END

-- fragment: kept
-- A completed message that stays. With a :window the key stays that long. With :strip only messages with keys change,
-- and keep only the key.
state = 3,
    due_at = CASE WHEN :window > 0 AND key IS NOT NULL
      THEN {clock} + :window
      ELSE 0 END,
    key = CASE WHEN :window > 0 THEN key END,
    past_key = COALESCE(key, past_key),
    payload = CASE WHEN :strip = 0 THEN payload ELSE X'' END,
    headers = CASE WHEN :strip = 0 THEN headers END,
    finished_at = {clock}

-- fragment: since
-- Since when a taken message stood in line, where groups take turns.
0 AS ready_at

-- fragment: since.turns
ready_at

-- fragment: rest_of_delivery
COALESCE(key, past_key) AS key, group_key,
          CASE WHEN expires_at IS NULL THEN 0
               ELSE expires_at <= {clock}
               END AS expired,
          headers

-- fragment: first_ready
FROM main.{table} AS msg WHERE state = 0 ORDER BY {line} LIMIT :max

-- fragment: first_held
FROM main.{table} WHERE state = 5 ORDER BY priority DESC, id LIMIT :max

-- fragment: first_due
-- The first :max delayed messages that fell due, and messages whose lease ended.
FROM main.{table}
    WHERE state IN (1, 2)
      AND due_at <= {clock}
    ORDER BY due_at, id
    LIMIT :max

-- fragment: with_past
-- Done messages that stayed only for their keys: the one of this key, and some whose window ended first.
WITH past AS (
  SELECT id FROM main.{table}
  WHERE key = :key AND key IS NOT NULL AND state = 3
    AND due_at BETWEEN 1 AND {clock}
  UNION ALL
  SELECT id FROM (
    SELECT id FROM main.{table}
    WHERE state = 3 AND due_at > 0
      AND due_at <= {clock}
    ORDER BY due_at
    LIMIT 10))

-- name: catalog.exists
-- sqlite_master has no index, and a row for each table and index of all queues. A view counts as a table.
SELECT EXISTS (
  SELECT 1 FROM pragma_table_info(trim('{catalog}', '"'), 'main')) AS present,
  '' AS schema,
  0 AS sharded,
  0 AS narrow

-- name: session.identity
SELECT COALESCE(file, '') AS database FROM pragma_database_list WHERE name = 'main'

-- name: catalog.lock
-- BEGIN IMMEDIATE has locked the file.
SELECT 1

-- name: catalog.queue
SELECT name, identity, kind, layout, options, created_at,
       EXISTS (SELECT 1 FROM pragma_table_info(trim('{table}', '"'), 'main')) AS present
FROM main.{catalog}
WHERE name = :name

-- name: catalog.migrator
-- Nothing to lock: each step is one transaction, which has locked the file and looks at the layout again.
SELECT 1 AS held

-- name: table.exists
SELECT EXISTS (
  SELECT 1 FROM pragma_table_info(trim('{table}', '"'), 'main')) AS present

-- name: queue.alter
-- Its transaction has locked the file.
SELECT NULL AS sessions

-- name: queue.hidden
-- All who may read the file see all of it.
SELECT 0 AS severity, '' AS what, '' AS fix
WHERE 0

-- name: heap.enqueue fifo.enqueue lifo.enqueue
WITH unused AS (SELECT 1)
INSERT INTO main.{table} (payload, created_at)
SELECT :payload,
       COALESCE(:created_at, {clock})
WHERE {own_queue}
RETURNING id

-- name: heap.enqueue.next fifo.enqueue.next lifo.enqueue.next
INSERT INTO main.{table} (payload, created_at)
VALUES {items: (:payload, COALESCE(:created_at, {clock}))}

-- name: heap.dequeue fifo.dequeue fifo.dequeue_strict
-- Up to the last wanted message, or all: a range needs no list of ids.
{delete}
WHERE id <= COALESCE((SELECT id FROM main.{table} ORDER BY id LIMIT 1 OFFSET :max - 1), 9223372036854775807)
  AND {own_queue}
RETURNING id, created_at, NULL AS due_at, payload

-- name: heap.dequeue.one fifo.dequeue.one fifo.dequeue_strict.one
{delete}
WHERE id = (SELECT id FROM main.{table} ORDER BY id LIMIT 1)
  AND {own_queue}
RETURNING id, created_at, NULL AS due_at, payload

-- name: lifo.dequeue lifo.dequeue_strict
{delete}
WHERE id >= COALESCE((SELECT id FROM main.{table} ORDER BY id DESC LIMIT 1 OFFSET :max - 1), -9223372036854775808)
  AND {own_queue}
RETURNING id, created_at, NULL AS due_at, payload

-- name: lifo.dequeue.one lifo.dequeue_strict.one
{delete}
WHERE id = (SELECT id FROM main.{table} ORDER BY id DESC LIMIT 1)
  AND {own_queue}
RETURNING id, created_at, NULL AS due_at, payload

-- name: heap.purge fifo.purge lifo.purge pending.purge
{delete}
WHERE id <= COALESCE((SELECT id FROM main.{table} ORDER BY id LIMIT 1 OFFSET :max - 1), 9223372036854775807)
  AND {own_queue}
RETURNING id

-- name: pending.enqueue
WITH unused AS (SELECT 1)
INSERT INTO main.{table} (payload, created_at, due_at)
SELECT :payload, COALESCE(:created_at, clock), COALESCE(:due_at, clock + :delay)
FROM (SELECT {clock} AS clock)
WHERE {own_queue}
RETURNING id

-- name: pending.enqueue.next
INSERT INTO main.{table} (payload, created_at, due_at)
VALUES {items: (:payload, COALESCE(:created_at, {clock}), COALESCE(:due_at, {clock} + :delay))}

-- name: pending.dequeue
WITH picked AS (
  SELECT id FROM main.{table}
  WHERE due_at <= {clock}
  ORDER BY due_at, id
  LIMIT :max)
DELETE FROM main.{table}
WHERE id IN (SELECT id FROM picked)
  AND {own_queue}
RETURNING id, created_at, due_at, payload

-- name: pending.dequeue.one
{delete}
WHERE id = (
  SELECT id FROM main.{table}
  WHERE due_at <= {clock}
  ORDER BY due_at, id
  LIMIT 1)
  AND {own_queue}
RETURNING id, created_at, due_at, payload

-- fragment: new_message
INSERT INTO main.{table} (payload, priority, state, due_at, fence, key, headers, created_at, expires_at, max_attempts,
                     retry, group_key{ready_at})

-- name: claim.enqueue
-- No row is returned when the key is held. A message with a group is held until claim.advance makes it ready, unless
-- it :leads a group that has no other one.
WITH unused AS (SELECT 1)
{new_message}
SELECT :payload, :priority,
       CASE WHEN :leads = 1 THEN 0 ELSE {new_state} END,
       {new_due_at}, {new_fence},
       :key, :headers, COALESCE(:created_at, n.clock), n.clock + :ttl, :max_attempts, :retry, n.group_key{clock_of_new}
FROM (SELECT {clock} AS clock, COALESCE(:due_at, {clock} + :delay) AS due_at, :group AS group_key) AS n
WHERE {own_queue}
ON CONFLICT (key) WHERE key IS NOT NULL DO NOTHING
RETURNING id

-- name: claim.enqueue.payloads
-- A message that has nothing but a payload.
WITH unused AS (SELECT 1)
INSERT INTO main.{table} (payload, fence, created_at{ready_at})
SELECT :payload, {new_fence}, n.clock{clock_of_new}
FROM (SELECT {clock} AS clock) AS n
WHERE {own_queue}
RETURNING id

-- name: claim.enqueue.next
{new_message}
SELECT column1, column2,
       CASE WHEN column12 = 1 THEN 0 ELSE {new_state} END,
       {new_due_at}, {new_fence},
       column3, column4, COALESCE(column5, n.clock), n.clock + column6, column7, column8, n.group_key{clock_of_new}
FROM (SELECT *, {clock} AS clock, COALESCE(column9, {clock} + column10) AS due_at, column11 AS group_key
      FROM (VALUES {items: (:payload, :priority, :key, :headers, :created_at, :ttl, :max_attempts, :retry, :due_at, :delay,
                            :group, :leads)})) AS n
WHERE TRUE
ON CONFLICT (key) WHERE key IS NOT NULL DO NOTHING

-- name: claim.enqueue.next.payloads
INSERT INTO main.{table} (payload, fence, created_at{ready_at})
VALUES {items: (:payload, {new_fence}, {clock}{clock_again})}

-- name: claim.find_key
SELECT id FROM main.{table}
WHERE key = :key AND key IS NOT NULL
  AND {own_queue}

-- name: claim.replace
-- Gives a waiting message the payload of a later one with its key; with :postpone also its due time. Without a
-- due time a message with a group is held until claim.advance makes it ready.
WITH unused AS (SELECT 1)
UPDATE main.{table} AS q
SET payload = :payload, priority = :priority, headers = :headers, max_attempts = :max_attempts,
    retry = :retry, attempts = 0,
    expires_at = n.clock + :ttl,
    state = CASE WHEN :postpone = 0 THEN q.state ELSE {postponed_state} END,
    due_at = CASE WHEN :postpone = 0 THEN q.due_at ELSE {postponed_due_at} END{keep_or_set_ready_at}
FROM (SELECT {clock} AS clock, COALESCE(:due_at, {clock} + :delay) AS due_at) AS n
WHERE q.key = :key AND q.key IS NOT NULL AND (q.state IN (0, 2) OR (q.state = 5 AND :postpone = 0))
  AND {own_queue}
RETURNING id

-- name: claim.forget
{with_past}
DELETE FROM main.{table}
WHERE id IN (SELECT id FROM past)
  AND {own_queue}
RETURNING id

-- name: claim.free
-- The same in queues that keep done messages: the key is free, the message stays.
{with_past}
UPDATE main.{table}
SET past_key = key, key = NULL, due_at = 0
WHERE id IN (SELECT id FROM past)
  AND {own_queue}
RETURNING id

-- fragment: to_be_taken
-- With :guard nothing is taken while a delayed or expired message waits to be promoted, because it might come
-- first.
state = 0
  AND (:guard = 0 OR NOT EXISTS (
    SELECT 1 FROM main.{table}
    WHERE state IN (1, 2)
      AND due_at <= {clock}))

-- name: claim.take
{update}
SET {new_lease}, due_at = {lease_end},
    {freed_key}
WHERE id IN (
  SELECT id FROM main.{table}
  WHERE {to_be_taken}
  ORDER BY {line}
  LIMIT :max)
  AND {own_queue}
RETURNING id, fence, attempts, priority, created_at, claimed_at, due_at AS lease_until,
          {rest_of_delivery}, payload, {since}

-- name: claim.take.query
-- Finds the rows of a take, which claim.lease then changes: SQLite first stores all rows that an UPDATE returns. An UPDATE
-- has a payload in memory twice, so claim.payload reads a long one afterwards.
SELECT id, {next_fence} AS fence,
    {next_attempt} AS attempts,
    priority, created_at, :claimed_at AS claimed_at, {lease_end} AS lease_until,
          {rest_of_delivery},
    CASE WHEN length(payload) < 1000000 THEN payload END AS payload, {since}
FROM main.{table}
WHERE {to_be_taken}
  AND {own_queue}
ORDER BY {line}
LIMIT :max

-- name: claim.lease
UPDATE main.{table}
SET {new_lease}, due_at = :lease_until
WHERE id = :id
RETURNING id

-- name: claim.lease.next
UPDATE main.{table}
SET {new_lease}, due_at = :lease_until
WHERE id IN ({items: :id})

-- name: claim.payload
SELECT payload FROM main.{table} WHERE id = :id

-- name: claim.promote
WITH due AS (SELECT id {first_due})
UPDATE main.{table} AS q
SET state = {promoted_state},
    finished_at = {promoted_finished_at},
    errors = CASE WHEN q.state = 1 THEN json_insert(
        {earlier_errors},
        '$[#]', json_object('at', t.clock, 'error', 'lease expired'))
      ELSE q.errors END,
    due_at = 0{set_ready_at}
FROM (SELECT {clock} AS clock, :max_attempts AS most, :regroup AS regroup) AS t
WHERE q.id IN (SELECT id FROM due)
  AND {own_queue}
RETURNING id, state

-- name: claim.complete
{delete}
WHERE {receipt_held}
RETURNING id

-- name: claim.complete.next
-- Receipts of one take. SQLite deletes each row as it finds it; with a query in WHERE it first finds all.
DELETE FROM main.{table}
WHERE id IN ({items: :id}) AND state = 1 AND fence = :fence

-- name: claim.complete.next.mixed
-- Receipts of several takes.
WITH receipt (id, fence) AS (VALUES {items: (:id, :fence)})
DELETE FROM main.{table}
WHERE id IN (
  SELECT m.id FROM receipt
  CROSS JOIN main.{table} AS m ON m.id = receipt.id
  WHERE m.state = 1 AND m.fence = receipt.fence)

-- name: claim.keep
{update}
SET {kept}
WHERE {receipt_held} AND (:strip = 0 OR key IS NOT NULL)
RETURNING id

-- name: claim.keep_result
-- The same with what the handler returns; what it has said before is over.
{update}
SET {kept}, result = :result, progress = NULL
WHERE {receipt_held} AND (:strip = 0 OR key IS NOT NULL)
RETURNING id

-- name: claim.progress
-- What a handler says of its message.
{update}
SET progress = json_object('done', :done, 'at', {clock}, 'note', :note)
WHERE {receipt_held}
RETURNING id

-- name: claim.notes
SELECT id, progress FROM main.{table} WHERE id = :id AND progress IS NOT NULL

-- name: claim.outcome
SELECT id, result FROM main.{table} WHERE id = :id AND result IS NOT NULL

-- name: claim.fail
-- :final is 1 for a message that is given up, and 2 for one
-- that expired before its attempt.
WITH f AS (
  SELECT id, attempts, most, :final AS final, clock,
         {retry_delay} AS delay
  FROM (
    SELECT q.id, {own_rule} AS rule, t.clock,
           CAST(q.attempts AS INTEGER) AS attempts,
           {most_attempts} AS most,
           '$.after[' || MAX(MIN(CAST(q.attempts AS INTEGER),
             json_array_length({own_rule}, '$.after')) - 1, 0) || ']' AS place
    FROM main.{table} AS q
    CROSS JOIN (SELECT {clock} AS clock, :max_attempts AS most) AS t
    WHERE {receipt_held}))
UPDATE main.{table} AS q
SET state = {failed_state},
    attempts = {failed_attempts},
    due_at = {failed_due_at},
    finished_at = {failed_finished_at},
    errors = json_insert(
      {earlier_errors},
      '$[#]', json_object('at', f.clock, 'error', :error)){set_ready_at}
FROM f
WHERE q.id = f.id
RETURNING id, state

-- name: claim.release
WITH unused AS (SELECT 1)
UPDATE main.{table} SET state = 0, due_at = 0, attempts = MAX(CAST(attempts AS INTEGER), 1) - 1{set_ready_at}
WHERE {receipt_held}
RETURNING id

-- name: claim.extend claim.heartbeat
{update}
SET due_at = {clock} + :lease
WHERE {receipt_held}
RETURNING id

-- name: claim.list
-- typeof, here and below: a value from plain SQL that is not a whole number cannot be the beginning of the next
-- page.
SELECT {message}
FROM main.{table}
WHERE state = :state AND state IN (3, 4) AND typeof(finished_at) = 'integer'
  AND (finished_at, id) > (:after_at, :after_id)
ORDER BY finished_at, id
LIMIT :max

-- name: claim.list_ready
-- Messages of the same priority after the last one, and those of lower priorities: each is a range of the
-- index.
SELECT {any_message}
FROM (
  SELECT * FROM (
    SELECT * FROM main.{table}
    WHERE state = 0 AND priority = :after_priority AND typeof(priority) = 'integer'
      AND {after_last}
    ORDER BY {line}
    LIMIT :max)
  UNION ALL
  SELECT * FROM (
    SELECT * FROM main.{table}
    WHERE state = 0 AND priority < :after_priority AND priority >= -2147483648
      AND typeof(priority) = 'integer'
    ORDER BY {line}
    LIMIT :max))
ORDER BY {line}
LIMIT :max

-- name: claim.list_held
SELECT {message}
FROM (
  SELECT * FROM (
    SELECT * FROM main.{table}
    WHERE state = 5 AND priority = :after_priority AND typeof(priority) = 'integer'
      AND id > :after_id
    ORDER BY priority DESC, id
    LIMIT :max)
  UNION ALL
  SELECT * FROM (
    SELECT * FROM main.{table}
    WHERE state = 5 AND priority < :after_priority AND priority >= -2147483648
      AND typeof(priority) = 'integer'
    ORDER BY priority DESC, id
    LIMIT :max))
ORDER BY priority DESC, id
LIMIT :max

-- name: claim.list_waiting
SELECT {message}
FROM main.{table}
WHERE state = :state AND state IN (1, 2) AND typeof(due_at) = 'integer'
  AND (due_at, id) > (:after_at, :after_id)
ORDER BY due_at, id
LIMIT :max

-- name: claim.get
SELECT {any_message}
FROM main.{table}
WHERE id = :id

-- name: claim.make_ready
-- Of delayed messages, as if they fell due now: see claim.promote.
WITH unused AS (SELECT 1)
UPDATE main.{table} AS q
SET state = {rested_state}, due_at = 0{set_ready_at}
FROM (SELECT :regroup AS regroup) AS t
WHERE q.id = :id AND q.state = 2
  AND {own_queue}
RETURNING id, state

-- name: claim.filter
-- Reads :scan messages after a place: those of one finished state (:finished) by the time at which they finished,
-- and all others by their ids, up to :until. Returns those that fit, and the last one that was read.
WITH seen AS (
  SELECT id, at, COALESCE({fits}, 0) AS fits, ROW_NUMBER() OVER (ORDER BY at, id) AS place
  FROM (
    SELECT * FROM (
      SELECT 0 AS at, {filtered} FROM main.{table}
      WHERE :finished = 0 AND id > :after_id AND id <= COALESCE(:until, 9223372036854775807)
      ORDER BY id
      LIMIT :scan)
    UNION ALL
    SELECT * FROM (
      SELECT finished_at AS at, {filtered} FROM main.{table}
      WHERE :finished <> 0 AND state = :finished AND state IN (3, 4) AND typeof(finished_at) = 'integer'
        AND (finished_at, id) > (:after_at, :after_id) AND finished_at <= COALESCE(:until, 9223372036854775807)
      ORDER BY finished_at, id
      LIMIT :scan)))
SELECT id, at, fits, place,
       COALESCE(:until, CASE WHEN :finished = 0 THEN (SELECT MAX(id) FROM main.{table}) ELSE {clock} END) AS until
FROM seen
WHERE fits OR place = (SELECT COUNT(*) FROM seen)
ORDER BY place
LIMIT :max

-- name: claim.cancel
{delete}
WHERE id = :id AND {in_states}
  AND {own_queue}
RETURNING id

-- name: claim.set_priority
WITH unused AS (SELECT 1)
UPDATE main.{table} SET priority = :priority
WHERE id = :id AND state IN (0, 2, 5)
  AND {own_queue}
RETURNING id

-- name: claim.lost
SELECT CAST(:id AS INTEGER) AS id
WHERE NOT EXISTS (SELECT 1 FROM main.{table} WHERE {receipt_held})

-- name: claim.state_of
SELECT id, state FROM main.{table} WHERE id = :id

-- name: claim.unseen
-- No rows: a transaction that has tried to write sees the newest data, or was refused for an old snapshot.
SELECT CAST(:id AS INTEGER) AS id WHERE FALSE

-- name: claim.redrive
{update}
SET state = {redriven_state}, attempts = 0, due_at = 0, finished_at = NULL, expires_at = NULL{set_ready_at}
WHERE id = :id AND state = 4
  AND {own_queue}
RETURNING id

-- name: claim.remove
{delete}
WHERE id = :id AND {in_states}
  AND {own_queue}
RETURNING id, state, priority, attempts, created_at, due_at, claimed_at, finished_at,
          COALESCE(key, past_key) AS key, group_key, expires_at, headers, errors, payload,
          CASE WHEN key IS NULL THEN 0 ELSE 1 END AS holds_key, max_attempts, retry

-- name: claim.adopt
-- A message from another queue. A past_key is only shown and holds no key. No row is returned when the key is
-- held.
WITH unused AS (SELECT 1)
INSERT INTO main.{table} (payload, priority, created_at, fence, key, past_key, headers, errors)
VALUES (:payload, :priority, :created_at, {new_fence}, :key, :past_key, :headers, :errors)
ON CONFLICT (key) WHERE key IS NOT NULL DO NOTHING
RETURNING id

-- name: claim.restore
-- A message of another database with all that it had. No row is returned when the key is held. A delayed message
-- of a group gets behind its group when it falls due.
WITH unused AS (SELECT 1)
INSERT INTO main.{table} (payload, state, priority, due_at, fence, attempts, created_at, finished_at, expires_at,
                     max_attempts, retry, key, past_key, headers, errors, group_key{ready_at})
SELECT :payload, :state, :priority, COALESCE(:due_at, 0),
       CASE WHEN :state = 2 AND :group IS NOT NULL THEN -1 ELSE {new_fence} END, :attempts, :created_at, :finished_at, :expires_at, :max_attempts, :retry, :key, :past_key, :headers, :errors,
       :group{clock_of_new}
FROM (SELECT {clock} AS clock) AS n
WHERE {own_queue}
ON CONFLICT (key) WHERE key IS NOT NULL DO NOTHING
RETURNING id

-- name: claim.group_of
WITH given (item, id) AS (VALUES {items: (:item, :id)})
SELECT given.item, msg.group_key
FROM given
CROSS JOIN main.{table} AS msg ON msg.id = given.id
WHERE msg.group_key IS NOT NULL

-- fragment: last_running
-- With :hold messages that wait for their retry count too.
CASE WHEN :hold = 0 THEN 1 ELSE 2 END

-- name: claim.groups_in_use
WITH given (item, name) AS (VALUES {items: (:item, :group)})
SELECT item,
       (SELECT COUNT(*) FROM main.{table} INDEXED BY {table:group}
        WHERE group_key = name AND state BETWEEN 0 AND {last_running}) AS running,
       EXISTS (SELECT 1 FROM main.{table} INDEXED BY {table:group}
               WHERE group_key = name AND state = 5) AS held
FROM given
WHERE name IS NOT NULL

-- name: claim.advance
-- Makes the next messages of each group ready, up to :limit at a time. Each group is given once. INDEXED BY: with
-- statistics of one large group other indexes seem cheaper.
WITH RECURSIVE given (name) AS (VALUES {items: (:group)}),
next (name, id, free) AS (
  SELECT name,
         (SELECT MIN(id) FROM main.{table} INDEXED BY {table:group}
          WHERE group_key = name AND state = 5),
         :limit - (SELECT COUNT(*) FROM main.{table} INDEXED BY {table:group}
                   WHERE group_key = name AND state BETWEEN 0 AND {last_running})
  FROM given
  WHERE EXISTS (SELECT 1 FROM main.{table} INDEXED BY {table:group} WHERE group_key = name AND state = 5)
  UNION ALL
  SELECT name,
         (SELECT MIN(id) FROM main.{table} INDEXED BY {table:group}
          WHERE group_key = name AND state = 5 AND id > next.id),
         free - 1
  FROM next
  WHERE id IS NOT NULL AND free > 1)
UPDATE main.{table}
SET state = 0{set_ready_at}
WHERE id IN (SELECT id FROM next WHERE free > 0)
  AND {own_queue}
RETURNING 0 AS item, id

-- fragment: limits_of_group
-- The row of the group, otherwise that of all others.
FROM main.{quotas}
WHERE queue = :queue AND name IN (:group, '')
ORDER BY name DESC
LIMIT 1

-- fragment: set_place_in_line.turns
-- The same for a group that may have a weight: it stands in that part of the line, counted from the first message.
, ready_at = {clock} - COALESCE((
      SELECT ({clock} - first) * (weight - 1) / weight
      FROM (SELECT (SELECT weight {limits_of_group}) AS weight,
                   (SELECT line.ready_at
                    FROM main.{table} AS line INDEXED BY {table:ready}
                    WHERE line.state = 0 AND line.priority = q.priority
                    ORDER BY line.ready_at, line.id
                    LIMIT 1) AS first) AS l
      WHERE weight > 1 AND first < {clock}), 0)

-- name: claim.advance_limited
-- The same for groups with limits of their own: up to :starts messages become ready, and the next one waits until
-- :alarm_at. If more are ready than may run, the last of them are held again.
WITH room (free) AS (
  SELECT COALESCE((SELECT running {limits_of_group}), :limit)
    - (SELECT COUNT(*) FROM main.{table} INDEXED BY {table:group}
       WHERE group_key = :group AND state IN (0, 1))
    - CASE WHEN :hold = 0 THEN 0
           ELSE (SELECT COUNT(*) FROM main.{table} INDEXED BY {table:group}
                 WHERE group_key = :group AND state = 2) END
),
moved (id, place, starts) AS (
  SELECT id, ROW_NUMBER() OVER (ORDER BY id), :starts
  FROM (SELECT id FROM main.{table} INDEXED BY {table:group}
        WHERE group_key = :group AND state = 5
        ORDER BY id
        LIMIT MAX(MIN((SELECT free FROM room), :starts + (:alarm_at IS NOT NULL)), 0))
  UNION ALL
  SELECT id, 0, :starts
  FROM (SELECT id FROM main.{table} INDEXED BY {table:group}
        WHERE group_key = :group AND state = 0
        ORDER BY id DESC
        LIMIT MAX(- (SELECT free FROM room), 0))
)
UPDATE main.{table} AS q
SET state = {moved_state},
    due_at = CASE WHEN m.place > m.starts THEN MAX(:alarm_at, {clock}) ELSE 0 END{set_place_in_line}
FROM moved AS m
WHERE q.id = m.id
  AND {own_queue}
RETURNING id, state, due_at

-- name: claim.tokens
SELECT l.rate, l.burst, s.full_at, a.id AS alarm, a.due_at AS alarm_at, {clock} AS clock
FROM (SELECT (SELECT rate {limits_of_group}) AS rate, (SELECT burst {limits_of_group}) AS burst) AS l
LEFT JOIN main.{starts} AS s ON s.queue = :queue AND s.name = :group
LEFT JOIN main.{table} AS a ON a.id = s.alarm AND a.state = 2 AND a.due_at = s.alarm_at
WHERE l.rate IS NOT NULL OR a.id IS NOT NULL

-- name: claim.hold
-- Messages that would become ready, or that wait for a start, wait for claim.advance_limited.
{update}
SET state = 5, due_at = 0
WHERE id = :id AND state IN (0, 2) AND group_key IS NOT NULL
  AND {own_queue}
RETURNING id

-- name: claim.purge
WITH picked AS (
  SELECT id FROM main.{table}
  WHERE state = :state AND state IN (3, 4)
    AND finished_at <=
      {clock} - :older_than
  ORDER BY finished_at, id
  LIMIT :max)
DELETE FROM main.{table}
WHERE id IN (SELECT id FROM picked)
  AND {own_queue}
RETURNING id

-- name: claim.stats
-- Each count stops at :max; delayed and leased messages share one.
SELECT ready.number + due.number AS ready, due.number AS due, later.delayed, later.leased,
       (SELECT COUNT(*) FROM (SELECT id {first_held})) AS held,
       (SELECT COUNT(*) FROM (
          SELECT id FROM main.{table} WHERE state = 3 AND state IN (3, 4) ORDER BY finished_at, id LIMIT :max)) AS done,
       (SELECT COUNT(*) FROM (
          SELECT id FROM main.{table} WHERE state = 4 AND state IN (3, 4) ORDER BY finished_at, id LIMIT :max)) AS dead,
       (SELECT created_at FROM main.{table}
        WHERE id = MIN(COALESCE(ready.lowest, due.lowest), COALESCE(due.lowest, ready.lowest))) AS oldest,
       (SELECT seq FROM main.sqlite_sequence WHERE '"' || name || '"' = '{table}') AS last_id,
       {clock} AS as_of
FROM (SELECT COUNT(*) AS number, MIN(id) AS lowest FROM (SELECT id {first_ready})) AS ready,
     (SELECT COUNT(*) AS number, MIN(id) AS lowest FROM (SELECT id {first_due})) AS due,
     (SELECT COUNT(*) FILTER (WHERE state = 2) AS delayed, COUNT(*) FILTER (WHERE state = 1) AS leased FROM (
        SELECT state FROM main.{table}
        WHERE state IN (1, 2)
          AND due_at > {clock}
        ORDER BY due_at, id
        LIMIT :max)) AS later

-- name: claim.letters
-- Of a dead-letter queue. Headers are stored without blanks, and a quote in a value has a backslash before it: only
-- the header itself has this text. `source` has no character that JSON escapes.
SELECT COUNT(*) FILTER (WHERE instr(headers, '"tableq-source":"' || :source || '"') > 0) AS letters,
       COUNT(*) AS seen
FROM (SELECT headers {first_ready})

-- name: claim.next_due
-- Where nothing waited when the table was analyzed, SQLite 3.46 expects less than one row, and then sorts all that
-- wait now. It does not where all rows of the index are said to meet the condition, as they do.
SELECT MAX(due_at - {clock}, 0)
         AS delay
FROM main.{table}
WHERE likelihood(state IN (1, 2), 1.0)
ORDER BY due_at, id
LIMIT 1

-- name: limits.read
SELECT c.identity, c.kind, l.paused, l.capacity, l.rate, l.burst, l.concurrency, c.options, 1 AS latest
FROM main.{catalog} AS c
LEFT JOIN main.{limits} AS l ON l.queue = c.name
WHERE c.name = :queue

-- name: limits.ask
-- For a caller's transaction, which may have begun with a read. A plain read would pin its snapshot, and its
-- first write would fail if another session has written meanwhile.
WITH unused AS (SELECT 1)
UPDATE main.{catalog} SET layout = layout WHERE name = :queue
RETURNING identity, kind,
          (SELECT paused FROM main.{limits} WHERE queue = :queue) AS paused,
          (SELECT capacity FROM main.{limits} WHERE queue = :queue) AS capacity,
          (SELECT rate FROM main.{limits} WHERE queue = :queue) AS rate,
          (SELECT burst FROM main.{limits} WHERE queue = :queue) AS burst,
          (SELECT concurrency FROM main.{limits} WHERE queue = :queue) AS concurrency,
          options,
          1 AS latest

-- name: limits.lock
WITH unused AS (SELECT 1)
UPDATE main.{limits} SET queue = queue WHERE queue = :queue
RETURNING paused, rate, burst, concurrency, tokens, refilled_at,
          {clock} AS clock

-- name: limits.held
-- The transaction has begun as a writer: the row is locked, and need not be written.
SELECT paused, rate, burst, concurrency, tokens, refilled_at,
       {clock} AS clock
FROM main.{limits}
WHERE queue = :queue

-- name: group.start
INSERT INTO main.{starts} (queue, name, full_at, alarm, alarm_at)
VALUES (:queue, :group, :full_at, :alarm, :alarm_at)
ON CONFLICT (queue, name) DO UPDATE
SET full_at = excluded.full_at, alarm = excluded.alarm, alarm_at = excluded.alarm_at

-- name: group.forget
WITH unused AS (SELECT 1)
DELETE FROM main.{starts}
WHERE queue = :queue
  AND (:all = 1
       OR name IN (SELECT name
                   FROM main.{starts}
                   WHERE queue = :queue AND full_at <= {clock} * 1000
                   LIMIT :max))
RETURNING 1 AS present

-- name: schedules.fire
-- Once for each time: the due time is compared in the transaction of the message. A rule that is disabled may have
-- times of other types than these.
WITH unused AS (SELECT 1)
UPDATE main.{schedules}
SET due_at = :next, last_at = COALESCE(:last, last_at), problem = :problem, enabled = 1 - :disable
WHERE name = :name
  AND enabled = 1
  AND queue = :queue
  AND zone = :zone
  AND (:disable = 1 OR (cron IS :cron AND every_ms IS :every))
  AND due_at IS :due
RETURNING {message_of_rule}

-- name: claim.leased
-- `state IN (1, 2)` lets it use the index of waiting messages if there is no index of leases.
SELECT COUNT(*) AS number
FROM (
  SELECT 1 FROM main.{table}
  WHERE state = 1 AND state IN (1, 2)
    AND due_at > {clock}
  LIMIT :max)

-- name: doctor.database
SELECT CASE WHEN journal_mode = 'wal' THEN 0 WHEN journal_mode = 'memory' THEN 0 ELSE 1 END AS severity,
       'journal mode is ' || journal_mode AS what,
       CASE WHEN journal_mode IN ('wal', 'memory') THEN ''
            ELSE 'let tableq open the file, or run PRAGMA journal_mode = WAL' END AS fix
FROM pragma_journal_mode
UNION ALL
SELECT CASE WHEN freelist_count * 2 > page_count AND page_count > 10000 THEN 1 ELSE 0 END,
       freelist_count || ' of ' || page_count || ' pages are free',
       CASE WHEN freelist_count * 2 > page_count AND page_count > 10000
            THEN 'run VACUUM at a quiet time to give the space back' ELSE '' END
FROM pragma_freelist_count, pragma_page_count
UNION ALL
-- No warning: tableq's own checkpoints are safe, and only its user knows of others.
SELECT 0,
       'SQLite ' || version
       || CASE WHEN mended THEN ''
               ELSE ' has the WAL-reset bug, which tableq avoids; if sessions that it did not open write the file, also '
                    || 'enlisted ones and those of ODBC, use 3.44.6, 3.50.7, 3.51.3 or later' END,
       ''
FROM (SELECT version,
             minor > 51 OR (minor = 51 AND patch >= 3) OR (minor = 50 AND patch >= 7) OR (minor = 44 AND patch >= 6)
               AS mended
      FROM (SELECT sqlite_version() AS version,
                   CAST(substr(sqlite_version(), 3) AS INTEGER) AS minor,
                   CAST(substr(sqlite_version(), 3 + instr(substr(sqlite_version(), 3), '.')) AS INTEGER) AS patch))

-- name: doctor.queue
-- Indexes by kind, and triggers: these run inside every operation, and may refuse rows.
SELECT CASE WHEN l.name IS NULL THEN 2 ELSE 0 END AS severity,
       'index ' || w.name || CASE WHEN l.name IS NULL THEN ' is missing' ELSE ' is there' END AS what,
       CASE WHEN l.name IS NULL
            THEN 'create it as `tableq ddl sqlite ' || :kind || '` prints it' ELSE '' END AS fix
FROM (SELECT 'pending' AS kind, '{table:due}' AS name
      UNION ALL SELECT 'claim', '{table:ready}'
      UNION ALL SELECT 'claim', '{table:wait}'
      UNION ALL SELECT 'claim', '{table:done}'
      UNION ALL SELECT 'claim', '{table:held}'
      UNION ALL SELECT 'claim', '{table:past}'
      UNION ALL SELECT 'claim', '{table:group}'
      UNION ALL SELECT 'claim', '{table:key}') AS w
LEFT JOIN pragma_index_list(trim('{table}', '"'), 'main') AS l ON '"' || l.name || '"' = w.name
WHERE w.kind = :kind
UNION ALL
SELECT 1, 'trigger ' || name || ' runs on each operation', 'make sure that it is cheap and never fails'
FROM main.sqlite_master
WHERE type = 'trigger' AND tbl_name = trim('{table}', '"')

-- name: doctor.ids
-- AUTOINCREMENT never draws an id below the highest one. A column of numbers takes a text of plain SQL, which is greater
-- than every number. A kind that has no such column finds that of `none`.
SELECT 2 AS severity, 'a due_at is a text: its message stays delayed for ever' AS what,
       'find it by typeof(due_at) <> ''integer'' and store milliseconds since 1970' AS fix
FROM (SELECT 1 AS state, 0 AS due_at) AS none
WHERE EXISTS (SELECT 1 FROM main.{table} WHERE state IN (1, 2) AND due_at >= '')

-- name: table.find
-- A virtual table has no page of its own, but tables with its name and an ending. A row has no address in a table
-- WITHOUT ROWID, as stands behind its last bracket, nor beside a column of that name.
SELECT 'main' AS schema, name, type = 'table' AS is_table,
       EXISTS (SELECT 1 FROM main.sqlite_master AS t
               WHERE t.type = 'trigger' AND lower(t.tbl_name) = lower(m.name)) AS has_triggers,
       CASE WHEN name LIKE 'sqlite!_%' ESCAPE '!' THEN 'system'
            WHEN rootpage = 0 THEN 'virtual'
            WHEN EXISTS (SELECT 1 FROM main.sqlite_master AS v
                         INNER JOIN (SELECT '_data' AS ending UNION ALL SELECT '_idx' UNION ALL SELECT '_content'
                                     UNION ALL SELECT '_docsize' UNION ALL SELECT '_config' UNION ALL SELECT '_segments'
                                     UNION ALL SELECT '_segdir' UNION ALL SELECT '_stat' UNION ALL SELECT '_node'
                                     UNION ALL SELECT '_rowid' UNION ALL SELECT '_parent') AS e
                         WHERE v.type = 'table' AND v.rootpage = 0 AND lower(m.name) = lower(v.name || e.ending))
              THEN 'virtual'
            WHEN upper(substr(sql, length(rtrim(sql, replace(sql, ')', ''))) + 1)) LIKE '%WITHOUT%ROWID%'
              OR EXISTS (SELECT 1 FROM pragma_table_xinfo(m.name, 'main') AS c WHERE lower(c.name) = '_rowid_')
              THEN 'keyless'
            ELSE '' END AS trouble
FROM main.sqlite_master AS m
WHERE type IN ('table', 'view') AND lower(name) = lower(:table) AND (:schema = '' OR lower(:schema) = 'main')

-- name: table.columns
-- A column's form follows the rules of type affinity; SQLite itself has no types for times and booleans, and a text
-- may hold times.
-- INTEGER PRIMARY KEY gets a value by itself; it is the primary key without an index, and never NULL.
SELECT name, type AS declared,
       CASE WHEN type LIKE '%BOOL%' THEN 'boolean'
            WHEN type LIKE '%DATE%' OR type LIKE '%TIME%' THEN 'time'
            WHEN type LIKE '%INT%' OR upper(type) = 'BIT' THEN 'integer'
            WHEN type LIKE '%CHAR%' OR type LIKE '%CLOB%' OR type LIKE '%TEXT%' OR type LIKE '%UNIQUEIDENTIFIER%'
              OR type LIKE '%GUID%' OR type LIKE '%UUID%' OR type LIKE '%JSON%' THEN 'text.timed'
            WHEN type = '' OR type LIKE '%BLOB%' OR type LIKE '%BINARY%' THEN 'bytes'
            ELSE 'number' END
         || CASE WHEN lower(dflt_value) LIKE '%localtime%' THEN '.zoned' ELSE '' END AS form,
       "notnull" OR (pk > 0 AND NOT EXISTS (SELECT 1 FROM pragma_index_list(:table, 'main') WHERE origin = 'pk'))
         AS required,
       dflt_value IS NOT NULL OR (pk = 1 AND upper(type) = 'INTEGER') AS has_value,
       hidden IN (2, 3) AS computed,
       CASE WHEN type LIKE '%INT%' THEN 8 ELSE 0 END AS room,
       '' AS labels
FROM pragma_table_xinfo(:table, 'main')
WHERE hidden <> 1
ORDER BY cid

-- name: table.keys
-- A column that takes different texts as equal is unique only by an index that does the same. The column's collation
-- stands only in the text of the table, between the name and the next comma.
WITH body AS (
  SELECT ',' || ltrim(replace(replace(replace(replace(replace(replace(replace(substr(sql, instr(sql, '(') + 1),
                char(9), ' '), char(10), ' '), char(13), ' '), '  ', ' '), '  ', ' '), '  ', ' '), ', ', ',')) || ',' AS text
  FROM main.sqlite_master
  WHERE type = 'table' AND lower(name) = lower(:table)
), parts AS (
  SELECT '' AS index_name, name, pk AS place, NULL AS collation
  FROM pragma_table_info(:table, 'main')
  WHERE pk > 0
  UNION ALL
  SELECT l.name, i.name, i.seqno, i.coll
  FROM pragma_index_list(:table, 'main') AS l
  INNER JOIN pragma_index_xinfo(l.name, 'main') AS i
  WHERE l."unique" AND NOT l.partial AND i."key"
), defined AS (
  SELECT index_name, name, place, collation,
         substr(text, MAX(instr(lower(text), ',' || lower(name) || ' '), instr(lower(text), ',"' || lower(name) || '" ')) + 1)
           AS rest
  FROM parts, body
)
SELECT index_name,
       CASE WHEN substr(rest, 1, instr(rest, ',')) LIKE '%COLLATE%'
              AND substr(rest, 1, instr(rest, ',')) NOT LIKE '%COLLATE ' || collation || '%'
            THEN '' ELSE COALESCE(name, '') END AS name
FROM defined
ORDER BY index_name, place

-- name: table.indexes
-- The condition stands in the index's own text, behind `) WHERE `; runs of blanks are made short. An INTEGER PRIMARY
-- KEY is no index, but its rows are in that order; an index on it shows it as the row's address, without a name.
SELECT index_name, name, descending, condition
FROM (SELECT '' AS index_name, name, 0 AS descending, '' AS condition, pk AS place
      FROM pragma_table_info(:table, 'main')
      WHERE pk > 0 AND NOT EXISTS (SELECT 1 FROM pragma_index_list(:table, 'main') WHERE origin = 'pk')
      UNION ALL
      SELECT l.name,
             CASE WHEN instr(upper(m.text), 'COLLATE ') > 0 OR i.cid < -1 THEN ''
                  WHEN i.cid = -1 THEN (SELECT name FROM pragma_table_info(:table, 'main') WHERE pk = 1)
                  ELSE i.name END,
             i."desc",
             CASE WHEN l.partial THEN substr(m.text, instr(upper(m.text), ') WHERE ') + 8) ELSE '' END,
             i.seqno
      FROM pragma_index_list(:table, 'main') AS l
      INNER JOIN pragma_index_xinfo(l.name, 'main') AS i
      INNER JOIN (SELECT name,
                         COALESCE(replace(replace(replace(replace(replace(replace(sql,
                           char(9), ' '), char(10), ' '), char(13), ' '), '  ', ' '), '  ', ' '), '  ', ' '), '') AS text
                  FROM main.sqlite_master
                  WHERE type = 'index') AS m ON m.name = l.name
      WHERE i."key")
ORDER BY index_name, place

-- name: batch.open
SELECT b.id AS batch,
       b.queue IS NOT NULL AS outstanding,
       CASE WHEN b.queue > 0 AND NOT EXISTS (SELECT 1 FROM main.{catalog} AS c WHERE c.identity = b.queue)
            THEN b.queue END AS lost,
       b.ends_in
FROM (SELECT o.id, o.queue AS ends_in,
             (SELECT m.queue FROM main.{members} AS m WHERE m.batch = o.id AND m.outcome = 0 LIMIT 1) AS queue
      FROM (SELECT id, queue
            FROM main.{batches}
            WHERE finished_at IS NULL AND sealed = 1 AND id >= :first AND id <= :last
            ORDER BY finished_at, sealed, id
            LIMIT :max) AS o) AS b

-- name: batch.lock
WITH unused AS (SELECT 1)
UPDATE main.{batches}
SET sealed = 1
WHERE id = :batch AND sealed = 1 AND finished_at IS NULL
RETURNING cancelled, payload, headers, key, group_key, priority

-- name: batch.forget
DELETE FROM main.{batches}
WHERE id IN (SELECT id
             FROM main.{batches}
             WHERE finished_at < {clock} - :older_than
             ORDER BY finished_at
             LIMIT :max)

-- name: batch.list
-- The counts of a batch that has not ended are made of so many of its members of each outcome.
SELECT b.total,
       COALESCE(b.completed,
                b.total - (SELECT COUNT(*)
                           FROM (SELECT 1 FROM main.{members} AS m WHERE m.batch = b.id LIMIT :count_to))) AS completed,
       COALESCE(b.dead,
                (SELECT COUNT(*) FROM (SELECT 1 FROM main.{members} AS m WHERE m.batch = b.id AND m.outcome = 1 LIMIT :count_to))) AS dead,
       COALESCE(b.removed,
                (SELECT COUNT(*) FROM (SELECT 1 FROM main.{members} AS m WHERE m.batch = b.id AND m.outcome = 2 LIMIT :count_to))) AS removed,
       COALESCE(b.gone,
                (SELECT COUNT(*) FROM (SELECT 1 FROM main.{members} AS m WHERE m.batch = b.id AND m.outcome = 3 LIMIT :count_to))) AS gone,
       b.id, b.name,
       (SELECT COUNT(*) FROM (SELECT 1 FROM main.{members} AS m WHERE m.batch = b.id AND m.outcome = 0 LIMIT :count_to))
         AS outstanding,
       b.sealed, b.cancelled, b.queue AS "then", b.created_at, b.finished_at
FROM main.{batches} AS b
WHERE b.id >= :first AND b.id <= :last
ORDER BY b.id DESC
LIMIT :max

-- name: batch.members
SELECT queue, message
FROM main.{members}
WHERE batch = :batch AND outcome = 0 AND (queue, message) > (:after_queue, :after_message)
ORDER BY queue, message
LIMIT :max

-- name: batch.of
SELECT batch, COALESCE((SELECT b.cancelled FROM main.{batches} AS b WHERE b.id = m.batch), 0) AS cancelled
FROM main.{members} AS m
WHERE queue = :queue AND message = :id

-- name: batch.join
INSERT INTO main.{members} (queue, message, batch) VALUES (:queue, :id, :batch)

-- name: batch.remove
-- Without RETURNING, which costs more than the change.
DELETE FROM main.{members} WHERE queue = :queue AND message = :id

-- name: batch.mark
WITH unused AS (SELECT 1)
UPDATE main.{members}
SET outcome = :outcome
WHERE queue = :queue AND message = :id AND outcome = :before
RETURNING batch

-- name: batch.rejoin
UPDATE main.{members} SET outcome = 0, message = :id WHERE queue = :queue AND message = :former AND outcome = 1
