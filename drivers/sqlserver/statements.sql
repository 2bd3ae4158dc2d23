-- The statements of SQL Server (2016 or later) and Azure SQL. core/seam/contract.cpp defines what each
-- takes and returns.
--
-- The clock: milliseconds since 1970, DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()), unless a
-- test sets :now. It stands still within one statement. A fragment `NAME.turns` replaces NAME in a queue whose
-- groups take turns.
--
-- How a read works, and why:
--  * A CTE with TOP and ORDER BY finds the rows, and a DELETE or UPDATE of the CTE takes them: one plan
--    that follows the index and stops after that many rows. TOP directly in a DELETE would take any rows.
--  * UPDLOCK: found rows stay unchanged, with any index, and also under row versioning (READ COMMITTED
--    SNAPSHOT, optimized locking). ROWLOCK: READPAST skips locked rows, and waits for locked pages.
--    FORCESEEK: a plan that is made while the table is empty must be right with a million messages. If the
--    server finds no plan with such hints (error 8622), the session leaves them out: dialect::plan_hints.
--    READCOMMITTEDLOCK: without it READPAST is an error under row versioning; beside UPDLOCK it is ignored.
--  * Only the rows of OUTPUT report the effect, because counts may be switched off. They have no order;
--    core sorts.
--  * Each of two states has its own range of the index: with one predicate over both the server would sort all
--    rows.
--
-- How a batch works: `{items: (...)}` stands for one row of VALUES for each item, and :item in it for the item's
-- number. Rows after the last item are NULL, and are ignored. Each use of a parameter is sent separately. FORCE
-- ORDER and LOOP JOIN: one seek for each item, in the order of their ids.
--
-- Queries that take no message skip rows that others are changing, and keep no locks: they neither wait nor
-- deadlock. Each use of a parameter has a cast, because each driver declares them in its own way.
--
-- The order of locks on a claim queue is that of the server's own changes: first the row, by its id, and then the
-- entries of the other indexes. tests/lint/tsql_locks.py reads the texts for it:
--  * Only rows found by id are waited for with UPDLOCK; several of them in the order of their ids.
--  * A text that keeps locks on another index (UPDLOCK) passes locked rows (READPAST), wherever it keeps locks.
--  * A text that reads another index without READPAST keeps no lock, and takes no column that only the row has.
--  * The locks of a strict queue, a group and the limits come before those of rows. Under the limits' lock nothing
--    waits for a settlement.
--
-- The queue of the caller's handle has the identity :own_identity. A change of messages without a fence is
-- refused with error 52003 if the catalogue no longer has this identity: the table may then be that of a later
-- queue of the same name. READCOMMITTEDLOCK: the statement waits for a drop that has not ended.

-- fragment: clock
-- Milliseconds since 1970. It stands still within one statement.
DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME())

-- fragment: clock.given
-- The clock that a test sets.
CAST(:now AS bigint)

-- fragment: last_id
-- NULL before the first row, when IDENT_CURRENT would return the first id to come.
COALESCE((SELECT CAST(c.last_value AS bigint) FROM sys.identity_columns AS c WHERE c.object_id = OBJECT_ID(N'{table}')),
                0)

-- fragment: refuse_dropped
-- Unless the catalogue still has the queue that the handle was opened for.
IF NOT EXISTS (SELECT 1 FROM {catalog} WITH (READCOMMITTEDLOCK) WHERE [identity] = CAST(:own_identity AS bigint))
  THROW 52003, N'the queue was dropped', 1;

-- fragment: given_ids
-- Each id once, with its item.
(
  SELECT g.item, g.id, ROW_NUMBER() OVER (PARTITION BY g.id ORDER BY g.item) AS turn
  FROM (VALUES {items: (:item, CAST(:id AS bigint))}) AS g (item, id)
  WHERE g.id IS NOT NULL
) AS v

-- fragment: begin_of_message
id, state, priority, attempts, created_at,

-- fragment: begin_of_message.seen
-- What a viewer may read, here and below.
id, state, priority, 0 AS attempts, created_at,

-- fragment: rest_of_message
claimed_at, finished_at, CAST(COALESCE([key], past_key) AS nvarchar(200)) AS [key],
       CAST(group_key AS nvarchar(200)) AS group_key, expires_at, headers, errors, payload

-- fragment: rest_of_message.outline
-- Without what may be private.
claimed_at, finished_at, CAST(COALESCE([key], past_key) AS nvarchar(200)) AS [key],
       CAST(group_key AS nvarchar(200)) AS group_key, expires_at, CAST(NULL AS nvarchar(max)) AS headers, errors,
       CAST('' AS varbinary(max)) AS payload

-- fragment: rest_of_message.seen
CAST(NULL AS bigint) AS claimed_at, finished_at, CAST(NULL AS nvarchar(200)) AS [key],
       CAST(NULL AS nvarchar(200)) AS group_key, CAST(NULL AS bigint) AS expires_at,
       CAST(NULL AS nvarchar(max)) AS headers, CAST(NULL AS nvarchar(max)) AS errors,
       CAST('' AS varbinary(max)) AS payload

-- fragment: message
{begin_of_message} due_at, {rest_of_message}

-- fragment: message_row
-- The source of {message}.
id, state, priority, attempts, created_at, due_at, claimed_at,
           finished_at, [key], past_key, group_key, expires_at, headers, errors, payload

-- fragment: message_row.outline
id, state, priority, attempts, created_at, due_at, claimed_at,
           finished_at, [key], past_key, group_key, expires_at, errors

-- fragment: message_row.seen
id, state, priority, created_at, due_at, finished_at

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

-- fragment: ready
state = 0 AND due_at = 0

-- fragment: ready.turns
-- The index has no other column of a condition, so that a count reads no rows.
state = 0

-- fragment: seek_ready
FORCESEEK

-- fragment: seek_ready.turns
-- This index has only ready messages: without a condition on its first column a read begins at its front.
INDEX ({table:turns})

-- fragment: set_ready_at.turns
-- For each change after which a message may be ready.
, ready_at = {clock}

-- fragment: set_place_in_line.turns
-- The same for a group that may have a weight: it stands in that part of the line, counted from the first message.
, ready_at = t.clock - CASE WHEN own.weight > 1 AND line.ready_at < t.clock
                              THEN (t.clock - line.ready_at) * (own.weight - 1) / own.weight
                            ELSE 0 END

-- fragment: weight_of_group.turns
, l.weight

-- fragment: front_of_line.turns
-- A message that a take has locked is about to leave the line.
OUTER APPLY (
  SELECT TOP (1) front.ready_at
  FROM {table} AS front WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:turns}))
  WHERE own.weight > 1 AND front.state = 0 AND front.priority = q.priority
  ORDER BY front.ready_at, front.id
) AS line

-- fragment: keep_or_set_ready_at.turns
, ready_at = CASE WHEN t.postpone = 0 THEN q.ready_at ELSE t.clock END

-- fragment: ready_at.turns
, ready_at

-- fragment: since
-- Since when a taken message stood in line, where groups take turns.
0 AS ready_at

-- fragment: since.turns
inserted.ready_at AS ready_at

-- fragment: clock_of_new.turns
, t.clock

-- fragment: any_message
-- The same with the time since which a ready message stands in line, if that decides.
{message}

-- fragment: any_message.turns
{begin_of_message} CASE WHEN state = 0 THEN ready_at ELSE due_at END AS due_at, {rest_of_message}

-- fragment: after_last
-- The ready messages of the same priority after the last one of a page.
id > CAST(:after_id AS bigint)

-- fragment: after_last.turns
ready_at >= CAST(:after_at AS bigint)
      AND (ready_at > CAST(:after_at AS bigint) OR id > CAST(:after_id AS bigint))

-- fragment: index_of_turns.turns
, (N'claim', N'index {table:turns}', N'(priority DESC, ready_at, id) where state=0')

-- fragment: column_of_turns.turns
, (N'claim', N'ready_at', N'bigint', 8)

-- fragment: receipts
-- The given receipts; `turn` is 1 for the first of equal ones.
(
  SELECT g.item, g.id, g.fence,
         ROW_NUMBER() OVER (PARTITION BY g.id, g.fence ORDER BY g.item) AS turn
  FROM (VALUES {items: (:item, CAST(:id AS bigint), CAST(:fence AS bigint))})
    AS g (item, id, fence)
  WHERE g.id IS NOT NULL
) AS v

-- fragment: kept
-- A completed message that stays. With a :window the key stays that long. With :strip only messages with keys change,
-- and keep only the key.
state = 3, finished_at = t.clock,
    due_at = CASE WHEN t.key_window > 0 AND q.[key] IS NOT NULL THEN t.clock + t.key_window ELSE 0 END,
    [key] = CASE WHEN t.key_window > 0 THEN q.[key] END,
    past_key = COALESCE(q.[key], q.past_key),
    payload = CASE WHEN t.strip = 0 THEN q.payload ELSE CAST('' AS varbinary(max)) END,
    headers = CASE WHEN t.strip = 0 THEN q.headers END

-- fragment: receipt_held
-- Joined with the table as `q`: the message whose lease the receipt holds.
v.turn = 1 AND q.state = 1 AND q.fence = v.fence

-- fragment: most_attempts
COALESCE(q.max_attempts, t.most)

-- fragment: retry_delay
-- The caller's delay, otherwise that of the message or of the queue for this attempt; later attempts have the
-- last one. The dice change it by up to `jitter` per cent. Plain SQL may have written any rule: other values than
-- numbers are ignored, and numbers are limited to 0 to 3,650 days, or 100 per cent.
COALESCE(v.delay,
  CASE WHEN r.rest >= CAST(315360000000 AS bigint) THEN CAST(315360000000 AS bigint)
       WHEN r.rest > 0 THEN CAST(r.rest AS bigint) END
    * (100000 + v.dice * CASE WHEN p.jitter >= 100 THEN 100
                              WHEN p.jitter > 0 THEN CAST(p.jitter AS bigint)
                              ELSE 0 END)
    / 100000,
  0)

-- fragment: earlier_errors
-- NULL where there are none. Others than an array, or over 1,000,000 characters, are not from tableq, and are replaced:
-- plain SQL may have written them where the table's CHECKs were lifted.
CASE WHEN DATALENGTH(q.errors) <= 2000000 AND ISJSON(q.errors) = 1 AND LTRIM(q.errors) LIKE N'[[]%' THEN q.errors END

-- fragment: errors_with_entry
-- The last nine of `h.errors`, which are {earlier_errors}, and `e.entry`.
CASE WHEN h.errors IS NULL THEN N'[' + e.entry + N']'
     WHEN JSON_QUERY(h.errors, '$[9]') IS NULL THEN JSON_MODIFY(h.errors, 'append $', JSON_QUERY(e.entry))
     ELSE COALESCE(N'[' + JSON_QUERY(h.errors, '$[1]') + N',' + JSON_QUERY(h.errors, '$[2]') + N','
            + JSON_QUERY(h.errors, '$[3]') + N',' + JSON_QUERY(h.errors, '$[4]') + N','
            + JSON_QUERY(h.errors, '$[5]') + N',' + JSON_QUERY(h.errors, '$[6]') + N','
            + JSON_QUERY(h.errors, '$[7]') + N',' + JSON_QUERY(h.errors, '$[8]') + N','
            + JSON_QUERY(h.errors, '$[9]') + N',' + e.entry + N']', N'[' + e.entry + N']') END

-- fragment: with_past
-- Done messages that stayed only for their keys: those of these keys, and ten times as many whose window ended first.
{refuse_dropped}
DECLARE @clock bigint = {clock};
DECLARE @given TABLE ([key] varbinary(400) NOT NULL);
INSERT INTO @given ([key])
SELECT CAST(g.[key] AS varbinary(400))
FROM (VALUES {items: (:item, CAST(:key AS nvarchar(200)))}) AS g (item, [key])
WHERE g.[key] IS NOT NULL;
DECLARE @most bigint = 10 * @@ROWCOUNT;
WITH past AS (
  SELECT q.id
  FROM @given AS v
  INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:key}))
    ON q.[key] = v.[key]
  WHERE q.[key] IS NOT NULL AND q.state = 3 AND q.due_at > 0 AND q.due_at <= @clock
  UNION ALL
  SELECT w.id
  FROM (SELECT TOP (@most) id
        FROM {table} AS own WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
        WHERE state = 3 AND due_at > 0 AND due_at <= @clock
        ORDER BY due_at, priority DESC, id) AS w
)

-- name: catalog.exists
-- And the schema in which it is, or would be created: a session of the application may have another default
-- schema.
SELECT CASE WHEN OBJECT_ID(N'{catalog}', N'U') IS NULL THEN 0 ELSE 1 END AS present,
       COALESCE(OBJECT_SCHEMA_NAME(OBJECT_ID(N'{catalog}', N'U')), SCHEMA_NAME()) AS [schema],
       0 AS sharded,
       0 AS narrow

-- name: session.identity
-- The server creates tempdb at each start; any login may see it, except in Azure (5, 12), where a database sees itself
-- and master, and DB_ID() is not unique on the server.
SELECT CONCAT(@@SERVERNAME, N' ', DB_NAME(), N' ', DB_ID(), N' ', CONVERT(nvarchar(30), d.create_date, 126)) AS [database]
FROM sys.databases AS d
WHERE d.name = CASE WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 12) THEN DB_NAME() ELSE N'tempdb' END

-- name: catalog.lock
-- Until the transaction ends.
DECLARE @got int;
EXEC @got = sp_getapplock @Resource = N'tableq', @LockMode = N'Exclusive', @LockOwner = N'Transaction',
  @LockTimeout = 10000;
IF @got = -3 THROW 52004, N'a deadlock over a lock', 1;
IF @got < 0 THROW 52001, N'the lock of the catalogue was not to be had', 1;

-- fragment: in_states
-- Bit n of :states stands for the state n.
CAST(:states AS int) & POWER(2, q.state) <> 0

-- fragment: fits
-- What claim.filter looks for. Headers come as the JSON of one. Equal texts may differ in trailing blanks, so that
-- bytes are compared. Plain SQL may have written other errors than objects (5), of which JSON_VALUE is an error.
{in_states}
  AND (CAST(:older_than AS bigint) IS NULL
       OR COALESCE(q.finished_at, q.created_at) <= {clock} - CAST(:older_than AS bigint))
  AND (CAST(:group AS nvarchar(200)) IS NULL OR q.group_key = CAST(CAST(:group AS nvarchar(200)) AS varbinary(400)))
  AND (CAST(:key_prefix AS nvarchar(200)) IS NULL
       OR SUBSTRING(COALESCE(q.[key], q.past_key), 1, DATALENGTH(CAST(:key_prefix AS nvarchar(200))))
            = CAST(CAST(:key_prefix AS nvarchar(200)) AS varbinary(400)))
  AND (CAST(:error AS nvarchar(2000)) IS NULL
       OR CHARINDEX(CAST(:error AS nvarchar(2000)) COLLATE Latin1_General_BIN2,
                    (SELECT TOP (1) CASE WHEN e.type = 5 THEN JSON_VALUE(e.[value], '$.error') END
                     FROM OPENJSON(CASE WHEN ISJSON(q.errors) = 1 THEN q.errors END) AS e
                     ORDER BY TRY_CAST(e.[key] AS int) DESC)) > 0)
  AND (CAST(:header AS nvarchar(4000)) IS NULL
       OR EXISTS (SELECT 1
                  FROM OPENJSON(CASE WHEN ISJSON(q.headers) = 1 THEN q.headers END) AS h
                  INNER JOIN OPENJSON(CAST(:header AS nvarchar(4000))) AS w
                    ON CAST(w.[key] AS varbinary(max)) = CAST(h.[key] AS varbinary(max))
                    AND CAST(w.[value] AS varbinary(max)) = CAST(h.[value] AS varbinary(max))))

-- name: catalog.list
SELECT name, [identity], kind, layout, options, created_at FROM {catalog} ORDER BY name

-- name: catalog.find
SELECT name, [identity], kind, layout, options, created_at
FROM {catalog}
WHERE name = CAST(:name AS nvarchar(60))

-- name: catalog.queue
SELECT name, [identity], kind, layout, options, created_at,
       CASE WHEN OBJECT_ID(N'{table}') IS NULL THEN 0 ELSE 1 END AS present
FROM {catalog}
WHERE name = CAST(:name AS nvarchar(60))

-- name: catalog.insert
INSERT INTO {catalog} (name, [identity], kind, layout, options)
VALUES (CAST(:name AS nvarchar(60)), CAST(:identity AS bigint), CAST(:kind AS nvarchar(20)),
        CAST(:layout AS bigint), CAST(:options AS nvarchar(4000)))

-- name: catalog.remove
DELETE FROM {catalog} WHERE name = CAST(:name AS nvarchar(60))

-- name: catalog.migrator
-- Until the session ends.
DECLARE @got int;
EXEC @got = sp_getapplock @Resource = N'tableq migrate {catalog}', @LockMode = N'Exclusive', @LockOwner = N'Session',
  @LockTimeout = 0;
SELECT CASE WHEN @got >= 0 THEN 1 ELSE 0 END AS held

-- name: catalog.set_layout
UPDATE {catalog}
SET layout = CAST(:layout AS bigint)
OUTPUT 1 AS present
WHERE name = CAST(:name AS nvarchar(60))
  AND [identity] = CAST(:identity AS bigint)
  AND layout = CAST(:before AS bigint)

-- name: catalog.set_options
UPDATE {catalog}
SET options = CAST(:options AS nvarchar(4000))
OUTPUT 1 AS present
WHERE name = CAST(:name AS nvarchar(60))
  AND [identity] = CAST(:identity AS bigint)
  AND options = CAST(:before AS nvarchar(4000)) COLLATE Latin1_General_BIN2

-- name: table.exists
-- Also for a view or a procedure: no object of that name may exist.
SELECT CASE WHEN OBJECT_ID(N'{table}') IS NULL THEN 0 ELSE 1 END AS present

-- fragment: lock_each
-- In the order of the items. With a @wait of 0 a lock that is not free is passed over: `held` tells which were free.
DECLARE @got int;
DECLARE @what nvarchar(60);
DECLARE @next int;
DECLARE @locks TABLE (item int NOT NULL PRIMARY KEY, what nvarchar(60) NOT NULL, held int NOT NULL);
INSERT INTO @locks (item, what, held)
SELECT v.item, CONCAT(N'tableq ', v.[identity]), 0
FROM (VALUES {items: (:item, CAST(:identity AS bigint))}) AS v (item, [identity])
WHERE v.[identity] IS NOT NULL;
SET @next = (SELECT MIN(item) FROM @locks);
WHILE @next IS NOT NULL
BEGIN
  SET @what = (SELECT what FROM @locks WHERE item = @next);
  EXEC @got = sp_getapplock @Resource = @what, @LockMode = N'Exclusive', @LockOwner = N'Transaction',
    @LockTimeout = @wait;
  IF @got = -3 THROW 52004, N'a deadlock over a lock', 1;
  IF @got < 0 AND @wait > 0 THROW 52002, N'the lock of a queue was not to be had', 1;
  IF @got >= 0 UPDATE @locks SET held = 1 WHERE item = @next;
  SET @next = (SELECT MIN(item) FROM @locks WHERE item > @next);
END

-- name: queue.lock
-- Until the transaction ends: of a strict queue, or of groups.
DECLARE @wait int = 10000;
{lock_each}

-- name: queue.lock_briefly
-- The same, waiting for each lock only so long.
DECLARE @wait int = 100;
{lock_each}

-- name: queue.try_lock
-- The same without waiting.
DECLARE @wait int = 0;
{lock_each}
SELECT item, held FROM @locks

-- name: queue.alter
-- Only those with rights on the server see the locks of others. queue.drop has its own time-out.
SELECT CAST(NULL AS nvarchar(100)) AS sessions

-- name: queue.hidden
-- The catalogue shows it to users who may see the definition of the policy. Predicates of the kind 0 hide rows.
SELECT 1 AS severity, N'row level security is on' AS what,
       N'this user reads only the messages that a predicate lets it see' AS fix
WHERE EXISTS (
  SELECT 1
  FROM sys.security_predicates AS s
  JOIN sys.security_policies AS p ON p.object_id = s.object_id
  WHERE s.target_object_id = OBJECT_ID(N'{table}') AND s.predicate_type = 0 AND p.is_enabled = 1)

-- name: queue.drop
-- All others wait behind a lock that is waited for; so this waits briefly, and is tried again. The setting ends
-- with the inner batch.
EXEC sp_executesql N'SET LOCK_TIMEOUT 100; DROP TABLE {table}'

-- name: heap.enqueue fifo.enqueue lifo.enqueue
-- ORDER BY: ids are drawn in the order of the items, so the n-th lowest belongs to the n-th item.
{refuse_dropped}
INSERT INTO {table} WITH (ROWLOCK) (created_at, payload)
OUTPUT CAST(NULL AS bigint) AS item, inserted.id
SELECT COALESCE(v.created_at, t.clock), v.payload
FROM (VALUES {items: (:item, CAST(:payload AS varbinary(max)), CAST(:created_at AS bigint))})
  AS v (item, payload, created_at)
CROSS JOIN (SELECT {clock} AS clock) AS t
WHERE v.payload IS NOT NULL
ORDER BY v.item
OPTION (MAXDOP 1)

-- fragment: some_ids
-- Of up to :max messages.
FROM (SELECT TOP (CAST(:max AS bigint)) id
      FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)

-- fragment: delete_picked
)
DELETE FROM picked
OUTPUT deleted.id, deleted.created_at, CAST(NULL AS bigint) AS due_at, deleted.payload

-- name: heap.dequeue fifo.dequeue
{refuse_dropped}
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) id, created_at, payload
  FROM {table} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
  ORDER BY id
{delete_picked}

-- name: lifo.dequeue
{refuse_dropped}
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) id, created_at, payload
  FROM {table} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
  ORDER BY id DESC
{delete_picked}

-- name: fifo.dequeue_strict
-- Without READPAST a reader waits for the head of the queue, and continues from there.
{refuse_dropped}
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) id, created_at, payload
  FROM {table} WITH (UPDLOCK, ROWLOCK)
  ORDER BY id
{delete_picked}

-- name: lifo.dequeue_strict
{refuse_dropped}
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) id, created_at, payload
  FROM {table} WITH (UPDLOCK, ROWLOCK)
  ORDER BY id DESC
{delete_picked}

-- name: heap.peek fifo.peek
SELECT TOP (CAST(:max AS bigint)) id, created_at, CAST(NULL AS bigint) AS due_at, payload
FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
ORDER BY id

-- name: lifo.peek
SELECT TOP (CAST(:max AS bigint)) id, created_at, CAST(NULL AS bigint) AS due_at, payload
FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
ORDER BY id DESC

-- name: heap.purge fifo.purge lifo.purge
{refuse_dropped}
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) id
  FROM {table} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
  ORDER BY id
)
DELETE FROM picked
OUTPUT deleted.id

-- name: pending.purge
{refuse_dropped}
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) id
  FROM {table} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
  ORDER BY due_at, id
)
DELETE FROM picked
OUTPUT deleted.id

-- name: heap.stats fifo.stats lifo.stats
-- Each count stops at :max.
SELECT (SELECT COUNT_BIG(*)
        FROM (SELECT TOP (CAST(:max AS bigint)) id
              FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
              ORDER BY id) AS counted) AS waiting,
       CAST(0 AS bigint) AS delayed,
       (SELECT TOP (1) created_at
        FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
        ORDER BY id) AS oldest,
       {last_id} AS last_id,
       {clock} AS as_of

-- name: pending.enqueue
{refuse_dropped}
INSERT INTO {table} WITH (ROWLOCK) (created_at, due_at, payload)
OUTPUT CAST(NULL AS bigint) AS item, inserted.id
SELECT COALESCE(v.created_at, t.clock), COALESCE(v.due_at, t.clock + COALESCE(v.delay, 0)), v.payload
FROM (VALUES {items: (:item, CAST(:payload AS varbinary(max)), CAST(:created_at AS bigint),
                      CAST(:due_at AS bigint), CAST(:delay AS bigint))})
  AS v (item, payload, created_at, due_at, delay)
CROSS JOIN (SELECT {clock} AS clock) AS t
WHERE v.payload IS NOT NULL
ORDER BY v.item
OPTION (MAXDOP 1)

-- name: pending.dequeue
{refuse_dropped}
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) id, created_at, due_at, payload
  FROM {table} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
  WHERE due_at <= {clock}
  ORDER BY due_at, id
)
DELETE FROM picked
OUTPUT deleted.id, deleted.created_at, deleted.due_at, deleted.payload

-- name: pending.peek
SELECT TOP (CAST(:max AS bigint)) id, created_at, due_at, payload
FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
WHERE due_at <= {clock}
ORDER BY due_at, id

-- name: pending.stats
SELECT (SELECT COUNT_BIG(*) {some_ids}
        WHERE due_at <= t.clock
        ORDER BY due_at, id) AS counted) AS waiting,
       (SELECT COUNT_BIG(*) {some_ids}
        WHERE due_at > t.clock
        ORDER BY due_at, id) AS counted) AS delayed,
       (SELECT TOP (1) created_at
        FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
        WHERE due_at <= t.clock
        ORDER BY due_at, id) AS oldest,
       {last_id} AS last_id,
       t.clock AS as_of
FROM (SELECT {clock} AS clock) AS t

-- name: pending.next_due
SELECT CASE WHEN q.due_at > t.clock THEN q.due_at - t.clock ELSE 0 END AS delay
FROM (SELECT TOP (1) due_at FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) ORDER BY due_at, id) AS q
CROSS JOIN (SELECT {clock} AS clock) AS t

-- name: claim.enqueue
-- `fence` carries the item's number: a take reads only its upper half. Items whose key is held are ignored; of
-- several items with one key only the first is inserted. The read of a key waits for another's message with it and
-- keeps no lock; of two writers that found none, the unique index refuses the second one's message with error 2601,
-- and the call is repeated. HOLDLOCK would lock the gap up to the next key: its message could not be settled until
-- the transaction ends. LOOP JOIN: one seek for each key. A message with a group is held until claim.advance makes it
-- ready.
{refuse_dropped}
INSERT INTO {table} WITH (ROWLOCK)
  (state, priority, due_at, fence, created_at, [key], headers, payload, expires_at, max_attempts, retry, group_key{ready_at})
OUTPUT inserted.fence AS item, inserted.id
SELECT {new_state},
       COALESCE(v.priority, 0),
       {new_due_at},
       v.item,
       COALESCE(v.created_at, t.clock),
       v.[key],
       v.headers,
       v.payload,
       t.clock + v.ttl,
       v.max_attempts,
       v.retry,
       n.group_key{clock_of_new}
FROM (
  SELECT g.item, g.payload, g.priority, g.delay, g.due_at, g.[key], g.headers, g.created_at, g.ttl,
         g.max_attempts, g.retry, g.[group],
         ROW_NUMBER() OVER (PARTITION BY g.[key] ORDER BY g.item) AS turn
  FROM (VALUES {items: (:item, CAST(:payload AS varbinary(max)), CAST(:priority AS bigint),
                        CAST(:delay AS bigint), CAST(:due_at AS bigint),
                        CAST(CAST(:key AS nvarchar(200)) AS varbinary(400)),
                        CAST(:headers AS nvarchar(max)), CAST(:created_at AS bigint), CAST(:ttl AS bigint),
                        CAST(:max_attempts AS bigint), CAST(:retry AS nvarchar(1000)),
                        CAST(CAST(:group AS nvarchar(200)) AS varbinary(400)))})
    AS g (item, payload, priority, delay, due_at, [key], headers, created_at, ttl, max_attempts, retry, [group])
  WHERE g.payload IS NOT NULL
) AS v
CROSS JOIN (SELECT {clock} AS clock) AS t
CROSS APPLY (SELECT COALESCE(v.due_at, t.clock + v.delay) AS due_at, t.clock, v.[group] AS group_key) AS n
WHERE (v.[key] IS NULL OR v.turn = 1)
  AND NOT EXISTS (
    SELECT 1
    FROM {table} AS held WITH (ROWLOCK, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:key}))
    WHERE held.[key] = v.[key] AND held.[key] IS NOT NULL
  )
ORDER BY v.item
OPTION (LOOP JOIN, MAXDOP 1)

-- name: claim.find_key
SELECT v.item, held.id
FROM (VALUES {items: (:item, CAST(CAST(:key AS nvarchar(200)) AS varbinary(400)))}) AS v (item, [key])
INNER JOIN {table} AS held WITH (READCOMMITTED, ROWLOCK, FORCESEEK, INDEX ({table:key}))
  ON held.[key] = v.[key]
WHERE held.[key] IS NOT NULL
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.replace
-- Gives waiting messages the payload of later ones with their keys; with :postpone also their due times. Without
-- a due time a message with a group is held until claim.advance makes it ready. Two statements: the first one's
-- locks on the keys have ended before the second locks the rows, in the order of their ids. NOCOUNT ends with the
-- text: an enlisted session may count rows, and the first result would be the number of given items.
SET NOCOUNT ON;
{refuse_dropped}
DECLARE @given TABLE (item int, id bigint, [key] varbinary(400), payload varbinary(max), priority bigint,
  delay bigint, due_at bigint, headers nvarchar(max), ttl bigint, max_attempts bigint, retry nvarchar(1000));
INSERT INTO @given (item, id, [key], payload, priority, delay, due_at, headers, ttl, max_attempts, retry)
SELECT v.item, held.id, v.[key], v.payload, v.priority, v.delay, v.due_at, v.headers, v.ttl, v.max_attempts, v.retry
FROM (VALUES {items: (:item, CAST(CAST(:key AS nvarchar(200)) AS varbinary(400)),
                      CAST(:payload AS varbinary(max)), CAST(:priority AS bigint), CAST(:delay AS bigint),
                      CAST(:due_at AS bigint), CAST(:headers AS nvarchar(max)), CAST(:ttl AS bigint), CAST(:max_attempts AS bigint),
                      CAST(:retry AS nvarchar(1000)))})
  AS v (item, [key], payload, priority, delay, due_at, headers, ttl, max_attempts, retry)
INNER JOIN {table} AS held WITH (ROWLOCK, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:key}))
  ON held.[key] = v.[key]
WHERE v.payload IS NOT NULL AND held.[key] IS NOT NULL
OPTION (FORCE ORDER, LOOP JOIN);
UPDATE q
SET payload = v.payload, priority = COALESCE(v.priority, 0), headers = v.headers,
    max_attempts = v.max_attempts, retry = v.retry, attempts = 0, expires_at = t.clock + v.ttl,
    state = CASE WHEN t.postpone = 0 THEN q.state ELSE {postponed_state} END,
    due_at = CASE WHEN t.postpone = 0 THEN q.due_at ELSE {postponed_due_at} END{keep_or_set_ready_at}
OUTPUT v.item, inserted.id
FROM (SELECT g.item, g.id, g.[key], g.payload, g.priority, g.delay, g.due_at, g.headers, g.ttl, g.max_attempts, g.retry,
             ROW_NUMBER() OVER (PARTITION BY g.id ORDER BY g.item) AS turn
      FROM @given AS g) AS v
CROSS JOIN (SELECT CAST(:postpone AS bigint) AS postpone,
                   {clock} AS clock) AS t
CROSS APPLY (SELECT COALESCE(v.due_at, t.clock + v.delay) AS due_at, t.clock) AS n
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE v.turn = 1 AND q.[key] = v.[key]
  AND (q.state IN (0, 2) OR (q.state = 5 AND t.postpone = 0))
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.forget
{with_past}
DELETE q
OUTPUT 0 AS item, deleted.id
FROM {table} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
WHERE q.id IN (SELECT past.id FROM past)

-- name: claim.free
-- The same in queues that keep done messages: the key is free, the message stays.
{with_past}
UPDATE q
SET past_key = q.[key], [key] = NULL, due_at = 0
OUTPUT 0 AS item, inserted.id
FROM {table} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
WHERE q.id IN (SELECT past.id FROM past)

-- name: claim.take
-- The fence has a count in its upper half, so that it grows. Its lower half is the caller's random token, so that
-- the receipt of a take that was rolled back never matches a later take. Fence and attempts have bounds against
-- any value of plain SQL: an overflow would stop the take. A number over 2^31 is a decimal unless it is cast, and
-- its division would leave a fraction. With :guard nothing is taken while a delayed or expired message waits to
-- be promoted, because it might come first. A query before the read checks that: a condition of the read would
-- run for each ready message.
{refuse_dropped}
DECLARE @clock bigint = {clock};
DECLARE @max bigint = CAST(:max AS bigint);
IF CAST(:guard AS bigint) <> 0 AND EXISTS (
  SELECT 1 FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
  WHERE state = 1 AND due_at <= @clock
  UNION ALL
  SELECT 1 FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
  WHERE state = 2 AND due_at <= @clock
) SET @max = 0;
WITH picked AS (
  SELECT TOP (@max) id, state, priority, due_at, fence, attempts, created_at, claimed_at, [key], past_key,
         group_key, expires_at, headers, payload{ready_at}
  FROM {table} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, {seek_ready})
  WHERE {ready}
  ORDER BY {line}
)
UPDATE picked
SET state = 1,
    fence = (fence / CAST(4294967296 AS bigint) + 1) % CAST(2147483648 AS bigint)
              * CAST(4294967296 AS bigint) + CAST(:token AS bigint),
    attempts = CASE WHEN attempts < 0 THEN 1 WHEN attempts < 2147483647 THEN attempts + 1 ELSE attempts END,
    claimed_at = CAST(:claimed_at AS bigint),
    [key] = CASE WHEN CAST(:unkey AS bigint) = 0 THEN [key] END,
    past_key = CASE WHEN CAST(:unkey AS bigint) = 0 THEN past_key ELSE COALESCE([key], past_key) END,
    due_at = @clock + CAST(:lease AS bigint)
OUTPUT inserted.id, inserted.fence, inserted.attempts, inserted.priority, inserted.created_at,
       inserted.claimed_at, inserted.due_at AS lease_until,
       CAST(COALESCE(inserted.[key], inserted.past_key) AS nvarchar(200)) AS [key],
       CAST(inserted.group_key AS nvarchar(200)) AS group_key,
       CASE WHEN inserted.expires_at <= @clock THEN 1 ELSE 0 END AS expired,
       inserted.headers, inserted.payload, {since}

-- fragment: first_due
-- READPAST twice: a settlement locks the table first and the index second. These statements have the reverse order,
-- so waiting could deadlock.
SELECT TOP (CAST(:max AS bigint)) w.id
FROM (
  SELECT leased.id, leased.due_at
  FROM (SELECT TOP (CAST(:max AS bigint)) id, due_at
        FROM {table} AS own WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
        WHERE state = 1 AND due_at <= {clock}
        ORDER BY due_at, priority DESC, id) AS leased
  UNION ALL
  SELECT delayed.id, delayed.due_at
  FROM (SELECT TOP (CAST(:max AS bigint)) id, due_at
        FROM {table} AS own WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
        WHERE state = 2 AND due_at <= {clock}
        ORDER BY due_at, priority DESC, id) AS delayed
) AS w
ORDER BY w.due_at, w.id

-- name: claim.due
-- Of the messages that claim.promote would promote, those whose groups must be locked first.
SELECT q.id, CAST(q.group_key AS nvarchar(200)) AS group_key
FROM ({first_due}) AS due
CROSS JOIN (SELECT CAST(:max_attempts AS bigint) AS most, CAST(:regroup AS bigint) AS regroup,
                   CAST(:starts AS bigint) AS starts) AS t
INNER JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = due.id
WHERE q.group_key IS NOT NULL
  AND {moves_group}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.promote
{refuse_dropped}
WITH due AS (
  {first_due}
)
UPDATE q
SET state = {promoted_state},
    finished_at = {promoted_finished_at},
    errors = CASE WHEN q.state <> 1 THEN q.errors
      ELSE {errors_with_entry} END,
    due_at = 0{set_ready_at}
OUTPUT inserted.id, inserted.state
FROM due
CROSS JOIN (SELECT CAST(:max_attempts AS bigint) AS most, CAST(:regroup AS bigint) AS regroup,
                   CAST(:starts AS bigint) AS starts, {clock} AS clock) AS t
CROSS APPLY (SELECT N'{"at":' + CAST(t.clock AS nvarchar(20)) + N',"error":"lease expired"}' AS entry) AS e
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = due.id
CROSS APPLY (SELECT {earlier_errors} AS errors) AS h
WHERE CAST(:locked AS nvarchar(max)) IS NULL
  OR q.group_key IS NULL
  OR NOT {moves_group}
  OR q.id IN (SELECT CAST(g.value AS bigint) FROM OPENJSON(CONCAT(N'[', CAST(:locked AS nvarchar(max)), N']')) AS g)
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.complete
-- Settling statements wait for the row's lock, and check its current version: with READPAST any lock on the row
-- would make the lease look lost. Receipts are numbered by their ids, so that rows are locked in that order, and
-- two batches do not deadlock. Of two equal receipts the first has the effect.
DELETE q
OUTPUT v.item, deleted.id
FROM {receipts}
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE {receipt_held}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.keep
UPDATE q
SET {kept}
OUTPUT v.item, inserted.id
FROM {receipts}
CROSS JOIN (SELECT CAST(:window AS bigint) AS key_window, CAST(:strip AS bigint) AS strip,
                   {clock} AS clock) AS t
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE {receipt_held} AND (t.strip = 0 OR q.[key] IS NOT NULL)
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.keep_result
-- The same with what the handler returns; what it has said before is over.
UPDATE q
SET {kept}, result = v.result, progress = NULL
OUTPUT v.item, inserted.id
FROM (
  SELECT g.item, g.id, g.fence, g.result,
         ROW_NUMBER() OVER (PARTITION BY g.id, g.fence ORDER BY g.item) AS turn
  FROM (VALUES {items: (:item, CAST(:id AS bigint), CAST(:fence AS bigint), CAST(:result AS varbinary(max)))})
    AS g (item, id, fence, result)
  WHERE g.id IS NOT NULL
) AS v
CROSS JOIN (SELECT CAST(:window AS bigint) AS key_window, CAST(:strip AS bigint) AS strip,
                   {clock} AS clock) AS t
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE {receipt_held} AND (t.strip = 0 OR q.[key] IS NOT NULL)
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.progress
-- What handlers say of their messages. It waits for no lock: see claim.heartbeat.
UPDATE q
SET progress = N'{"done":' + CAST(v.done AS nvarchar(20)) + N',"at":' + CAST(t.clock AS nvarchar(20))
               + N',"note":"' + STRING_ESCAPE(v.note, 'json') + N'"}'
OUTPUT v.item, inserted.id
FROM (
  SELECT g.item, g.id, g.fence, g.done, g.note,
         ROW_NUMBER() OVER (PARTITION BY g.id, g.fence ORDER BY g.item) AS turn
  FROM (VALUES {items: (:item, CAST(:id AS bigint), CAST(:fence AS bigint), CAST(:done AS bigint),
                        CAST(:note AS nvarchar(max)))})
    AS g (item, id, fence, done, note)
  WHERE g.id IS NOT NULL
) AS v
CROSS JOIN (SELECT {clock} AS clock) AS t
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = v.id
WHERE {receipt_held}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.notes
SELECT v.item, q.id, q.progress
FROM (VALUES {items: (:item, CAST(:id AS bigint))}) AS v (item, id)
INNER JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = v.id
WHERE v.id IS NOT NULL AND q.progress IS NOT NULL
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.outcome
SELECT v.item, q.id, q.result
FROM (VALUES {items: (:item, CAST(:id AS bigint))}) AS v (item, id)
INNER JOIN {table} AS q WITH (READCOMMITTED, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE v.id IS NOT NULL AND q.result IS NOT NULL
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.fail
-- :final is 1 for a message that is given up, and 2 for one that expired before its attempt.
UPDATE q
SET state = {failed_state},
    attempts = {failed_attempts},
    due_at = {failed_due_at},
    finished_at = {failed_finished_at},
    errors = {errors_with_entry}{set_ready_at}
OUTPUT v.item, inserted.id, inserted.state
FROM (
  SELECT g.item, g.id, g.fence, g.error, g.delay, g.dice, g.final,
         ROW_NUMBER() OVER (PARTITION BY g.id, g.fence ORDER BY g.item) AS turn
  FROM (VALUES {items: (:item, CAST(:id AS bigint), CAST(:fence AS bigint),
                        CAST(:error AS nvarchar(max)), CAST(:delay AS bigint),
                        CAST(:dice AS bigint), CAST(:final AS bigint))})
    AS g (item, id, fence, error, delay, dice, final)
  WHERE g.id IS NOT NULL
) AS v
CROSS JOIN (SELECT CAST(:max_attempts AS bigint) AS max_attempts,
                   CAST(:policy AS nvarchar(1000)) AS policy,
                   {clock} AS clock) AS t
CROSS APPLY (SELECT N'{"at":' + CAST(t.clock AS nvarchar(20)) + N',"error":"'
                      + STRING_ESCAPE(v.error, 'json') + N'"}' AS entry) AS e
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
CROSS APPLY (SELECT {earlier_errors} AS errors,
                    COALESCE(CASE WHEN ISJSON(q.retry) = 1 THEN q.retry END, t.policy) AS rules) AS h
CROSS APPLY (SELECT COALESCE(q.max_attempts, t.max_attempts) AS most,
                    JSON_QUERY(h.rules, '$.after') AS after,
                    TRY_CAST(JSON_VALUE(h.rules, '$.jitter') AS float) AS jitter) AS p
CROSS APPLY (SELECT (SELECT TOP (1) CASE WHEN d.type = 2 THEN TRY_CAST(d.value AS float) END
                     FROM OPENJSON(CASE WHEN p.after LIKE N'[[]%' THEN p.after END) AS d
                     WHERE TRY_CAST(d.[key] AS int) < CASE WHEN q.attempts > 1 THEN q.attempts ELSE 1 END
                     ORDER BY TRY_CAST(d.[key] AS int) DESC) AS rest) AS r
CROSS APPLY (SELECT q.attempts, p.most, v.final, t.clock,
                    {retry_delay} AS delay) AS f
WHERE {receipt_held}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.release
UPDATE q
SET state = 0, due_at = 0, attempts = CASE WHEN q.attempts > 0 THEN q.attempts - 1 ELSE 0 END{set_ready_at}
OUTPUT v.item, inserted.id
FROM {receipts}
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE {receipt_held}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.extend
UPDATE q
SET due_at = t.due_at
OUTPUT v.item, inserted.id
FROM {receipts}
CROSS JOIN (SELECT {clock}
                     + CAST(:lease AS bigint) AS due_at) AS t
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE {receipt_held}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.peek
-- Due messages count as ready before they are promoted: the first :max of them by due time and id, as on other
-- databases. The index has equal due times by priority, so WITH TIES finds all of the last one's.
SELECT TOP (CAST(:max AS bigint)) {any_message}
FROM (
  SELECT * FROM (
    SELECT TOP (CAST(:max AS bigint)) {message_row}{ready_at}
    FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, {seek_ready})
    WHERE {ready}
    ORDER BY {line}
  ) AS ready
  UNION ALL
  SELECT {message_row}{ready_at}
  FROM (
    SELECT TOP (CAST(:max AS bigint)) b.id AS wanted
    FROM (
      SELECT id, due_at FROM (
        SELECT TOP (CAST(:max AS bigint)) WITH TIES id, due_at
        FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
        WHERE state = 1 AND due_at <= {clock}
        ORDER BY due_at
      ) AS leased
      UNION ALL
      SELECT id, due_at FROM (
        SELECT TOP (CAST(:max AS bigint)) WITH TIES id, due_at
        FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
        WHERE state = 2 AND due_at <= {clock}
        ORDER BY due_at
      ) AS delayed
    ) AS b
    ORDER BY b.due_at, b.id
  ) AS d
  INNER JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = d.wanted
  WHERE q.state IN (1, 2) AND q.due_at <= {clock}
) AS w
ORDER BY {line_with_due}

-- name: claim.list
SELECT TOP (CAST(:max AS bigint)) {message}
FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:done}))
WHERE state = CAST(:state AS tinyint) AND finished_at IS NOT NULL AND finished_at >= CAST(:after_at AS bigint)
  AND (finished_at > CAST(:after_at AS bigint) OR id > CAST(:after_id AS bigint))
ORDER BY finished_at, id

-- name: claim.list_ready
-- Messages of the same priority after the last one, and those of lower priorities: each is a range of the
-- index.
SELECT TOP (CAST(:max AS bigint)) {any_message}
FROM (
  SELECT * FROM (
    SELECT TOP (CAST(:max AS bigint)) {message_row}{ready_at}
    FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, {seek_ready})
    WHERE {ready} AND priority = CAST(:after_priority AS bigint)
      AND {after_last}
    ORDER BY {line}
  ) AS same
  UNION ALL
  SELECT * FROM (
    SELECT TOP (CAST(:max AS bigint)) {message_row}{ready_at}
    FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, {seek_ready})
    WHERE {ready} AND priority < CAST(:after_priority AS bigint)
    ORDER BY {line}
  ) AS below
) AS w
ORDER BY {line}

-- name: claim.list_held claim.list_waiting
-- Three ranges of the index: the last message's time and priority, its time and lower priorities, and later
-- times. Held messages have none.
SELECT TOP (CAST(:max AS bigint)) {message}
FROM (
  SELECT * FROM (
    SELECT TOP (CAST(:max AS bigint)) {message_row}
    FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
    WHERE state = CAST(:state AS tinyint) AND due_at = CAST(:after_at AS bigint)
      AND priority = CAST(:after_priority AS bigint) AND id > CAST(:after_id AS bigint)
    ORDER BY due_at, priority DESC, id
  ) AS same
  UNION ALL
  SELECT * FROM (
    SELECT TOP (CAST(:max AS bigint)) {message_row}
    FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
    WHERE state = CAST(:state AS tinyint) AND due_at = CAST(:after_at AS bigint)
      AND priority < CAST(:after_priority AS bigint)
    ORDER BY due_at, priority DESC, id
  ) AS below
  UNION ALL
  SELECT * FROM (
    SELECT TOP (CAST(:max AS bigint)) {message_row}
    FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
    WHERE state = CAST(:state AS tinyint) AND due_at > CAST(:after_at AS bigint)
    ORDER BY due_at, priority DESC, id
  ) AS later
) AS w
ORDER BY due_at, priority DESC, id

-- name: claim.get
SELECT v.item, {any_message}
FROM (VALUES {items: (:item, CAST(:id AS bigint))}) AS v (item, wanted)
INNER JOIN {table} AS q WITH (READCOMMITTED, ROWLOCK, FORCESEEK) ON q.id = v.wanted
WHERE v.wanted IS NOT NULL
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.groups
-- Groups of the first :max ready and :max held messages.
SELECT TOP (CAST(:groups AS bigint)) CAST(group_key AS nvarchar(200)) AS [group], COUNT_BIG(*) AS waiting,
       MIN(created_at) AS oldest
FROM (
  SELECT * FROM (
    SELECT TOP (CAST(:max AS bigint)) group_key, created_at
    FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, {seek_ready})
    WHERE {ready}
    ORDER BY {line}
  ) AS line_of_ready
  UNION ALL
  SELECT * FROM (
    SELECT TOP (CAST(:max AS bigint)) group_key, created_at
    FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
    WHERE state = 5 AND due_at = 0
    ORDER BY priority DESC, id
  ) AS line_of_held
) AS w
WHERE group_key IS NOT NULL
GROUP BY group_key
ORDER BY MIN(created_at), w.group_key

-- name: claim.find
-- Two statements: the first one's lock on the key has ended before the second waits for the row. If another message
-- takes the key over between them, in the transaction that ended the first, the answer is none.
DECLARE @id bigint = (
  SELECT id
  FROM {table} WITH (READCOMMITTED, ROWLOCK, FORCESEEK, INDEX ({table:key}))
  WHERE [key] = CAST(CAST(:key AS nvarchar(200)) AS varbinary(400)) AND [key] IS NOT NULL
);
SELECT {any_message}
FROM {table} WITH (READCOMMITTED, ROWLOCK, FORCESEEK)
WHERE id = @id AND [key] = CAST(CAST(:key AS nvarchar(200)) AS varbinary(400))
  AND (state <> 3 OR due_at > {clock})

-- name: claim.make_ready
-- Of delayed messages, as if they fell due now: see claim.promote.
{refuse_dropped}
UPDATE q
SET state = {rested_state}, due_at = 0{set_ready_at}
OUTPUT v.item, inserted.id, inserted.state
FROM {given_ids}
CROSS JOIN (SELECT CAST(:regroup AS bigint) AS regroup) AS t
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE v.turn = 1 AND q.state = 2
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.filter
-- Reads :scan messages after a place: those of one finished state (:finished) by the time at which they finished,
-- and all others by their ids, up to :until. Returns those that fit, and the last one that was read.
WITH seen AS (
  SELECT q.id, q.[at], CASE WHEN {fits} THEN 1 ELSE 0 END AS fits, ROW_NUMBER() OVER (ORDER BY q.[at], q.id) AS place,
         COUNT(*) OVER () AS number
  FROM (
    SELECT * FROM (
      SELECT TOP (CAST(:scan AS bigint)) CAST(0 AS bigint) AS [at], {message_row}
      FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
      WHERE CAST(:finished AS bigint) = 0
        AND id > CAST(:after_id AS bigint) AND id <= COALESCE(CAST(:until AS bigint), CAST(9223372036854775807 AS bigint))
      ORDER BY id
    ) AS all_states
    UNION ALL
    SELECT * FROM (
      SELECT TOP (CAST(:scan AS bigint)) finished_at AS [at], {message_row}
      FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:done}))
      WHERE CAST(:finished AS bigint) <> 0
        AND state = CAST(:finished AS tinyint) AND finished_at IS NOT NULL AND finished_at >= CAST(:after_at AS bigint)
        AND (finished_at > CAST(:after_at AS bigint) OR id > CAST(:after_id AS bigint))
        AND finished_at <= COALESCE(CAST(:until AS bigint), CAST(9223372036854775807 AS bigint))
      ORDER BY finished_at, id
    ) AS one_state
  ) AS q
)
SELECT TOP (CAST(:max AS bigint)) id, [at], fits, place,
       COALESCE(CAST(:until AS bigint), CASE WHEN CAST(:finished AS bigint) = 0 THEN {last_id} END, {clock}) AS until
FROM seen
WHERE fits = 1 OR place = number
ORDER BY place

-- name: claim.cancel
{refuse_dropped}
DELETE q
OUTPUT v.item, deleted.id
FROM {given_ids}
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE v.turn = 1 AND {in_states}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.set_priority
{refuse_dropped}
UPDATE q
SET priority = v.priority
OUTPUT v.item, inserted.id
FROM (
  SELECT g.item, g.id, g.priority, ROW_NUMBER() OVER (PARTITION BY g.id ORDER BY g.item) AS turn
  FROM (VALUES {items: (:item, CAST(:id AS bigint), CAST(:priority AS int))}) AS g (item, id, priority)
  WHERE g.id IS NOT NULL
) AS v
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE v.turn = 1 AND q.state IN (0, 2, 5)
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.heartbeat
-- As claim.extend, but it waits for no lock: READPAST skips a row that a transaction has locked, such as
-- that of a handler which has completed its message and not committed. Its lease stays unchanged.
UPDATE q
SET due_at = t.due_at
OUTPUT v.item, inserted.id
FROM {receipts}
CROSS JOIN (SELECT {clock}
                     + CAST(:lease AS bigint) AS due_at) AS t
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = v.id
WHERE {receipt_held}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.lost
-- READPAST skips a row that an open transaction changes: it is not lost yet. So a row that is missing may be locked or
-- gone, and a second look tells: under row versioning by the last committed version, otherwise by NOWAIT, which ends the
-- look at a locked row; then all that are missing count as kept until the next look. XACT_ABORT would end the
-- transaction then; both settings end with the text.
SET XACT_ABORT OFF;
SET NOCOUNT ON;
DECLARE @lost TABLE (item int, id bigint, missing bit);
INSERT INTO @lost (item, id, missing)
SELECT v.item, v.id, CASE WHEN q.id IS NULL THEN 1 ELSE 0 END
FROM (VALUES {items: (:item, CAST(:id AS bigint), CAST(:fence AS bigint))}) AS v (item, id, fence)
LEFT JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = v.id
WHERE v.id IS NOT NULL AND (q.id IS NULL OR q.state <> 1 OR q.fence <> v.fence)
OPTION (FORCE ORDER, LOOP JOIN);
DECLARE @kept TABLE (id bigint);
BEGIN TRY
  INSERT INTO @kept (id)
  SELECT q.id
  FROM @lost AS l
  INNER JOIN {table} AS q WITH (READCOMMITTED, ROWLOCK, FORCESEEK, NOWAIT) ON q.id = l.id
  WHERE l.missing = 1;
END TRY
BEGIN CATCH
  IF ERROR_NUMBER() <> 1222
    THROW;
  INSERT INTO @kept (id)
  SELECT id FROM @lost WHERE missing = 1;
END CATCH;
SELECT item, id FROM @lost WHERE id NOT IN (SELECT id FROM @kept)

-- name: claim.state_of
SELECT v.item, q.id, q.state
FROM (VALUES {items: (:item, CAST(:id AS bigint))}) AS v (item, id)
INNER JOIN {table} AS q WITH (READCOMMITTED, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE v.id IS NOT NULL
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.unseen
-- In a SNAPSHOT transaction (5): committed messages that the snapshot does not show.
SELECT v.item, q.id
FROM (VALUES {items: (:item, CAST(:id AS bigint))}) AS v (item, id)
INNER JOIN {table} AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE v.id IS NOT NULL
  AND EXISTS (SELECT 1 FROM sys.dm_exec_sessions AS s
              WHERE s.session_id = @@SPID AND s.transaction_isolation_level = 5)
  AND NOT EXISTS (SELECT 1 FROM {table} AS seen WHERE seen.id = v.id)
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.redrive
{refuse_dropped}
UPDATE q
SET state = {redriven_state}, attempts = 0, due_at = 0, finished_at = NULL, expires_at = NULL{set_ready_at}
OUTPUT v.item, inserted.id
FROM {given_ids}
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE v.turn = 1 AND q.state = 4
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.remove
{refuse_dropped}
DELETE q
OUTPUT v.item, deleted.id, deleted.state, deleted.priority, deleted.attempts, deleted.created_at,
       deleted.due_at, deleted.claimed_at, deleted.finished_at,
       CAST(COALESCE(deleted.[key], deleted.past_key) AS nvarchar(200)) AS [key],
       CAST(deleted.group_key AS nvarchar(200)) AS group_key, deleted.expires_at, deleted.headers,
       deleted.errors, deleted.payload, CASE WHEN deleted.[key] IS NULL THEN 0 ELSE 1 END AS holds_key,
       deleted.max_attempts, deleted.retry
FROM {given_ids}
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE v.turn = 1 AND {in_states}
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.adopt
-- Messages from another queue. A past_key is only shown and holds no key. A key that another transaction has
-- added since claim.find_key violates the index: a check here would need the right to read keys, which a user
-- that moves dead messages does not have. `fence` carries the item's number: a take reads only its upper half.
INSERT INTO {table} WITH (ROWLOCK) (priority, fence, created_at, [key], past_key, headers, errors, payload)
OUTPUT inserted.fence AS item, inserted.id
SELECT v.priority, v.item, v.created_at, v.[key], v.past_key, v.headers, v.errors, v.payload
FROM (
  SELECT g.item, g.payload, g.priority, g.created_at, g.[key], g.past_key, g.headers, g.errors
  FROM (VALUES {items: (:item, CAST(:payload AS varbinary(max)), CAST(:priority AS bigint),
                        CAST(:created_at AS bigint), CAST(CAST(:key AS nvarchar(200)) AS varbinary(400)),
                        CAST(CAST(:past_key AS nvarchar(200)) AS varbinary(400)),
                        CAST(:headers AS nvarchar(max)), CAST(:errors AS nvarchar(max)))})
    AS g (item, payload, priority, created_at, [key], past_key, headers, errors)
  WHERE g.payload IS NOT NULL
) AS v
ORDER BY v.item
OPTION (MAXDOP 1)

-- name: claim.restore
-- Messages of another database with all that they had. A key that another transaction has added since
-- claim.find_key violates the index. A delayed message of a group gets behind its group when it falls due: its fence
-- is negative. Else `fence` carries the item's number: a take reads only its upper half.
{refuse_dropped}
INSERT INTO {table} WITH (ROWLOCK)
  (state, priority, due_at, fence, attempts, created_at, finished_at, expires_at, max_attempts, retry, [key], past_key,
   headers, errors, group_key, payload{ready_at})
OUTPUT CASE WHEN inserted.fence < 0 THEN -1 - inserted.fence ELSE inserted.fence END AS item, inserted.id
SELECT v.state, v.priority, COALESCE(v.due_at, 0),
       CASE WHEN v.state = 2 AND v.[group] IS NOT NULL THEN -1 - v.item ELSE v.item END,
       v.attempts, v.created_at, v.finished_at, v.expires_at, v.max_attempts, v.retry, v.[key], v.past_key,
       v.headers, v.errors, v.[group], v.payload{clock_of_new}
FROM (
  SELECT g.item, g.payload, g.state, g.priority, g.due_at, g.attempts, g.created_at, g.finished_at, g.expires_at,
         g.max_attempts, g.retry, g.[key], g.past_key, g.headers, g.errors, g.[group]
  FROM (VALUES {items: (:item, CAST(:payload AS varbinary(max)), CAST(:state AS bigint), CAST(:priority AS bigint),
                        CAST(:due_at AS bigint), CAST(:attempts AS bigint), CAST(:created_at AS bigint),
                        CAST(:finished_at AS bigint), CAST(:expires_at AS bigint), CAST(:max_attempts AS bigint),
                        CAST(:retry AS nvarchar(1000)), CAST(CAST(:key AS nvarchar(200)) AS varbinary(400)),
                        CAST(CAST(:past_key AS nvarchar(200)) AS varbinary(400)), CAST(:headers AS nvarchar(max)),
                        CAST(:errors AS nvarchar(max)), CAST(CAST(:group AS nvarchar(200)) AS varbinary(400)))})
    AS g (item, payload, state, priority, due_at, attempts, created_at, finished_at, expires_at, max_attempts, retry,
          [key], past_key, headers, errors, [group])
  WHERE g.payload IS NOT NULL
) AS v
CROSS JOIN (SELECT {clock} AS clock) AS t
ORDER BY v.item
OPTION (MAXDOP 1)

-- name: claim.group_of
SELECT v.item, CAST(q.group_key AS nvarchar(200)) AS group_key
FROM (VALUES {items: (:item, CAST(:id AS bigint))}) AS v (item, id)
INNER JOIN {table} AS q WITH (READCOMMITTED, ROWLOCK, FORCESEEK) ON q.id = v.id
WHERE q.group_key IS NOT NULL
OPTION (FORCE ORDER, LOOP JOIN)

-- fragment: running_in_group
-- The messages of a group that run, or are ready to, and those that rest and hold the group. READCOMMITTED: under row
-- versioning the count waits for no open take, which may itself wait for the group, and misses no message that a release
-- moves in the index.
CROSS APPLY (
  SELECT COUNT_BIG(busy.id) AS number
  FROM {table} AS busy WITH (READCOMMITTED, ROWLOCK, FORCESEEK, INDEX ({table:group}))
  WHERE busy.group_key = v.[group] AND busy.group_key IS NOT NULL AND busy.state IN (0, 1)
) AS busy
CROSS APPLY (
  SELECT COUNT_BIG(rests.id) AS number
  FROM {table} AS rests WITH (READCOMMITTED, ROWLOCK, FORCESEEK, INDEX ({table:group}))
  WHERE t.hold = 1 AND rests.group_key = v.[group] AND rests.group_key IS NOT NULL AND rests.state = 2
) AS resting

-- name: claim.advance
-- Makes the next messages of a group ready, up to :limit at a time. With :hold messages that wait for their retry
-- count too. The groups must be locked, and each given once.
{refuse_dropped}
UPDATE q
SET state = 0{set_ready_at}
OUTPUT v.item, inserted.id
FROM (VALUES {items: (:item, CAST(CAST(:group AS nvarchar(200)) AS varbinary(400)))}) AS v (item, [group])
CROSS JOIN (SELECT CAST(:limit AS bigint) AS most, CAST(:hold AS bigint) AS hold) AS t
{running_in_group}
CROSS APPLY (SELECT busy.number + resting.number AS number) AS active
CROSS APPLY (
  SELECT TOP (CASE WHEN t.most > active.number THEN t.most - active.number ELSE 0 END) following.id
  FROM {table} AS following WITH (UPDLOCK, ROWLOCK, FORCESEEK, INDEX ({table:group}))
  WHERE following.group_key = v.[group] AND following.group_key IS NOT NULL AND following.state = 5
  ORDER BY following.id
) AS n
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, FORCESEEK) ON q.id = n.id
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.advance_limited
-- The same for groups with limits of their own: up to :starts messages become ready, and the next one waits until
-- :alarm_at. If more are ready than may run, the last of them are held again, but for those that a take has locked.
-- The limits of a group are in its own row, otherwise in that of all others, which has no name.
{refuse_dropped}
UPDATE q
SET state = {moved_state},
    due_at = CASE WHEN m.place <= m.starts THEN 0 WHEN v.alarm_at > t.clock THEN v.alarm_at ELSE t.clock END{set_place_in_line}
OUTPUT v.item, inserted.id, inserted.state, inserted.due_at
FROM (VALUES {items: (:item, CAST(CAST(:group AS nvarchar(200)) AS varbinary(400)), CAST(:starts AS bigint),
                      CAST(:alarm_at AS bigint))}) AS v (item, [group], starts, alarm_at)
CROSS JOIN (SELECT CAST(:limit AS bigint) AS most, CAST(:hold AS bigint) AS hold, {clock} AS clock) AS t
OUTER APPLY (
  SELECT TOP (1) l.running{weight_of_group}
  FROM {quotas} AS l WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK)
  WHERE l.queue = CAST(:queue AS nvarchar(60)) AND l.name IN (v.[group], CAST(N'' AS varbinary(400)))
  ORDER BY DATALENGTH(l.name) DESC
) AS own
{running_in_group}
CROSS APPLY (SELECT COALESCE(own.running, t.most) - busy.number - resting.number AS free,
                    v.starts + CASE WHEN v.alarm_at IS NULL THEN 0 ELSE 1 END AS wanted) AS room
CROSS APPLY (
  SELECT first.id, first.place, v.starts
  FROM (
    SELECT TOP (CASE WHEN room.free > room.wanted THEN room.wanted WHEN room.free > 0 THEN room.free ELSE 0 END)
           following.id, ROW_NUMBER() OVER (ORDER BY following.id) AS place
    FROM {table} AS following WITH (UPDLOCK, ROWLOCK, FORCESEEK, INDEX ({table:group}))
    WHERE following.group_key = v.[group] AND following.group_key IS NOT NULL AND following.state = 5
    ORDER BY following.id
  ) AS first
  UNION ALL
  SELECT surplus.id, CAST(0 AS bigint) AS place, v.starts
  FROM (
    SELECT TOP (CASE WHEN room.free < 0 THEN - room.free ELSE 0 END) spare.id
    FROM {table} AS spare WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:group}))
    WHERE spare.group_key = v.[group] AND spare.group_key IS NOT NULL AND spare.state = 0
    ORDER BY spare.id DESC
  ) AS surplus
) AS m
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = m.id
{front_of_line}
WHERE (m.place = 0 AND q.state = 0) OR (m.place > 0 AND q.state = 5)
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.tokens
SELECT v.item, l.rate, l.burst, s.full_at, a.id AS alarm, a.due_at AS alarm_at, {clock} AS clock
FROM (VALUES {items: (:item, CAST(CAST(:group AS nvarchar(200)) AS varbinary(400)))}) AS v (item, [group])
OUTER APPLY (
  SELECT TOP (1) rate, burst
  FROM {quotas} WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK)
  WHERE queue = CAST(:queue AS nvarchar(60)) AND name IN (v.[group], CAST(N'' AS varbinary(400)))
  ORDER BY DATALENGTH(name) DESC
) AS l
LEFT JOIN {starts} AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK)
  ON s.queue = CAST(:queue AS nvarchar(60)) AND s.name = v.[group]
LEFT JOIN {table} AS a WITH (READCOMMITTED, ROWLOCK, FORCESEEK)
  ON a.id = s.alarm AND a.state = 2 AND a.due_at = s.alarm_at
WHERE v.[group] IS NOT NULL AND (l.rate IS NOT NULL OR a.id IS NOT NULL)
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.hold
-- Messages that would become ready, or that wait for a start, wait for claim.advance_limited. One that another
-- transaction has locked is about to be promoted, and then to advance its group.
{refuse_dropped}
UPDATE q
SET state = 5, due_at = 0
OUTPUT v.item, inserted.id
FROM {given_ids}
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = v.id
WHERE v.turn = 1 AND q.state IN (0, 2) AND q.group_key IS NOT NULL
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.next_groups
-- One seek for each group, however many messages it has.
WITH found AS (
  SELECT firsts.group_key, firsts.place
  FROM (SELECT TOP (1) own.group_key, CAST(1 AS bigint) AS place
        FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:group}))
        WHERE own.group_key > CAST(CAST(:after AS nvarchar(200)) AS varbinary(400)) AND own.group_key IS NOT NULL
        ORDER BY own.group_key) AS firsts
  UNION ALL
  SELECT later.group_key, later.place
  FROM (SELECT own.group_key, f.place + 1 AS place, ROW_NUMBER() OVER (ORDER BY own.group_key) AS turn
        FROM found AS f
        INNER JOIN {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:group}))
          ON own.group_key > f.group_key AND own.group_key IS NOT NULL
        WHERE f.place < CAST(:max AS bigint)) AS later
  WHERE later.turn = 1
)
SELECT CAST(f.group_key AS nvarchar(200)) AS group_key
FROM found AS f
OPTION (MAXRECURSION 1000)

-- name: claim.purge
{refuse_dropped}
-- READPAST twice, as in claim.promote: a settlement locks the row first and the index second.
WITH picked AS (
  SELECT TOP (CAST(:max AS bigint)) id
  FROM {table} AS own WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK, INDEX ({table:done}))
  WHERE state = CAST(:state AS tinyint) AND finished_at IS NOT NULL
    AND finished_at <= {clock}
                       - CAST(:older_than AS bigint)
  ORDER BY finished_at, id
)
DELETE q
OUTPUT deleted.id
FROM picked
INNER JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id = picked.id
OPTION (FORCE ORDER, LOOP JOIN)

-- name: claim.stats
-- Each count stops at :max.
SELECT ready.number + expired.number + due.number AS ready,
       expired.number + due.number AS due,
       (SELECT COUNT_BIG(*) {some_ids}
        WHERE state = 2 AND due_at > t.clock
        ORDER BY due_at, priority DESC, id) AS counted) AS delayed,
       (SELECT COUNT_BIG(*) {some_ids}
        WHERE state = 1 AND due_at > t.clock
        ORDER BY due_at, priority DESC, id) AS counted) AS leased,
       (SELECT COUNT_BIG(*) {some_ids}
        WHERE state = 5 AND due_at = 0
        ORDER BY priority DESC, id) AS counted) AS held,
       (SELECT COUNT_BIG(*) {some_ids}
        WHERE state = 3
        ORDER BY due_at, priority DESC, id) AS counted) AS done,
       (SELECT COUNT_BIG(*) {some_ids}
        WHERE state = 4
        ORDER BY due_at, priority DESC, id) AS counted) AS dead,
       (SELECT created_at
        FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE id = (SELECT MIN(l.id)
                    FROM (VALUES (ready.lowest), (expired.lowest), (due.lowest)) AS l (id))) AS oldest,
       {last_id} AS last_id,
       t.clock AS as_of
FROM (SELECT {clock} AS clock) AS t
CROSS APPLY (SELECT COUNT_BIG(*) AS number, MIN(id) AS lowest
             FROM (SELECT TOP (CAST(:max AS bigint)) id
                   FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, {seek_ready})
                   WHERE {ready}
                   ORDER BY {line}) AS counted) AS ready
CROSS APPLY (SELECT COUNT_BIG(*) AS number, MIN(id) AS lowest {some_ids}
             WHERE state = 1 AND due_at <= t.clock
             ORDER BY due_at, priority DESC, id) AS counted) AS expired
CROSS APPLY (SELECT COUNT_BIG(*) AS number, MIN(id) AS lowest {some_ids}
             WHERE state = 2 AND due_at <= t.clock
             ORDER BY due_at, priority DESC, id) AS counted) AS due

-- name: claim.letters
-- Of a dead-letter queue. Headers are stored without blanks, and a quote in a value has a backslash before it: only
-- the header itself has this text. `source` has no character that JSON escapes.
SELECT COUNT_BIG(CASE WHEN CHARINDEX(CONCAT(N'"tableq-source":"', CAST(:source AS nvarchar(60)), N'"'),
                                     headers COLLATE Latin1_General_BIN2) > 0
                      THEN 1 END) AS letters,
       COUNT_BIG(*) AS seen
FROM (SELECT TOP (CAST(:max AS bigint)) headers
      FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, {seek_ready})
      WHERE {ready}
      ORDER BY {line}) AS looked_at

-- name: claim.next_due
SELECT TOP (1) CASE WHEN w.due_at > t.clock THEN w.due_at - t.clock ELSE 0 END AS delay
FROM (
  SELECT due_at FROM (
    SELECT TOP (1) due_at
    FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
    WHERE state = 1
    ORDER BY due_at
  ) AS leased
  UNION ALL
  SELECT due_at FROM (
    SELECT TOP (1) due_at
    FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)
    WHERE state = 2
    ORDER BY due_at
  ) AS delayed
) AS w
CROSS JOIN (SELECT {clock} AS clock) AS t
ORDER BY w.due_at

-- name: limits.read limits.ask
-- READUNCOMMITTED: an enqueue must not wait for a reader's transaction that has taken tokens. The result is used
-- for less than a second, and readers read again under the lock. The identity is read as committed: a handle
-- whose queue was dropped never becomes valid again. With these hints the rows are the latest ones also in a transaction
-- of the isolation level SNAPSHOT.
SELECT c.[identity], c.kind, l.paused, l.capacity, l.rate, l.burst, l.concurrency, c.options,
       1 AS latest
FROM {catalog} AS c WITH (READCOMMITTED)
LEFT JOIN {limits} AS l WITH (READUNCOMMITTED) ON l.queue = c.name
WHERE c.name = CAST(:queue AS nvarchar(60))

-- name: limits.lock limits.held
-- UPDLOCK holds until the transaction ends, so that readers of a limited queue run one after the other.
SELECT paused, rate, burst, concurrency, tokens, refilled_at,
       {clock} AS clock
FROM {limits} WITH (UPDLOCK, ROWLOCK)
WHERE queue = CAST(:queue AS nvarchar(60))

-- name: limits.spend
UPDATE {limits} WITH (ROWLOCK)
SET tokens = CAST(:tokens AS bigint), refilled_at = CAST(:refilled_at AS bigint)
WHERE queue = CAST(:queue AS nvarchar(60))

-- fragment: add_limits
-- Without any, unless the queue has a row already.
INSERT INTO {limits} WITH (ROWLOCK) (queue)
SELECT name
FROM {catalog}
WHERE name = CAST(:queue AS nvarchar(60))
  AND NOT EXISTS (
    SELECT 1
    FROM {limits} WITH (UPDLOCK, HOLDLOCK, ROWLOCK)
    WHERE queue = CAST(:queue AS nvarchar(60))
  );

-- name: limits.pause
{add_limits}
UPDATE {limits} WITH (ROWLOCK) SET paused = CAST(:paused AS bigint) WHERE queue = CAST(:queue AS nvarchar(60))

-- name: limits.set
-- A new rate begins with a full burst. A rate that replaces another keeps the tokens.
{add_limits}
UPDATE {limits} WITH (ROWLOCK)
SET capacity = CAST(:capacity AS bigint),
    rate = CAST(:rate AS bigint),
    burst = CAST(:burst AS bigint),
    concurrency = CAST(:concurrency AS bigint),
    tokens = CASE WHEN rate IS NOT NULL AND tokens < CAST(:tokens AS bigint) THEN tokens
                  ELSE CAST(:tokens AS bigint) END,
    refilled_at = CASE WHEN rate IS NOT NULL THEN refilled_at
                       ELSE {clock} END
WHERE queue = CAST(:queue AS nvarchar(60))

-- name: limits.remove
DELETE FROM {limits} WITH (ROWLOCK) WHERE queue = CAST(:queue AS nvarchar(60))

-- name: group.list
-- By the bytes of the column: `name` alone would be the text of the row, which sorts by a collation.
SELECT TOP (CAST(:max AS bigint)) CAST(l.name AS nvarchar(200)) AS name, l.running, l.rate, l.burst, l.weight, l.changes,
       l.applied
FROM {quotas} AS l WITH (READCOMMITTEDLOCK)
WHERE l.queue = CAST(:queue AS nvarchar(60)) AND l.name >= CAST(CAST(:first AS nvarchar(200)) AS varbinary(400))
ORDER BY l.name

-- name: group.others
SELECT COALESCE(MAX(CASE WHEN COALESCE(l.running, l.rate, l.burst, l.weight) IS NOT NULL THEN 1 ELSE 0 END), 0) AS limited,
       COALESCE(MAX(CASE WHEN l.rate IS NOT NULL THEN 1 ELSE 0 END), 0) AS rates
FROM {quotas} AS l WITH (READCOMMITTEDLOCK)
WHERE l.queue = CAST(:queue AS nvarchar(60))
  AND (CAST(:name AS nvarchar(200)) IS NULL OR l.name <> CAST(CAST(:name AS nvarchar(200)) AS varbinary(400)))

-- name: group.remove
DELETE FROM {quotas} WITH (ROWLOCK)
WHERE queue = CAST(:queue AS nvarchar(60)) AND name = CAST(CAST(:name AS nvarchar(200)) AS varbinary(400))

-- name: group.remove_all
DELETE FROM {quotas} WITH (ROWLOCK)
WHERE queue = CAST(:queue AS nvarchar(60))

-- name: group.insert
INSERT INTO {quotas} WITH (ROWLOCK) (queue, name, running, rate, burst, weight, changes)
VALUES (CAST(:queue AS nvarchar(60)), CAST(CAST(:name AS nvarchar(200)) AS varbinary(400)), CAST(:running AS bigint),
        CAST(:rate AS bigint), CAST(:burst AS bigint), CAST(:weight AS bigint), CAST(:changes AS bigint))

-- name: group.apply
UPDATE {quotas} WITH (ROWLOCK)
SET applied = CAST(:changes AS bigint)
WHERE queue = CAST(:queue AS nvarchar(60)) AND name = CAST(N'' AS varbinary(400)) AND changes = CAST(:changes AS bigint)

-- name: group.start
-- The groups are locked: nobody else inserts or changes their rows. The items are in a table, because each parameter
-- may stand once.
SET NOCOUNT ON;
DECLARE @given TABLE (item int, name varbinary(400), full_at bigint, alarm bigint, alarm_at bigint);
INSERT INTO @given (item, name, full_at, alarm, alarm_at)
SELECT v.item, v.[group], v.full_at, v.alarm, v.alarm_at
FROM (VALUES {items: (:item, CAST(CAST(:group AS nvarchar(200)) AS varbinary(400)), CAST(:full_at AS bigint),
                      CAST(:alarm AS bigint), CAST(:alarm_at AS bigint))}) AS v (item, [group], full_at, alarm, alarm_at)
WHERE v.[group] IS NOT NULL;
UPDATE s
SET full_at = v.full_at, alarm = v.alarm, alarm_at = v.alarm_at
FROM @given AS v
INNER JOIN {starts} AS s WITH (UPDLOCK, ROWLOCK, FORCESEEK)
  ON s.queue = CAST(:queue AS nvarchar(60)) AND s.name = v.name
OPTION (FORCE ORDER, LOOP JOIN);
INSERT INTO {starts} WITH (ROWLOCK) (queue, name, full_at, alarm, alarm_at)
SELECT CAST(:queue AS nvarchar(60)), v.name, v.full_at, v.alarm, v.alarm_at
FROM @given AS v
WHERE NOT EXISTS (
    SELECT 1
    FROM {starts} AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK)
    WHERE s.queue = CAST(:queue AS nvarchar(60)) AND s.name = v.name
  )

-- name: group.forget
-- A row that another transaction has locked is in use.
WITH old AS (
  SELECT TOP (CASE WHEN CAST(:all AS bigint) = 1 THEN CAST(2147483647 AS bigint) ELSE CAST(:max AS bigint) END) name
  FROM {starts} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
  WHERE queue = CAST(:queue AS nvarchar(60))
    AND (CAST(:all AS bigint) = 1 OR full_at <= {clock} * 1000)
)
DELETE FROM old
OUTPUT 1 AS present

-- name: group.late
-- Groups whose next start is later than their rate allows, because the clock was set back.
SELECT TOP (CAST(:max AS bigint)) CAST(s.name AS nvarchar(200)) AS group_key
FROM {starts} AS s WITH (READCOMMITTEDLOCK, ROWLOCK, READPAST, FORCESEEK)
CROSS APPLY (
  SELECT TOP (1) rate
  FROM {quotas} WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK)
  WHERE queue = CAST(:queue AS nvarchar(60)) AND name IN (s.name, CAST(N'' AS varbinary(400)))
  ORDER BY DATALENGTH(name) DESC
) AS l
WHERE s.queue = CAST(:queue AS nvarchar(60)) AND s.name > CAST(CAST(:first AS nvarchar(200)) AS varbinary(400))
  AND s.alarm_at > {clock} + 2 + 1000000000 / l.rate
ORDER BY s.name

-- name: schedules.due
-- Those that are not computed yet come first. A rule that another transaction changes is left to it.
SELECT TOP (CAST(:max AS bigint))
       s.name, s.queue, s.cron, s.every_ms AS every, s.zone, s.catch_up, s.latest_ms AS latest, s.due_at AS due,
       s.problem, {clock} AS clock
FROM {schedules} AS s WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE s.enabled = 1
ORDER BY COALESCE(s.due_at, 0), s.name

-- name: schedules.fire
-- Once for each time: the due time is compared in the transaction of the message. Another process that is about to
-- do the same is not waited for.
UPDATE {schedules} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
SET due_at = CAST(:next AS bigint), last_at = COALESCE(CAST(:last AS bigint), last_at),
    problem = CAST(:problem AS nvarchar(400)), enabled = 1 - CAST(:disable AS bigint)
OUTPUT inserted.payload, inserted.headers, inserted.[key], inserted.group_key AS [group], inserted.priority,
       inserted.skip_if_running AS skip
WHERE name = CAST(:name AS nvarchar(100))
  AND enabled = 1
  AND queue = CAST(:queue AS nvarchar(60))
  AND zone = CAST(:zone AS nvarchar(100))
  AND EXISTS (SELECT cron, every_ms, due_at
              INTERSECT
              SELECT CAST(:cron AS nvarchar(400)), CAST(:every AS bigint), CAST(:due AS bigint))

-- fragment: rules
SELECT s.name, s.queue, s.cron, s.every_ms AS every, s.zone, s.catch_up, s.latest_ms AS latest, s.due_at AS due,
       s.problem, {clock} AS clock, s.payload, s.headers, s.[key], s.group_key AS [group], s.priority,
       s.skip_if_running AS skip, s.owner, s.enabled, s.last_at AS last, c.kind
FROM {schedules} AS s WITH (READCOMMITTED)
LEFT JOIN {catalog} AS c WITH (READCOMMITTED) ON c.name = s.queue

-- name: schedules.list
-- All of them without a name. Two queries, for OR would read all rows to find one.
{rules}
WHERE s.name = CAST(:name AS nvarchar(100))
UNION ALL
{rules}
WHERE CAST(:name AS nvarchar(100)) = N''
ORDER BY name

-- name: schedules.remove
DELETE FROM {schedules} WITH (ROWLOCK)
OUTPUT deleted.name, deleted.queue, deleted.cron, deleted.every_ms AS every, deleted.zone, deleted.catch_up,
       deleted.latest_ms AS latest, deleted.due_at AS due, deleted.problem, {clock} AS clock, deleted.payload,
       deleted.headers, deleted.[key], deleted.group_key AS [group], deleted.priority,
       deleted.skip_if_running AS skip, deleted.owner, deleted.enabled, deleted.last_at AS last,
       CAST(NULL AS nvarchar(20)) AS kind
WHERE name = CAST(:name AS nvarchar(100))

-- name: schedules.insert
INSERT INTO {schedules} WITH (ROWLOCK)
  (name, owner, queue, cron, every_ms, zone, payload, headers, [key], group_key, priority, catch_up, latest_ms,
   skip_if_running, enabled, last_at, due_at)
VALUES (CAST(:name AS nvarchar(100)), CAST(:owner AS nvarchar(100)), CAST(:queue AS nvarchar(60)),
        CAST(:cron AS nvarchar(400)), CAST(:every AS bigint), CAST(:zone AS nvarchar(100)),
        CAST(:payload AS varbinary(max)), CAST(:headers AS nvarchar(max)), CAST(:key AS nvarchar(200)),
        CAST(:group AS nvarchar(200)), CAST(:priority AS bigint), CAST(:catch_up AS bigint),
        CAST(:latest AS bigint), CAST(:skip AS bigint), CAST(:enabled AS bigint), CAST(:last AS bigint),
        CAST(:due AS bigint))

-- name: queue.count
-- If the range from the first to the last id is small enough, its length is the result: two seeks. Otherwise, and in
-- a pending queue, which is not stored in the order of ids, the rows are counted.
IF COL_LENGTH(N'{table}', N'due_at') IS NOT NULL
  SELECT COUNT_BIG(*) AS number
  FROM (SELECT TOP (CAST(:max AS bigint)) id FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)) AS rest;
ELSE
  SELECT CASE WHEN ids.span <= CAST(:enough AS bigint) THEN CAST(ids.span AS bigint)
              ELSE (SELECT COUNT_BIG(*)
                    FROM (SELECT TOP (CAST(:max AS bigint)) id
                          FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)) AS rest)
              END AS number
  FROM (SELECT COALESCE(CAST((SELECT MAX(id) FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK))
                                 AS decimal(20, 0))
                          - (SELECT MIN(id) FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK))
                          + 1, 0) AS span) AS ids

-- name: claim.count
SELECT CASE WHEN ids.span <= CAST(:enough AS bigint) THEN CAST(ids.span AS bigint)
            ELSE (SELECT COUNT_BIG(*) {some_ids}
                  WHERE state = 0) AS ready)
               + (SELECT COUNT_BIG(*) {some_ids}
                  WHERE state = 1) AS leased)
               + (SELECT COUNT_BIG(*) {some_ids}
                  WHERE state = 2) AS delayed)
               + (SELECT COUNT_BIG(*) {some_ids}
                  WHERE state = 5) AS held)
            END AS number
FROM (SELECT COALESCE(CAST((SELECT MAX(id) FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK))
                               AS decimal(20, 0))
                        - (SELECT MIN(id) FROM {table} AS own WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK))
                        + 1, 0) AS span) AS ids

-- name: claim.leased
-- A lease whose settlement is not committed may come back, and counts until then: under row versioning it is read,
-- and READPAST would let too many run. Without row versioning the read would wait for the settlement, while the lock
-- of the limits keeps all readers out. NOWAIT: instead of waiting the answer is that no lease is free, and the take is
-- repeated later. XACT_ABORT would end the transaction then; the setting ends with the text.
SET XACT_ABORT OFF;
DECLARE @number bigint = CAST(:max AS bigint);
BEGIN TRY
  SET @number = (
    SELECT COUNT_BIG(*)
    FROM (
      SELECT TOP (CAST(:max AS bigint)) id
      FROM {table} WITH (READCOMMITTED, ROWLOCK, FORCESEEK, NOWAIT)
      WHERE state = 1 AND due_at > {clock}
    ) AS leases
  );
END TRY
BEGIN CATCH
  IF ERROR_NUMBER() <> 1222
    THROW;
END CATCH;
SELECT @number AS number

-- name: doctor.database
-- One row for each check. It needs no right: a database and a session may always query themselves.
SELECT checked.severity, checked.what,
       CASE WHEN checked.severity = 0 THEN N'' ELSE checked.fix END AS fix
FROM (
  SELECT CASE WHEN s.edition IN (5, 8, 12) OR s.major >= 13 THEN 0 ELSE 2 END AS severity,
         N'SQL Server ' + s.version AS what,
         N'tableq needs SQL Server 2016 or later, or Azure SQL' AS fix
  FROM (SELECT CAST(SERVERPROPERTY('EngineEdition') AS int) AS edition,
               CAST(SERVERPROPERTY('ProductMajorVersion') AS int) AS major,
               CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)) COLLATE DATABASE_DEFAULT
                 AS version) AS s
  UNION ALL
  SELECT CASE WHEN d.compatibility_level >= 130 THEN 0 ELSE 2 END,
         N'the compatibility level is ' + CAST(d.compatibility_level AS nvarchar(10)),
         N'ALTER DATABASE CURRENT SET COMPATIBILITY_LEVEL = 130, or higher'
  FROM sys.databases AS d
  WHERE d.name = DB_NAME()
  UNION ALL
  SELECT CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(60)) = N'READ_WRITE'
              THEN 0 ELSE 2 END,
         CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(60)) = N'READ_WRITE'
              THEN N'the database takes writes' ELSE N'the database is read only here' END,
         N'connect to the primary replica, or set the database to READ_WRITE'
  UNION ALL
  SELECT CASE WHEN s.transaction_isolation_level = 2 THEN 0 ELSE 2 END,
         N'the session is at isolation level '
           + CASE s.transaction_isolation_level WHEN 1 THEN N'read uncommitted' WHEN 2 THEN N'read committed'
               WHEN 3 THEN N'repeatable read' WHEN 4 THEN N'serializable' WHEN 5 THEN N'snapshot'
               ELSE N'unspecified' END,
         N'look for a pooler or a trigger that changes it: tableq sets its sessions to read committed'
  FROM sys.dm_exec_sessions AS s
  WHERE s.session_id = @@SPID
  UNION ALL
  SELECT 0,
         N'read committed snapshot is ' + CASE WHEN d.is_read_committed_snapshot_on = 1 THEN N'on'
                                               ELSE N'off' END
           + N', snapshot isolation is ' + CASE d.snapshot_isolation_state WHEN 0 THEN N'off'
                                                WHEN 1 THEN N'on' ELSE N'being switched' END,
         N''
  FROM sys.databases AS d
  WHERE d.name = DB_NAME()
  UNION ALL
  SELECT CASE WHEN d.delayed_durability = 2 THEN 1 ELSE 0 END,
         N'delayed durability is ' + CASE d.delayed_durability WHEN 0 THEN N'disabled'
                                          WHEN 1 THEN N'allowed' ELSE N'forced' END,
         N'a crash can lose messages that were reported as stored: set DELAYED_DURABILITY to DISABLED'
  FROM sys.databases AS d
  WHERE d.name = DB_NAME()
) AS checked

-- name: doctor.queue
-- Each index is compared as one line: filters without blanks, brackets and parentheses, because the server prints
-- those differently. Names in the system's tables may have another collation than the database.
WITH wanted (kind, label, shape) AS (
  SELECT w.kind, w.label, w.shape
  FROM (VALUES
    (N'heap', N'the primary key', N'clustered unique (id)'),
    (N'fifo', N'the primary key', N'clustered unique (id)'),
    (N'lifo', N'the primary key', N'clustered unique (id)'),
    (N'pending', N'the primary key', N'clustered unique (due_at, id)'),
    (N'claim', N'the primary key', N'clustered unique (id)'),
    (N'claim', N'index {table:next}', N'(state, due_at, priority DESC, id)'),
    (N'claim', N'index {table:done}', N'(state, finished_at, id) where finished_atISNOTNULL'),
    (N'claim', N'index {table:group}', N'(group_key, state, id) where group_keyISNOTNULL'),
    (N'claim', N'index {table:key}', N'unique (key) where keyISNOTNULL'){index_of_turns}
  ) AS w (kind, label, shape)
  WHERE w.kind = CAST(:kind AS nvarchar(20))
),
present (label, shape, name, is_disabled, allow_row_locks, allow_page_locks, live, pages) AS (
  SELECT CASE WHEN i.is_primary_key = 1 THEN N'the primary key'
              ELSE N'index ' + QUOTENAME(i.name) COLLATE DATABASE_DEFAULT END,
         CASE WHEN i.type = 1 THEN N'clustered ' ELSE N'' END
           + CASE WHEN i.is_unique = 1 THEN N'unique ' ELSE N'' END
           + N'(' + COALESCE(STUFF((SELECT N', ' + c.name COLLATE DATABASE_DEFAULT
                                  + CASE WHEN k.is_descending_key = 1 THEN N' DESC' ELSE N'' END
                           FROM sys.index_columns AS k
                           INNER JOIN sys.columns AS c
                             ON c.object_id = k.object_id AND c.column_id = k.column_id
                           WHERE k.object_id = i.object_id AND k.index_id = i.index_id
                             AND k.key_ordinal > 0
                           ORDER BY k.key_ordinal
                           FOR XML PATH('')), 1, 2, N''), N'') + N')'
           + CASE WHEN i.has_filter = 1
               THEN N' where ' + REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
                      i.filter_definition COLLATE DATABASE_DEFAULT,
                      N' ', N''), N'[', N''), N']', N''), N'(', N''), N')', N'')
               ELSE N'' END,
         QUOTENAME(i.name) COLLATE DATABASE_DEFAULT,
         i.is_disabled,
         i.allow_row_locks,
         i.allow_page_locks,
         (SELECT SUM(p.rows)
          FROM sys.partitions AS p
          WHERE p.object_id = i.object_id AND p.index_id = i.index_id),
         (SELECT SUM(a.used_pages)
          FROM sys.partitions AS p
          INNER JOIN sys.allocation_units AS a ON a.container_id = p.hobt_id AND a.type = 1
          WHERE p.object_id = i.object_id AND p.index_id = i.index_id)
  FROM sys.indexes AS i
  WHERE i.object_id = OBJECT_ID(N'{table}') AND i.index_id > 0
),
columns_wanted (kind, name, type, length) AS (
  SELECT w.kind, w.name, w.type, w.length
  FROM (VALUES
    (N'all', N'id', N'bigint', 8), (N'all', N'created_at', N'bigint', 8),
    (N'all', N'payload', N'varbinary', -1), (N'pending', N'due_at', N'bigint', 8),
    (N'claim', N'state', N'tinyint', 1), (N'claim', N'priority', N'int', 4),
    (N'claim', N'due_at', N'bigint', 8), (N'claim', N'fence', N'bigint', 8),
    (N'claim', N'attempts', N'int', 4), (N'claim', N'claimed_at', N'bigint', 8),
    (N'claim', N'finished_at', N'bigint', 8), (N'claim', N'key', N'varbinary', 400),
    (N'claim', N'headers', N'nvarchar', -1), (N'claim', N'errors', N'nvarchar', -1),
    (N'claim', N'max_attempts', N'int', 4), (N'claim', N'retry', N'nvarchar', 2000),
    (N'claim', N'expires_at', N'bigint', 8), (N'claim', N'past_key', N'varbinary', 400),
    (N'claim', N'group_key', N'varbinary', 400){column_of_turns}
  ) AS w (kind, name, type, length)
  WHERE w.kind IN (N'all', CAST(:kind AS nvarchar(20)))
  UNION ALL
  SELECT w.kind, w.name, w.type, w.length
  FROM (VALUES
    (N'claim', N'progress', N'nvarchar', 8000), (N'claim', N'result', N'varbinary', -1)
  ) AS w (kind, name, type, length)
  WHERE w.kind = CAST(:kind AS nvarchar(20)) AND CAST(:layout AS bigint) >= 3
)
SELECT checked.severity, checked.what,
       CASE WHEN checked.severity = 0 THEN N'' ELSE checked.fix END AS fix
FROM (
  SELECT CASE WHEN p.label IS NULL OR p.is_disabled = 1 OR p.shape <> w.shape THEN 2 ELSE 0 END AS severity,
         w.label + CASE WHEN p.label IS NULL THEN N' is missing'
                        WHEN p.is_disabled = 1 THEN N' is disabled'
                        WHEN p.shape <> w.shape THEN N' is defined otherwise: ' + p.shape
                        ELSE N' is there' END AS what,
         CASE WHEN p.is_disabled = 1 THEN N'ALTER INDEX ' + p.name + N' ON {table} REBUILD'
              ELSE N'create it as `tableq ddl sqlserver ' + w.kind + N'` prints it' END AS fix
  FROM wanted AS w
  LEFT JOIN present AS p ON p.label = w.label
  UNION ALL
  SELECT CASE WHEN COUNT(*) = 0 THEN 0 ELSE 2 END,
         CASE WHEN COUNT(*) = 0 THEN N'the columns are as created'
              ELSE CAST(COUNT(*) AS nvarchar(10)) + N' columns are missing or of another type, first '
                + MIN(w.name) END,
         N'restore them, or drop the queue and create it anew'
  FROM columns_wanted AS w
  LEFT JOIN sys.columns AS c ON c.object_id = OBJECT_ID(N'{table}')
    AND c.name COLLATE DATABASE_DEFAULT = w.name
    AND TYPE_NAME(c.system_type_id) COLLATE DATABASE_DEFAULT = w.type AND c.max_length = w.length
  WHERE c.name IS NULL
  UNION ALL
  SELECT 2,
         N'the column id does not number itself',
         N'drop the queue and create it anew: IDENTITY cannot be added to a column'
  FROM sys.columns AS c
  WHERE c.object_id = OBJECT_ID(N'{table}') AND c.name = N'id' AND c.is_identity = 0
  UNION ALL
  SELECT 2,
         N'the added column ' + QUOTENAME(c.name) COLLATE DATABASE_DEFAULT
           + N' must be given, and tableq does not know it',
         N'give it a default or let it be null'
  FROM sys.columns AS c
  WHERE c.object_id = OBJECT_ID(N'{table}') AND c.name <> N'payload'
    AND c.is_nullable = 0 AND c.is_identity = 0 AND c.is_computed = 0 AND c.default_object_id = 0
    AND c.generated_always_type = 0 AND TYPE_NAME(c.system_type_id) <> N'timestamp'
  UNION ALL
  SELECT 2,
         N'trigger ' + QUOTENAME(r.name) COLLATE DATABASE_DEFAULT + N' stands on the table',
         N'drop or disable it: the server refuses OUTPUT on a table with triggers (error 334)'
  FROM sys.triggers AS r
  WHERE r.parent_id = OBJECT_ID(N'{table}') AND r.is_disabled = 0
  UNION ALL
  SELECT CASE WHEN b.lock_escalation_desc = N'DISABLE' THEN 0 ELSE 1 END,
         N'lock escalation is ' + LOWER(b.lock_escalation_desc COLLATE DATABASE_DEFAULT),
         N'ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE): readers wait for a locked table'
  FROM sys.tables AS b
  WHERE b.object_id = OBJECT_ID(N'{table}')
  UNION ALL
  SELECT 2,
         N'the table is memory-optimized',
         N'drop the queue and create it anew: such a table has no row locks'
  FROM sys.tables AS b
  WHERE b.object_id = OBJECT_ID(N'{table}') AND b.is_memory_optimized = 1
  UNION ALL
  SELECT 1,
         N'the table keeps a history of its rows',
         N'switch SYSTEM_VERSIONING off: each message is kept for ever'
  FROM sys.tables AS b
  WHERE b.object_id = OBJECT_ID(N'{table}') AND b.temporal_type = 2
  UNION ALL
  SELECT 1,
         N'the table is replicated, or its changes are captured',
         N'leave it out: each change of a message is kept in the log until it has been read'
  FROM sys.tables AS b
  WHERE b.object_id = OBJECT_ID(N'{table}') AND (b.is_replicated = 1 OR b.is_tracked_by_cdc = 1)
  UNION ALL
  SELECT 1, N'row level security is on', N'consumers read only the messages that a predicate lets them see'
  WHERE EXISTS (
    SELECT 1 FROM sys.security_predicates AS s WHERE s.target_object_id = OBJECT_ID(N'{table}'))
  UNION ALL
  SELECT 2,
         p.name + N' allows no row locks',
         N'ALTER INDEX ' + p.name + N' ON {table} SET (ALLOW_ROW_LOCKS = ON): readers pass locked rows only'
  FROM present AS p
  WHERE p.allow_row_locks = 0
  UNION ALL
  SELECT 1,
         p.name + N' allows no page locks, and cannot be reorganized',
         N'ALTER INDEX ' + p.name + N' ON {table} SET (ALLOW_PAGE_LOCKS = ON)'
  FROM present AS p
  WHERE p.allow_page_locks = 0
  UNION ALL
  SELECT CASE WHEN COALESCE(p.pages, 0) > 1000 + 2 * COALESCE(p.live, 0) THEN 1 ELSE 0 END,
         p.name + N' has about ' + CAST(COALESCE(p.live, 0) AS nvarchar(20)) + N' rows on '
           + CAST(COALESCE(p.pages, 0) AS nvarchar(20)) + N' pages',
         N'reads pass over pages of deleted rows: ALTER INDEX ' + p.name + N' ON {table} REBUILD'
  FROM present AS p
) AS checked

-- name: doctor.ids
-- Replication and DBCC CHECKIDENT may leave the next id below those of stored messages.
SELECT CASE WHEN ids.drawn < ids.highest THEN 2 ELSE 0 END AS severity,
       CASE WHEN ids.drawn < ids.highest
            THEN N'the identity of the ids is at ' + CAST(ids.drawn AS nvarchar(20)) + N', below the highest id, '
                   + CAST(ids.highest AS nvarchar(20)) + N': enqueues fail, and messages come in another order'
            ELSE N'the identity of the ids is above all ids' END AS what,
       CASE WHEN ids.drawn < ids.highest THEN N'DBCC CHECKIDENT (N''{table}'', RESEED)' ELSE N'' END AS fix
FROM (SELECT COALESCE(CAST(i.last_value AS bigint), 0) AS drawn,
             (SELECT TOP (1) msg.id
              FROM {table} AS msg WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
              ORDER BY msg.id DESC) AS highest
      FROM sys.identity_columns AS i
      WHERE i.object_id = OBJECT_ID(N'{table}')) AS ids

-- name: table.find
SELECT s.name AS [schema], o.name AS name,
       CASE WHEN o.type = 'U' THEN 1 ELSE 0 END AS is_table,
       CASE WHEN EXISTS (SELECT 1 FROM sys.triggers AS t WHERE t.parent_id = o.object_id AND t.is_disabled = 0)
            THEN 1 ELSE 0 END AS has_triggers,
       CASE WHEN o.is_ms_shipped = 1 THEN N'system' ELSE N'' END AS trouble
FROM sys.objects AS o
INNER JOIN sys.schemas AS s ON s.schema_id = o.schema_id
WHERE o.type IN ('U', 'V')
  AND LOWER(o.name) = LOWER(CAST(:table AS nvarchar(128)))
  AND s.name = CASE WHEN CAST(:schema AS nvarchar(128)) = N'' THEN SCHEMA_NAME() ELSE CAST(:schema AS nvarchar(128)) END

-- name: table.columns
SELECT c.name AS name,
       CONCAT(t.name,
              CASE WHEN t.name IN ('nchar', 'nvarchar') THEN CONCAT('(', CASE WHEN c.max_length = -1 THEN 'max'
                                                             ELSE CAST(c.max_length / 2 AS varchar(10)) END, ')')
                   WHEN t.name IN ('char', 'varchar', 'binary', 'varbinary')
                     THEN CONCAT('(', CASE WHEN c.max_length = -1 THEN 'max'
                                           ELSE CAST(c.max_length AS varchar(10)) END, ')')
                   WHEN t.name IN ('decimal', 'numeric') THEN CONCAT('(', c.[precision], ', ', c.scale, ')')
                   WHEN t.name IN ('datetime2', 'datetimeoffset', 'time') THEN CONCAT('(', c.scale, ')')
                   ELSE '' END) AS declared,
       CASE WHEN t.name IN ('tinyint', 'smallint', 'int', 'bigint') THEN 'integer'
            WHEN t.name = 'bit' THEN 'boolean'
            WHEN t.name IN ('float', 'real') THEN 'number.float'
            WHEN t.name IN ('money', 'smallmoney') THEN 'number.money'
            WHEN t.name IN ('decimal', 'numeric') THEN 'number'
            WHEN t.name IN ('binary', 'varbinary', 'image', 'timestamp') THEN 'bytes'
            WHEN t.name = 'datetimeoffset' THEN CASE WHEN c.scale < 3 THEN 'time.coarse' ELSE 'time' END
            WHEN t.name IN ('smalldatetime', 'date') OR (t.name = 'datetime2' AND c.scale < 3) THEN 'time.local.coarse'
            WHEN t.name IN ('datetime', 'datetime2') THEN 'time.local'
            WHEN t.name IN ('char', 'varchar') THEN 'text.code_page'
            WHEN t.name = 'text' THEN 'text.code_page.unordered'
            WHEN t.name = 'ntext' THEN 'text.unordered'
            WHEN t.name IN ('xml', 'geography', 'geometry') THEN 'text.typed.unordered'
            WHEN t.name IN ('uniqueidentifier', 'sql_variant', 'hierarchyid', 'time') THEN 'text.typed'
            ELSE 'text' END
         -- The server's local time, which Azure SQL keeps in UTC.
         + CASE WHEN t.name IN ('smalldatetime', 'date', 'datetime', 'datetime2') AND d.text NOT LIKE N'%utc%'
                  AND (d.text LIKE N'%getdate()%' OR d.text LIKE N'%sysdatetime()%'
                       OR d.text LIKE N'%sysdatetimeoffset()%' OR d.text LIKE N'%current[_]timestamp%')
                  AND CAST(SERVERPROPERTY('EngineEdition') AS int) <> 5
                THEN '.zoned' ELSE '' END AS form,
       CASE WHEN c.is_nullable = 0 THEN 1 ELSE 0 END AS required,
       CASE WHEN c.default_object_id <> 0 OR c.is_identity = 1 THEN 1 ELSE 0 END AS has_value,
       CASE WHEN c.is_computed = 1 OR c.is_identity = 1 OR t.name = 'timestamp' THEN 1 ELSE 0 END AS computed,
       CASE WHEN t.name IN ('tinyint', 'smallint', 'int', 'bigint') THEN c.max_length
            WHEN c.max_length < 0 THEN 0
            WHEN t.name IN ('char', 'varchar') THEN c.max_length
            WHEN t.name IN ('nchar', 'nvarchar') THEN c.max_length / 2
            ELSE 0 END AS room,
       N'' AS labels
FROM sys.columns AS c
-- hierarchyid, geometry and geography share one system type.
INNER JOIN sys.types AS t
  ON t.user_type_id = CASE WHEN c.system_type_id = 240 THEN c.user_type_id ELSE c.system_type_id END
OUTER APPLY (SELECT LOWER(OBJECT_DEFINITION(c.default_object_id)) AS text) AS d
WHERE c.object_id = OBJECT_ID(CONCAT(QUOTENAME(CAST(:schema AS nvarchar(128))), N'.',
                                     QUOTENAME(CAST(:table AS nvarchar(128)))))
ORDER BY c.column_id

-- name: table.keys
SELECT i.name AS index_name, c.name AS name
FROM sys.indexes AS i
INNER JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id AND x.is_included_column = 0
INNER JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE i.object_id = OBJECT_ID(CONCAT(QUOTENAME(CAST(:schema AS nvarchar(128))), N'.',
                                     QUOTENAME(CAST(:table AS nvarchar(128)))))
  AND i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = 0
ORDER BY i.name, x.key_ordinal

-- name: table.indexes
SELECT i.name AS index_name, c.name AS name,
       CASE WHEN x.is_descending_key = 1 THEN 1 ELSE 0 END AS descending,
       COALESCE(i.filter_definition, N'') AS condition
FROM sys.indexes AS i
INNER JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id AND x.key_ordinal > 0
INNER JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE i.object_id = OBJECT_ID(CONCAT(QUOTENAME(CAST(:schema AS nvarchar(128))), N'.',
                                     QUOTENAME(CAST(:table AS nvarchar(128)))))
  AND i.type IN (1, 2) AND i.is_disabled = 0 AND i.is_hypothetical = 0
ORDER BY i.name, x.key_ordinal

-- name: batch.begin
INSERT INTO {batches} WITH (ROWLOCK) (name, queue, payload, headers, [key], group_key, priority, created_at)
OUTPUT inserted.id AS batch
SELECT CAST(:name AS nvarchar(200)), CAST(:queue AS nvarchar(60)), CAST(:payload AS varbinary(max)), CAST(:headers AS nvarchar(max)),
       CAST(:key AS nvarchar(200)), CAST(:group AS nvarchar(200)), CAST(:priority AS int), {clock}

-- name: batch.add
-- Locks the batch until the transaction ends: additions to one batch follow each other.
UPDATE b
SET total = b.total + CAST(:count AS bigint)
OUTPUT inserted.id AS batch
FROM {batches} AS b WITH (UPDLOCK, ROWLOCK)
WHERE b.id = CAST(:batch AS bigint)
  AND b.finished_at IS NULL
  AND b.cancelled = 0
  AND (b.sealed = 0
       OR EXISTS (SELECT 1
                  FROM {members} AS m WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK)
                  WHERE m.queue = CAST(:queue AS bigint) AND m.message = CAST(:member AS bigint)
                    AND m.batch = b.id AND m.outcome = 0))

-- name: batch.seal
UPDATE b
SET sealed = 1, cancelled = CASE WHEN CAST(:cancel AS bigint) = 1 THEN 1 ELSE b.cancelled END
OUTPUT inserted.id AS batch
FROM {batches} AS b WITH (UPDLOCK, ROWLOCK)
WHERE b.id = CAST(:batch AS bigint) AND b.finished_at IS NULL

-- name: batch.open
-- Without locks. A member that is just leaving counts as gone: batch.finish looks again.
SELECT b.id AS batch,
       CASE WHEN b.queue IS NULL THEN 0 ELSE 1 END AS outstanding,
       CASE WHEN b.queue > 0 AND c.[identity] IS NULL THEN b.queue END AS lost,
       CAST(b.ends_in AS nvarchar(60)) AS ends_in
FROM (SELECT TOP (CAST(:max AS bigint)) o.id, o.queue AS ends_in,
             (SELECT TOP (1) m.queue
              FROM {members} AS m WITH (READUNCOMMITTED)
              WHERE m.batch = o.id AND m.outcome = 0
              ORDER BY m.queue DESC, m.message DESC) AS queue
      FROM {batches} AS o WITH (READUNCOMMITTED)
      WHERE o.finished_at IS NULL AND o.sealed = 1
        AND o.id >= CAST(:first AS bigint) AND o.id <= CAST(:last AS bigint)
      ORDER BY o.id) AS b
LEFT JOIN {catalog} AS c WITH (READCOMMITTED) ON c.[identity] = b.queue

-- name: batch.lock
-- Waits for nobody: an open transaction that has the row is adding to the batch, or ends it.
SELECT cancelled, payload, headers, CAST([key] AS nvarchar(200)) AS [key],
       CAST(group_key AS nvarchar(200)) AS group_key, priority
FROM {batches} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE id = CAST(:batch AS bigint) AND sealed = 1 AND finished_at IS NULL

-- name: batch.finish
-- After the lock. NOWAIT: if an open transaction is settling a member, error 1222 ends the text and the transaction, and
-- a later look ends the batch. FORCESEEK: a scan of the primary key would meet members of other batches.
UPDATE b
SET finished_at = {clock}, completed = b.total - n.others, dead = n.dead, removed = n.removed, gone = n.gone
OUTPUT inserted.total, inserted.completed, inserted.dead, inserted.removed, inserted.gone
FROM {batches} AS b WITH (UPDLOCK, ROWLOCK)
CROSS JOIN (SELECT COUNT_BIG(*) AS others,
                   COALESCE(SUM(CASE WHEN m.outcome = 1 THEN CAST(1 AS bigint) ELSE 0 END), 0) AS dead,
                   COALESCE(SUM(CASE WHEN m.outcome = 2 THEN CAST(1 AS bigint) ELSE 0 END), 0) AS removed,
                   COALESCE(SUM(CASE WHEN m.outcome = 3 THEN CAST(1 AS bigint) ELSE 0 END), 0) AS gone
            FROM {members} AS m WITH (READCOMMITTEDLOCK, ROWLOCK, NOWAIT, FORCESEEK)
            WHERE m.batch = CAST(:batch AS bigint)) AS n
WHERE b.id = CAST(:batch AS bigint)
  AND b.finished_at IS NULL
  AND n.others = n.dead + n.removed + n.gone

-- name: batch.clear
DELETE m
FROM {members} AS m WITH (UPDLOCK, ROWLOCK, FORCESEEK)
WHERE m.batch = CAST(:batch AS bigint)

-- name: batch.forget
WITH old AS (
  SELECT TOP (CAST(:max AS bigint)) id
  FROM {batches} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
  WHERE finished_at < {clock} - CAST(:older_than AS bigint)
  ORDER BY finished_at
)
DELETE FROM old

-- name: batch.list
-- The counts of a batch that has not ended are made of so many of its members, outstanding ones last.
SELECT TOP (CAST(:max AS bigint)) b.total,
       COALESCE(b.completed, b.total - n.others) AS completed,
       COALESCE(b.dead, n.dead) AS dead,
       COALESCE(b.removed, n.removed) AS removed,
       COALESCE(b.gone, n.gone) AS gone,
       b.id, b.name,
       n.outstanding, b.sealed, b.cancelled, CAST(b.queue AS nvarchar(60)) AS [then], b.created_at, b.finished_at
FROM {batches} AS b WITH (READUNCOMMITTED)
CROSS APPLY (SELECT COUNT_BIG(*) AS others,
                    COALESCE(SUM(CASE WHEN m.outcome = 0 THEN CAST(1 AS bigint) ELSE 0 END), 0) AS outstanding,
                    COALESCE(SUM(CASE WHEN m.outcome = 1 THEN CAST(1 AS bigint) ELSE 0 END), 0) AS dead,
                    COALESCE(SUM(CASE WHEN m.outcome = 2 THEN CAST(1 AS bigint) ELSE 0 END), 0) AS removed,
                    COALESCE(SUM(CASE WHEN m.outcome = 3 THEN CAST(1 AS bigint) ELSE 0 END), 0) AS gone
             FROM (SELECT TOP (CAST(:count_to AS bigint)) outcome
                   FROM {members} WITH (READUNCOMMITTED)
                   WHERE batch = b.id AND b.finished_at IS NULL
                   ORDER BY batch DESC, outcome DESC, queue DESC, message DESC) AS m) AS n
WHERE b.id >= CAST(:first AS bigint) AND b.id <= CAST(:last AS bigint)
ORDER BY b.id DESC

-- name: batch.members
SELECT TOP (CAST(:max AS bigint)) queue, message
FROM {members} WITH (READUNCOMMITTED)
WHERE batch = CAST(:batch AS bigint)
  AND outcome = 0
  AND (queue > CAST(:after_queue AS bigint)
       OR (queue = CAST(:after_queue AS bigint) AND message > CAST(:after_message AS bigint)))
ORDER BY queue, message

-- name: batch.of
SELECT v.item, m.batch, COALESCE(b.cancelled, 0) AS cancelled
FROM (VALUES {items: (:item, CAST(:id AS bigint))}) AS v (item, id)
INNER JOIN {members} AS m WITH (READUNCOMMITTED, FORCESEEK) ON m.queue = CAST(:queue AS bigint) AND m.message = v.id
LEFT JOIN {batches} AS b WITH (READUNCOMMITTED) ON b.id = m.batch
WHERE v.id IS NOT NULL
OPTION (FORCE ORDER, LOOP JOIN)

-- name: batch.strays
-- Of the next outstanding members of this queue those whose message has gone, is done or dead, or waits though its
-- batch is cancelled; and the last one. READPAST leaves out members that an open transaction has
-- settled. Between its two statements the message is gone already: core looks again before it believes that.
WITH page AS (
  SELECT TOP (CAST(:max AS bigint)) m.message, m.batch
  FROM {members} AS m WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
  WHERE m.queue = CAST(:own_identity AS bigint) AND m.outcome = 0 AND m.message > CAST(:after_message AS bigint)
  ORDER BY m.message
),
seen AS (
  SELECT p.message, MAX(p.message) OVER () AS last_one,
         (SELECT CAST(q.state AS int) FROM {table} AS q WITH (READUNCOMMITTED, FORCESEEK) WHERE q.id = p.message) AS state,
         COALESCE((SELECT b.cancelled FROM {batches} AS b WITH (READUNCOMMITTED) WHERE b.id = p.batch), 0) AS cancelled
  FROM page AS p
)
SELECT message, state, cancelled
FROM seen
WHERE message = last_one OR state IS NULL OR state IN (3, 4) OR (cancelled = 1 AND state <> 1)

-- name: batch.join
INSERT INTO {members} WITH (ROWLOCK) (queue, message, batch)
SELECT CAST(:queue AS bigint), v.id, v.batch
FROM (VALUES {items: (:item, CAST(:id AS bigint), CAST(:batch AS bigint))}) AS v (item, id, batch)
WHERE v.id IS NOT NULL

-- name: batch.leave
DELETE m
OUTPUT v.item, deleted.batch
FROM {given_ids}
INNER JOIN {members} AS m WITH (UPDLOCK, ROWLOCK, FORCESEEK)
  ON m.queue = CAST(:queue AS bigint) AND m.message = v.id
WHERE v.turn = 1
OPTION (FORCE ORDER, LOOP JOIN)

-- name: batch.mark
UPDATE m
SET outcome = CAST(:outcome AS tinyint)
OUTPUT v.item, inserted.batch
FROM {given_ids}
INNER JOIN {members} AS m WITH (UPDLOCK, ROWLOCK, FORCESEEK)
  ON m.queue = CAST(:queue AS bigint) AND m.message = v.id
WHERE v.turn = 1 AND m.outcome = CAST(:before AS tinyint)
OPTION (FORCE ORDER, LOOP JOIN)

-- name: batch.mark_all
UPDATE {members} WITH (ROWLOCK)
SET outcome = CAST(:outcome AS tinyint)
WHERE queue = CAST(:queue AS bigint) AND outcome = CAST(:before AS tinyint)

-- name: batch.rejoin
UPDATE m
SET outcome = 0, message = v.id
FROM (
  SELECT g.id, g.former, ROW_NUMBER() OVER (PARTITION BY g.former ORDER BY g.item) AS turn
  FROM (VALUES {items: (:item, CAST(:id AS bigint), CAST(:former AS bigint))}) AS g (item, id, former)
  WHERE g.id IS NOT NULL
) AS v
INNER JOIN {members} AS m WITH (UPDLOCK, ROWLOCK, FORCESEEK)
  ON m.queue = CAST(:queue AS bigint) AND m.message = v.former
WHERE v.turn = 1 AND m.outcome = 1
OPTION (FORCE ORDER, LOOP JOIN)
