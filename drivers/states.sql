-- The states of a message in a claim queue: 0 ready, 1 leased, 2 delayed, 3 done, 4 dead, 5 held for its group.
--
-- Every dialect gets these fragments between its own fragments and its statements, so that all databases decide
-- alike; a dialect that is registered at run time brings its own copy. They use its fragment {most_attempts}, and
-- the names
--   q  the message,
--   n  of a new or postponed message: `due_at`, the given time or now plus the delay, `clock`, and of a new one
--      `group_key`,
--   t  of promote: `clock`, `most` (the queue's attempts), `regroup`: which delayed messages of groups wait behind
--      their group again (0: none; 1: those that plain SQL has inserted with a negative fence; 2: all), and `starts`:
--      1 if a message of a group that becomes ready needs a start,
--   f  of a failed attempt: `attempts` so far, `most` allowed, `delay` until the next, `clock`, and `final`
--      (1: the message is given up; 2: it expired before its attempt, which does not count),
--   m  of a message of a group with limits: `place` among those that may run (0: there is no room), and `starts`, how many
--      may start now.

-- fragment: must_wait
n.due_at > n.clock

-- fragment: new_state
CASE WHEN n.group_key IS NOT NULL THEN 5 WHEN {must_wait} THEN 2 ELSE 0 END

-- fragment: new_due_at
CASE WHEN n.group_key IS NULL AND {must_wait} THEN n.due_at ELSE 0 END

-- fragment: postponed_state
CASE WHEN {must_wait} THEN 2 WHEN q.group_key IS NOT NULL THEN 5 ELSE 0 END

-- fragment: postponed_due_at
CASE WHEN {must_wait} THEN n.due_at ELSE 0 END

-- fragment: last_lease_ended
q.state = 1 AND q.attempts >= {most_attempts}

-- fragment: rested_state
-- Of a delayed message that falls due, or that claim.make_ready ends the rest of.
CASE WHEN q.group_key IS NOT NULL AND t.regroup >= CASE WHEN q.fence < 0 THEN 1 ELSE 2 END THEN 5 ELSE 0 END

-- fragment: promoted_state
CASE WHEN {last_lease_ended} THEN 4 WHEN q.state = 2 THEN {rested_state} ELSE 0 END

-- fragment: moves_group
-- Its promotion makes or takes room in its group, which must be locked.
(t.starts = 1 OR {promoted_state} <> 0)

-- fragment: promoted_finished_at
CASE WHEN {last_lease_ended} THEN t.clock END

-- fragment: last_attempt_failed
(f.final <> 0 OR f.attempts >= f.most)

-- fragment: failed_state
CASE WHEN {last_attempt_failed} THEN 4 WHEN f.delay > 0 THEN 2 ELSE 0 END

-- fragment: failed_attempts
CASE WHEN f.final <> 2 THEN f.attempts WHEN f.attempts > 0 THEN f.attempts - 1 ELSE 0 END

-- fragment: failed_due_at
CASE WHEN f.delay > 0 AND NOT {last_attempt_failed} THEN f.clock + f.delay ELSE 0 END

-- fragment: failed_finished_at
CASE WHEN {last_attempt_failed} THEN f.clock END

-- fragment: moved_state
CASE WHEN m.place = 0 THEN 5 WHEN m.place <= m.starts THEN 0 ELSE 2 END

-- fragment: redriven_state
CASE WHEN group_key IS NULL THEN 0 ELSE 5 END
