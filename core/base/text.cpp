#include <tableq/text.hpp>

#include <string>

#include <tableq/testing.hpp>

#include "core/base/enum_names.hpp"

namespace tableq::inline v0 {

std::string to_string(message_id id) {
  return std::to_string(id.value);
}

TABLEQ_NAMES(kind, heap, fifo, lifo, pending, claim, table)
TABLEQ_NAMES(errc, invalid_argument, not_found, kind_mismatch, options_mismatch, schema_mismatch,
             schema_too_new, connection_failed, connection_lost, outcome_unknown, busy, conflict,
             constraint_violated, permission_denied, read_only, storage_full, too_large,
             not_a_database, duplicate_key, cancelled, unsupported, queue_full, storage_failed,
             internal)
TABLEQ_NAMES(advice, never, statement, transaction, session)
TABLEQ_NAMES(role, producer, replacer, consumer, viewer, manager, owner, scheduler)
TABLEQ_NAMES(ordering, relaxed, strict)
TABLEQ_NAMES(schema_policy, create_if_missing, verify_only)
TABLEQ_NAMES(notifications, automatic, send_only, off)
TABLEQ_NAMES(on_complete, remove, mark, leave)
TABLEQ_NAMES(key_scope, active, waiting)
TABLEQ_NAMES(on_duplicate, keep_first, reject, replace, postpone)
TABLEQ_NAMES(group_policy, hold, pass)
TABLEQ_NAMES(message_state, ready, leased, delayed, done, dead, held)
TABLEQ_NAMES(settle_result, applied, lease_lost)
TABLEQ_NAMES(change_result, applied, running, finished, not_found)
TABLEQ_NAMES(enqueue_result, added, kept_first, replaced, postponed)
TABLEQ_NAMES(awaited::ending, done, dead, gone, waiting)
TABLEQ_NAMES(handled::how, completed, failed, given_up, given_back, settled, kept)
TABLEQ_NAMES(worker_event::kind, completed, failed, given_up, given_back, settled_by_handler,
             lease_lost, unknown, trouble)
TABLEQ_NAMES(finding::level, ok, warning, problem)
TABLEQ_NAMES(lost_lease::cause, lease_lost, not_confirmed, batch_cancelled)
TABLEQ_NAMES(message_detail, all, outline, seen)

namespace testing {

TABLEQ_NAMES(trouble, lost_connection, unknown_commit, busy, deadlock, time_out)
TABLEQ_NAMES(moment, before, after)

}  // namespace testing

}  // namespace tableq::inline v0
