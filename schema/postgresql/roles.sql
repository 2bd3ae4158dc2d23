-- The rights of each role on a queue: the least that the library's statements need. `tableq ddl postgresql
-- KIND QUEUE --grant ROLE --to USER` prints the blocks of a role with the names filled in. docs/security.md
-- says what a role can and cannot do.
--
-- Rights on columns: a producer cannot read what others have sent, a viewer sees no payload, a consumer
-- changes only what a read or a settlement changes. The identity column needs no right on its sequence.

-- name: schema
GRANT USAGE ON SCHEMA {schema} TO {user};

-- name: schema.owner
GRANT CREATE, USAGE ON SCHEMA {schema} TO {user};

-- name: catalog
GRANT SELECT ON {catalog} TO {user};
GRANT SELECT ON {limits} TO {user};

-- name: producer.heap producer.fifo producer.lifo
GRANT INSERT (created_at, payload), SELECT (id) ON {table} TO {user};

-- name: producer.pending
GRANT INSERT (created_at, due_at, payload), SELECT (id) ON {table} TO {user};

-- name: producer.claim
-- To find a held key, and to count if the queue has a capacity.
GRANT INSERT (state, priority, due_at, fence, created_at, key, headers, payload, expires_at, max_attempts,
              retry, group_key),
      SELECT (id, state, due_at, key, group_key)
ON {table} TO {user};

-- name: producer.groups
-- In a queue with groups: a message is held first, and made ready later.
GRANT UPDATE (state) ON {table} TO {user};

-- name: groups.limited
-- In a queue with groups, from layout 3 on: enqueues and settlements keep the limits of groups.
GRANT SELECT ON {quotas} TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON {starts} TO {user};

-- name: producer.limited
GRANT UPDATE (due_at) ON {table} TO {user};

-- name: consumer.limited
-- Reads move waiting messages after a change of limits.
GRANT UPDATE (applied) ON {quotas} TO {user};

-- name: manager.limited
GRANT SELECT, INSERT, UPDATE, DELETE ON {quotas} TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON {starts} TO {user};

-- name: viewer.limited
GRANT SELECT ON {quotas} TO {user};

-- name: producer.turns
-- In a queue whose groups take turns, as the next ones: the time when a message becomes ready. A weight counts it from
-- the first message of that priority.
GRANT INSERT (ready_at), SELECT (priority, ready_at), UPDATE (ready_at) ON {table} TO {user};

-- name: producer.key_window
-- In a queue with a key_window: enqueues remove keys whose window is over.
GRANT UPDATE (due_at, key, past_key), DELETE ON {table} TO {user};

-- name: replacer.claim
-- A producer whose messages replace or postpone waiting ones with their key.
GRANT SELECT (fence),
      UPDATE (state, priority, due_at, fence, attempts, max_attempts, retry, expires_at, headers, payload)
ON {table} TO {user};

-- name: replacer.turns
GRANT SELECT (ready_at) ON {table} TO {user};

-- name: consumer.heap consumer.fifo consumer.lifo consumer.pending
-- Reads lock the rows that they delete, and a lock needs the right to change a column: this one decides
-- nothing.
GRANT SELECT, UPDATE (created_at), DELETE ON {table} TO {user};

-- name: consumer.claim
GRANT SELECT, DELETE,
      UPDATE (state, due_at, fence, attempts, claimed_at, finished_at, key, past_key, errors)
ON {table} TO {user};

-- name: consumer.kept
-- In a queue that keeps completed messages, or their keys.
GRANT UPDATE (headers, payload) ON {table} TO {user};

-- name: consumer.notes
-- From layout 3 on: what handlers say of their messages, and what they return.
GRANT UPDATE (progress, result) ON {table} TO {user};

-- name: consumer.limits
-- If the queue has a rate or a concurrency: reads lock the row, and take tokens.
GRANT UPDATE (tokens, refilled_at) ON {limits} TO {user};
-- Reads tell each other where to begin.
GRANT SELECT, INSERT, UPDATE ON {floors} TO {user};

-- name: consumer.turns
GRANT UPDATE (ready_at) ON {table} TO {user};

-- name: producer.batches
-- In a queue with batches: begins and seals them, and adds members.
GRANT INSERT (name, queue, payload, headers, key, group_key, priority, created_at),
      SELECT (id, name, queue, total, sealed, cancelled, created_at, finished_at, completed, dead, removed, gone),
      UPDATE (total, sealed, cancelled)
ON {batches} TO {user};
GRANT SELECT, INSERT (queue, message, batch) ON {members} TO {user};

-- name: consumer.batches
-- Settlements change and remove members. The last one ends the batch: it also needs the rights of a producer on the
-- queue that gets the message.
GRANT SELECT, UPDATE (finished_at, completed, dead, removed, gone), DELETE ON {batches} TO {user};
GRANT SELECT, UPDATE (outcome), DELETE ON {members} TO {user};

-- name: manager.batches
GRANT SELECT, INSERT, UPDATE, DELETE ON {batches} TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON {members} TO {user};

-- name: dead_letters
-- On the dead-letter queue.
GRANT INSERT (priority, created_at, key, past_key, headers, errors, payload),
      SELECT (id) ON {table} TO {user};

-- name: dead_letters.manager
-- Redriving takes them back.
GRANT INSERT, SELECT, UPDATE, DELETE ON {table} TO {user};

-- name: viewer.heap viewer.fifo viewer.lifo
GRANT SELECT (id, created_at) ON {table} TO {user};
GRANT SELECT ON {floors} TO {user};

-- name: viewer.pending
GRANT SELECT (id, created_at, due_at) ON {table} TO {user};

-- name: viewer.claim
-- With the floors and the fences counts begin after the deleted rows. Without the floors they need no fence.
GRANT SELECT (id, state, priority, due_at, fence, created_at, finished_at) ON {table} TO {user};
GRANT SELECT ON {floors} TO {user};

-- name: viewer.notes
GRANT SELECT (progress) ON {table} TO {user};

-- name: viewer.turns
GRANT SELECT (ready_at) ON {table} TO {user};

-- name: manager.heap manager.fifo manager.lifo manager.pending manager.claim
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {user};
GRANT INSERT, UPDATE ON {limits} TO {user};
GRANT SELECT, INSERT, UPDATE ON {floors} TO {user};

-- name: scheduler
-- A producer that follows schedules.
GRANT SELECT, UPDATE (last_at, due_at, problem, enabled) ON {schedules} TO {user};

-- name: owner.heap owner.fifo owner.lifo owner.pending owner.claim
-- Creates, migrates and drops. The owner of a table needs CREATE on its schema.
GRANT SELECT, INSERT, UPDATE (layout, options), DELETE ON {catalog} TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON {limits} TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON {floors} TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON {schedules} TO {user};
ALTER TABLE {table} OWNER TO {user};
