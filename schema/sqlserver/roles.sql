-- The rights of each role on a queue: the least that the library's statements need. `tableq ddl sqlserver
-- KIND QUEUE --grant ROLE --to USER` prints the blocks of a role with the names filled in. docs/security.md
-- says what a role can and cannot do. Not executed on a server yet.
--
-- Rights on columns where T-SQL has them: SELECT and UPDATE. INSERT is for the whole row. Locking hints
-- and application locks need no right.

-- name: schema
-- Tables are granted one by one: a schema needs none.

-- name: schema.owner
-- A table belongs to the owner of its schema, and not to the user who creates it: the rights on new tables come
-- from the schema. ALTER on a schema includes DROP of each of its tables.
GRANT ALTER, SELECT, INSERT, UPDATE, DELETE ON SCHEMA::{schema} TO {user};
GRANT CREATE TABLE TO {user};

-- name: catalog
GRANT SELECT ON {catalog} TO {user};
GRANT SELECT ON {limits} TO {user};

-- name: producer.heap producer.fifo producer.lifo producer.pending
GRANT INSERT ON {table} TO {user};
GRANT SELECT ON {table} (id) TO {user};

-- name: producer.claim
-- To find a held key, and to count if the queue has a capacity. `fence` connects the ids with the messages
-- of a batch.
GRANT INSERT ON {table} TO {user};
GRANT SELECT ON {table} (id, state, due_at, fence, [key], group_key) TO {user};

-- name: producer.groups
-- In a queue with groups: a message is held first, and made ready later.
GRANT UPDATE ON {table} (state) TO {user};

-- name: groups.limited
-- In a queue with groups, from layout 3 on: enqueues and settlements keep the limits of groups.
GRANT SELECT ON {quotas} TO {user};
GRANT SELECT ON {starts} TO {user};
GRANT INSERT ON {starts} TO {user};
GRANT UPDATE ON {starts} TO {user};
GRANT DELETE ON {starts} TO {user};

-- name: producer.limited
GRANT UPDATE ON {table} (due_at) TO {user};

-- name: consumer.limited
-- Reads move waiting messages after a change of limits.
GRANT UPDATE ON {quotas} (applied) TO {user};

-- name: manager.limited
GRANT SELECT ON {quotas} TO {user};
GRANT INSERT ON {quotas} TO {user};
GRANT UPDATE ON {quotas} TO {user};
GRANT DELETE ON {quotas} TO {user};
GRANT SELECT ON {starts} TO {user};
GRANT INSERT ON {starts} TO {user};
GRANT UPDATE ON {starts} TO {user};
GRANT DELETE ON {starts} TO {user};

-- name: viewer.limited
GRANT SELECT ON {quotas} TO {user};

-- name: producer.turns
-- In a queue whose groups take turns, as the next ones: the time when a message becomes ready. A weight counts it from
-- the first message of that priority.
GRANT SELECT ON {table} (priority, ready_at) TO {user};
GRANT UPDATE ON {table} (ready_at) TO {user};

-- name: producer.key_window
-- In a queue with a key_window: enqueues remove keys whose window is over.
GRANT SELECT ON {table} (priority, past_key) TO {user};
GRANT UPDATE ON {table} (due_at, [key], past_key) TO {user};
GRANT DELETE ON {table} TO {user};

-- name: replacer.claim
-- A producer whose messages replace or postpone waiting ones with their key.
GRANT UPDATE ON {table} (state, priority, due_at, attempts, max_attempts, retry, expires_at, headers, payload)
  TO {user};

-- name: replacer.turns
GRANT SELECT ON {table} (ready_at) TO {user};

-- name: consumer.heap consumer.fifo consumer.lifo consumer.pending
GRANT SELECT ON {table} TO {user};
GRANT DELETE ON {table} TO {user};

-- name: consumer.claim
GRANT SELECT ON {table} TO {user};
GRANT DELETE ON {table} TO {user};
GRANT UPDATE ON {table} (state, due_at, fence, attempts, claimed_at, finished_at, [key], past_key, errors)
  TO {user};

-- name: consumer.kept
-- In a queue that keeps completed messages, or their keys.
GRANT UPDATE ON {table} (headers, payload) TO {user};

-- name: consumer.notes
-- From layout 3 on: what handlers say of their messages, and what they return.
GRANT UPDATE ON {table} (progress, result) TO {user};

-- name: consumer.limits
-- If the queue has a rate or a concurrency: reads lock the row, and take tokens.
GRANT UPDATE ON {limits} (tokens, refilled_at) TO {user};

-- name: consumer.turns
GRANT UPDATE ON {table} (ready_at) TO {user};

-- name: producer.batches
-- In a queue with batches: begins and seals them, and adds members.
GRANT INSERT ON {batches} TO {user};
GRANT SELECT ON {batches}
  (id, name, queue, total, sealed, cancelled, created_at, finished_at, completed, dead, removed, gone) TO {user};
GRANT UPDATE ON {batches} (total, sealed, cancelled) TO {user};
GRANT SELECT ON {members} TO {user};
GRANT INSERT ON {members} TO {user};

-- name: consumer.batches
-- Settlements change and remove members. The last one ends the batch: it also needs the rights of a producer on the
-- queue that gets the message.
GRANT SELECT ON {batches} TO {user};
GRANT UPDATE ON {batches} (finished_at, completed, dead, removed, gone) TO {user};
GRANT DELETE ON {batches} TO {user};
GRANT SELECT ON {members} TO {user};
GRANT UPDATE ON {members} (outcome) TO {user};
GRANT DELETE ON {members} TO {user};

-- name: manager.batches
GRANT SELECT ON {batches} TO {user};
GRANT INSERT ON {batches} TO {user};
GRANT UPDATE ON {batches} TO {user};
GRANT DELETE ON {batches} TO {user};
GRANT SELECT ON {members} TO {user};
GRANT INSERT ON {members} TO {user};
GRANT UPDATE ON {members} TO {user};
GRANT DELETE ON {members} TO {user};

-- name: dead_letters
-- On the dead-letter queue.
GRANT INSERT ON {table} TO {user};
GRANT SELECT ON {table} (id, fence) TO {user};

-- name: dead_letters.manager
-- Redriving takes them back.
GRANT INSERT ON {table} TO {user};
GRANT SELECT ON {table} TO {user};
GRANT UPDATE ON {table} TO {user};
GRANT DELETE ON {table} TO {user};

-- name: viewer.heap viewer.fifo viewer.lifo
GRANT SELECT ON {table} (id, created_at) TO {user};

-- name: viewer.pending
GRANT SELECT ON {table} (id, created_at, due_at) TO {user};

-- name: viewer.claim
GRANT SELECT ON {table} (id, state, priority, due_at, created_at, finished_at) TO {user};

-- name: viewer.notes
GRANT SELECT ON {table} (progress) TO {user};

-- name: viewer.turns
GRANT SELECT ON {table} (ready_at) TO {user};

-- name: manager.heap manager.fifo manager.lifo manager.pending manager.claim
GRANT SELECT ON {table} TO {user};
GRANT INSERT ON {table} TO {user};
GRANT UPDATE ON {table} TO {user};
GRANT DELETE ON {table} TO {user};
GRANT INSERT ON {limits} TO {user};
GRANT UPDATE ON {limits} TO {user};

-- name: scheduler
-- A producer that follows schedules.
GRANT SELECT ON {schedules} TO {user};
GRANT UPDATE ON {schedules} (last_at, due_at, problem, enabled) TO {user};

-- name: owner.heap owner.fifo owner.lifo owner.pending owner.claim
-- Creates, migrates and drops.
GRANT SELECT ON {catalog} TO {user};
GRANT INSERT ON {catalog} TO {user};
GRANT UPDATE ON {catalog} (layout, options) TO {user};
GRANT DELETE ON {catalog} TO {user};
GRANT SELECT ON {limits} TO {user};
GRANT INSERT ON {limits} TO {user};
GRANT UPDATE ON {limits} TO {user};
GRANT DELETE ON {limits} TO {user};
GRANT SELECT ON {schedules} TO {user};
GRANT INSERT ON {schedules} TO {user};
GRANT UPDATE ON {schedules} TO {user};
GRANT DELETE ON {schedules} TO {user};
GRANT CONTROL ON {table} TO {user};
