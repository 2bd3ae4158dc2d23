-- Statements that PostgreSQL and SQLite have alike; their own stand in the folders of the dialects.
-- They use these fragments of the dialect, beside others:
--   main     the schema before a table's name, where the name has none,
--   functions  the schema before a function's name,
--   returns  the beginning of a change that returns rows,
--   bytes    the type of payloads,
--   from_oldest  where ids may begin, and last_drawn, the highest that was drawn, if that is known.
-- Each use of a parameter has a cast, which only PostgreSQL needs: some drivers send no types.

-- name: catalog.list
SELECT name, identity, kind, layout, options, created_at FROM {main}{catalog} ORDER BY name

-- name: catalog.find
SELECT name, identity, kind, layout, options, created_at FROM {main}{catalog} WHERE name = CAST(:name AS text)

-- name: catalog.insert
INSERT INTO {main}{catalog} (name, identity, kind, layout, options)
VALUES (CAST(:name AS text), CAST(:identity AS bigint), CAST(:kind AS text), CAST(:layout AS integer),
        CAST(:options AS text))

-- name: catalog.remove
DELETE FROM {main}{catalog} WHERE name = CAST(:name AS text)

-- name: catalog.set_layout
{returns}
UPDATE {main}{catalog}
SET layout = CAST(:layout AS integer)
WHERE name = CAST(:name AS text) AND identity = CAST(:identity AS bigint) AND layout = CAST(:before AS integer)
RETURNING 1 AS present

-- name: catalog.set_options
{returns}
UPDATE {main}{catalog}
SET options = CAST(:options AS text)
WHERE name = CAST(:name AS text) AND identity = CAST(:identity AS bigint) AND options = CAST(:before AS text)
RETURNING 1 AS present

-- name: queue.drop
DROP TABLE {main}{table}

-- name: heap.peek fifo.peek
SELECT id, created_at, CAST(NULL AS bigint) AS due_at, payload
FROM {main}{table} AS msg
WHERE {from_oldest}
ORDER BY id
LIMIT CAST(:max AS bigint)

-- name: lifo.peek
SELECT id, created_at, CAST(NULL AS bigint) AS due_at, payload
FROM {main}{table} AS msg
ORDER BY id DESC
LIMIT CAST(:max AS bigint)

-- name: heap.stats fifo.stats lifo.stats
-- Each count stops at :max. The last id is the sequence's if the user may read it.
SELECT (SELECT {functions}count(*)
        FROM (SELECT id FROM {main}{table} AS msg WHERE {from_oldest}
              ORDER BY id LIMIT CAST(:max AS bigint)) AS counted) AS waiting,
       CAST(0 AS bigint) AS delayed,
       (SELECT created_at FROM {main}{table} AS msg WHERE {from_oldest} ORDER BY id LIMIT 1) AS oldest,
       COALESCE({last_drawn},
                (SELECT id FROM {main}{table} AS msg ORDER BY id DESC LIMIT 1)) AS last_id,
       {clock} AS as_of

-- name: pending.peek
SELECT id, created_at, due_at, payload
FROM {main}{table} AS msg
WHERE due_at <= {clock}
ORDER BY due_at, id
LIMIT CAST(:max AS bigint)

-- name: pending.stats
SELECT (SELECT {functions}count(*)
        FROM (SELECT id FROM {main}{table} AS msg WHERE due_at <= t.clock
              ORDER BY due_at, id LIMIT CAST(:max AS bigint)) AS counted) AS waiting,
       (SELECT {functions}count(*)
        FROM (SELECT id FROM {main}{table} AS msg WHERE due_at > t.clock
              ORDER BY due_at, id LIMIT CAST(:max AS bigint)) AS counted) AS delayed,
       (SELECT created_at FROM {main}{table} AS msg WHERE due_at <= t.clock ORDER BY due_at, id LIMIT 1) AS oldest,
       COALESCE({last_drawn},
                (SELECT id FROM {main}{table} AS msg ORDER BY id DESC LIMIT 1)) AS last_id,
       t.clock AS as_of
FROM (SELECT {clock} AS clock) AS t

-- name: pending.next_due
SELECT CASE WHEN due_at > {clock} THEN due_at - {clock} ELSE 0 END AS delay
FROM {main}{table} AS msg
ORDER BY due_at, id
LIMIT 1

-- name: claim.find
SELECT {any_message}
FROM {main}{table} AS msg
WHERE key = CAST(:key AS text) AND key IS NOT NULL
  AND (state <> 3 OR due_at > {clock})

-- name: claim.peek
-- Due messages count as ready before they are promoted.
SELECT {any_message}
FROM (
  SELECT * FROM (SELECT msg.* {first_ready}) AS ready
  UNION ALL
  SELECT * FROM (SELECT * {first_due}) AS due
) AS both_kinds
ORDER BY {line_with_due}
LIMIT CAST(:max AS bigint)

-- name: claim.groups
-- Groups of the first :max ready and :max held messages.
SELECT group_key AS "group", {functions}count(*) AS waiting, {functions}min(created_at) AS oldest
FROM (
  SELECT * FROM (SELECT msg.group_key, msg.created_at {first_ready}) AS ready
  UNION ALL
  SELECT * FROM (SELECT group_key, created_at {first_held}) AS held
) AS both_kinds
WHERE group_key IS NOT NULL
GROUP BY group_key
ORDER BY oldest, group_key
LIMIT CAST(:groups AS bigint)

-- name: claim.next_groups
-- One seek for each group, however many messages it has.
WITH RECURSIVE found (name, place) AS (
  SELECT (SELECT group_key
          FROM {main}{table} AS msg
          WHERE group_key > CAST(:after AS text) AND group_key IS NOT NULL
          ORDER BY group_key
          LIMIT 1), 1
  UNION ALL
  SELECT (SELECT group_key
          FROM {main}{table} AS msg
          WHERE group_key > f.name AND group_key IS NOT NULL
          ORDER BY group_key
          LIMIT 1), f.place + 1
  FROM found AS f
  WHERE f.name IS NOT NULL AND f.place < CAST(:max AS bigint)
)
SELECT name AS group_key FROM found WHERE name IS NOT NULL

-- fragment: span
-- The length of the range from the first to the last id.
(SELECT COALESCE(CAST((SELECT {functions}max(id) FROM {main}{table} AS msg WHERE {from_oldest}) AS numeric)
          - CAST((SELECT {functions}min(id) FROM {main}{table} AS msg WHERE {from_oldest}) AS numeric)
          + CAST(1 AS numeric), 0) AS span)

-- name: queue.count
-- If the range from the first to the last id is small enough, its length is the result: two seeks. Otherwise the
-- rows are counted.
SELECT CASE WHEN span <= CAST(CAST(:enough AS bigint) AS numeric) THEN CAST(span AS bigint)
            ELSE (SELECT {functions}count(*)
                  FROM (SELECT 1 FROM {main}{table} AS msg WHERE {from_oldest} LIMIT CAST(:max AS bigint)) AS rest) END
         AS number
FROM {span} AS ids

-- name: claim.count
SELECT CASE WHEN span <= CAST(CAST(:enough AS bigint) AS numeric) THEN CAST(span AS bigint)
            ELSE (SELECT {functions}count(*)
                  FROM (SELECT 1 FROM {main}{table} AS msg WHERE state = 0 LIMIT CAST(:max AS bigint)) AS ready)
               + (SELECT {functions}count(*)
                  FROM (SELECT 1 FROM {main}{table} AS msg WHERE state IN (1, 2) LIMIT CAST(:max AS bigint)) AS later)
               + (SELECT {functions}count(*)
                  FROM (SELECT 1
                        FROM {main}{table} AS msg
                        WHERE group_key IS NOT NULL AND state = 5
                        LIMIT CAST(:max AS bigint)) AS held)
            END AS number
FROM {span} AS ids

-- name: limits.spend
UPDATE {main}{limits}
SET tokens = CAST(:tokens AS bigint), refilled_at = CAST(:refilled_at AS bigint)
WHERE queue = CAST(:queue AS text)

-- name: limits.pause
INSERT INTO {main}{limits} (queue, paused)
SELECT name, CAST(:paused AS bigint) FROM {main}{catalog} WHERE name = CAST(:queue AS text)
ON CONFLICT (queue) DO UPDATE SET paused = excluded.paused

-- name: limits.set
-- A new rate begins with a full burst. A rate that replaces another keeps the tokens.
INSERT INTO {main}{limits} AS l (queue, capacity, rate, burst, concurrency, tokens, refilled_at)
SELECT name, CAST(:capacity AS bigint), CAST(:rate AS bigint), CAST(:burst AS bigint),
       CAST(:concurrency AS bigint), CAST(:tokens AS bigint),
       {clock_now}
FROM {main}{catalog}
WHERE name = CAST(:queue AS text)
ON CONFLICT (queue) DO UPDATE
SET capacity = excluded.capacity,
    rate = excluded.rate,
    burst = excluded.burst,
    concurrency = excluded.concurrency,
    tokens = CASE WHEN l.rate IS NOT NULL AND l.tokens < excluded.tokens THEN l.tokens ELSE excluded.tokens END,
    refilled_at = CASE WHEN l.rate IS NULL THEN excluded.refilled_at ELSE l.refilled_at END

-- name: limits.remove
DELETE FROM {main}{limits} WHERE queue = CAST(:queue AS text)

-- name: group.list
SELECT name, running, rate, burst, weight, changes, applied
FROM {main}{quotas}
WHERE queue = CAST(:queue AS text) AND name >= CAST(:first AS text)
ORDER BY name
LIMIT CAST(:max AS bigint)

-- name: group.others
SELECT COALESCE(MAX(CASE WHEN COALESCE(running, rate, burst, weight) IS NOT NULL THEN 1 END), 0) AS limited,
       COALESCE(MAX(CASE WHEN rate IS NOT NULL THEN 1 END), 0) AS rates
FROM {main}{quotas}
WHERE queue = CAST(:queue AS text) AND (CAST(:name AS text) IS NULL OR name <> CAST(:name AS text))

-- name: group.remove
DELETE FROM {main}{quotas}
WHERE queue = CAST(:queue AS text) AND name = CAST(:name AS text)

-- name: group.remove_all
DELETE FROM {main}{quotas}
WHERE queue = CAST(:queue AS text)

-- name: group.insert
INSERT INTO {main}{quotas} (queue, name, running, rate, burst, weight, changes)
VALUES (CAST(:queue AS text), CAST(:name AS text), CAST(:running AS bigint), CAST(:rate AS bigint),
        CAST(:burst AS bigint), CAST(:weight AS bigint), CAST(:changes AS bigint))

-- name: group.apply
UPDATE {main}{quotas}
SET applied = CAST(:changes AS bigint)
WHERE queue = CAST(:queue AS text) AND name = '' AND changes = CAST(:changes AS bigint)

-- name: group.late
-- Groups whose next start is later than their rate allows, because the clock was set back.
SELECT s.name AS group_key
FROM {main}{starts} AS s
WHERE s.queue = CAST(:queue AS text) AND s.name > CAST(:first AS text)
  AND s.alarm_at > {clock} + 2
    + 1000000000 / (SELECT l.rate
                    FROM {main}{quotas} AS l
                    WHERE l.queue = s.queue AND l.name IN (s.name, '')
                    ORDER BY l.name DESC
                    LIMIT 1)
ORDER BY s.name
LIMIT CAST(:max AS bigint)

-- fragment: times_of_rule
name, queue, cron, every_ms AS every, zone, catch_up, latest_ms AS latest, due_at AS due, problem,
       {clock} AS clock

-- fragment: message_of_rule
payload, headers, key, group_key AS "group", priority, skip_if_running AS skip

-- name: schedules.due
-- Those that are not computed yet come first.
SELECT {times_of_rule}
FROM {main}{schedules}
WHERE enabled = 1
ORDER BY COALESCE(due_at, 0), name
LIMIT CAST(:max AS bigint)

-- fragment: rule
{times_of_rule}, {message_of_rule},
       owner, enabled, last_at AS last, (SELECT c.kind FROM {main}{catalog} AS c WHERE c.name = queue) AS kind

-- name: schedules.list
-- All of them without a name. Two queries, for OR would read all rows to find one.
SELECT {rule}
FROM {main}{schedules}
WHERE name = CAST(:name AS text)
UNION ALL
SELECT {rule}
FROM {main}{schedules}
WHERE CAST(:name AS text) = ''
ORDER BY name

-- name: schedules.remove
{returns}
DELETE FROM {main}{schedules}
WHERE name = CAST(:name AS text)
RETURNING {rule}

-- name: schedules.insert
INSERT INTO {main}{schedules}
  (name, owner, queue, cron, every_ms, zone, payload, headers, key, group_key, priority, catch_up, latest_ms,
   skip_if_running, enabled, last_at, due_at)
VALUES (CAST(:name AS text), CAST(:owner AS text), CAST(:queue AS text), CAST(:cron AS text),
        CAST(:every AS bigint), CAST(:zone AS text), CAST(:payload AS {bytes}), CAST(:headers AS text),
        CAST(:key AS text), CAST(:group AS text), CAST(:priority AS bigint), CAST(:catch_up AS bigint),
        CAST(:latest AS bigint), CAST(:skip AS bigint), CAST(:enabled AS bigint), CAST(:last AS bigint),
        CAST(:due AS bigint))

-- name: batch.begin
{returns}
INSERT INTO {main}{batches} (name, queue, payload, headers, key, group_key, priority, created_at)
VALUES (CAST(:name AS text), CAST(:queue AS text), CAST(:payload AS {bytes}), CAST(:headers AS text),
        CAST(:key AS text), CAST(:group AS text), CAST(:priority AS integer), {clock})
RETURNING id AS batch

-- name: batch.add
-- Locks the batch until the transaction ends: additions to one batch follow each other.
{returns}
UPDATE {main}{batches}
SET total = total + CAST(:count AS bigint)
WHERE id = CAST(:batch AS bigint)
  AND finished_at IS NULL
  AND cancelled = 0
  AND (sealed = 0
       OR EXISTS (SELECT 1
                  FROM {main}{members} AS m
                  WHERE m.queue = CAST(:queue AS bigint) AND m.message = CAST(:member AS bigint)
                    AND m.batch = CAST(:batch AS bigint) AND m.outcome = 0))
RETURNING id AS batch

-- name: batch.seal
{returns}
UPDATE {main}{batches}
SET sealed = 1, cancelled = CASE WHEN CAST(:cancel AS bigint) = 1 THEN 1 ELSE cancelled END
WHERE id = CAST(:batch AS bigint) AND finished_at IS NULL
RETURNING id AS batch

-- name: batch.finish
-- After the lock, and so from a snapshot that has all that was committed before it.
{returns}
UPDATE {main}{batches}
SET finished_at = {clock},
    completed = total - (SELECT {functions}count(*) FROM {main}{members} WHERE batch = CAST(:batch AS bigint)),
    dead = (SELECT {functions}count(*) FROM {main}{members} WHERE batch = CAST(:batch AS bigint) AND outcome = 1),
    removed = (SELECT {functions}count(*) FROM {main}{members} WHERE batch = CAST(:batch AS bigint) AND outcome = 2),
    gone = (SELECT {functions}count(*) FROM {main}{members} WHERE batch = CAST(:batch AS bigint) AND outcome = 3)
WHERE id = CAST(:batch AS bigint)
  AND finished_at IS NULL
  AND (SELECT message
       FROM {main}{members}
       WHERE batch = CAST(:batch AS bigint) AND outcome = 0
       ORDER BY batch DESC, outcome DESC, queue DESC, message DESC
       LIMIT 1) IS NULL
RETURNING total, completed, dead, removed, gone

-- name: batch.clear
DELETE FROM {main}{members} WHERE batch = CAST(:batch AS bigint)

-- name: batch.mark_all
UPDATE {main}{members}
SET outcome = CAST(:outcome AS smallint)
WHERE queue = CAST(:queue AS bigint) AND outcome = CAST(:before AS smallint)

-- name: batch.strays
-- Of the next outstanding members of this queue those whose message has gone, is done or dead, or waits though its
-- batch is cancelled; and the last one.
SELECT message, state, cancelled
FROM (SELECT p.message,
             (SELECT CAST(msg.state AS integer) FROM {main}{table} AS msg WHERE msg.id = p.message) AS state,
             COALESCE((SELECT b.cancelled FROM {main}{batches} AS b WHERE b.id = p.batch), 0) AS cancelled,
             {functions}max(p.message) OVER () AS last
      FROM (SELECT message, batch
            FROM {main}{members}
            WHERE queue = CAST(:own_identity AS bigint) AND outcome = 0 AND message > CAST(:after_message AS bigint)
            ORDER BY queue, message
            LIMIT CAST(:max AS bigint)) AS p) AS seen
WHERE message = last OR state IS NULL OR state IN (3, 4) OR (cancelled = 1 AND state <> 1)
