#include "core/statement.hpp"

#include <array>

namespace tableq::core {
namespace {

constexpr auto integer = value_type::integer;
constexpr auto text = value_type::text;
constexpr auto bytes = value_type::bytes;

// `now` is the clock of a test, or null: then the database's own decides.
constexpr field now{"now", integer};
constexpr field max{"max", integer};

constexpr std::array just_now{now};
constexpr std::array just_max{max};
constexpr field floor{"floor", integer};
constexpr std::array just_floor{floor};
constexpr std::array max_floor{max, floor};
constexpr std::array max_now{max, now};
constexpr std::array count_columns{field{"waiting", integer}, field{"delayed", integer},
                                   field{"oldest", integer}, field{"last_id", integer},
                                   field{"as_of", integer}};
constexpr std::array id_column{field{"id", integer}};
constexpr std::array sight_columns{field{"first", integer}, field{"oldest_running", integer},
                                   field{"next", integer}};
constexpr std::array delay_column{field{"delay", integer}};
constexpr std::array present_column{field{"present", integer}};
constexpr std::array finding_columns{field{"severity", integer}, field{"what", text},
                                     field{"fix", text}};

constexpr std::array name_only{field{"name", text}};
constexpr std::array kind_only{field{"kind", text}};
constexpr std::array identity_only{field{"identity", integer}};
constexpr std::array notify_shared{field{"channel", text}, field{"payload", text},
                                   field{"identity", integer}};
constexpr std::array held_column{field{"held", integer}};
constexpr std::array catalog_row{field{"name", text},    field{"identity", integer},
                                 field{"kind", text},    field{"layout", integer},
                                 field{"options", text}, field{"created_at", integer}};
constexpr std::array catalog_new{field{"name", text}, field{"identity", integer},
                                 field{"kind", text}, field{"layout", integer},
                                 field{"options", text}};

constexpr std::array plain_item{field{"payload", bytes}, field{"created_at", integer}};
constexpr std::array pending_item{field{"payload", bytes}, field{"created_at", integer},
                                  field{"due_at", integer}, field{"delay", integer}};
constexpr std::array message_columns{field{"id", integer}, field{"created_at", integer},
                                     field{"due_at", integer}, field{"payload", bytes}};

constexpr std::array claim_item{field{"payload", bytes}, field{"priority", integer},
                                field{"delay", integer}, field{"key", text},
                                field{"headers", text},  field{"created_at", integer},
                                field{"ttl", integer},   field{"max_attempts", integer},
                                field{"retry", text},    field{"group", text}};
constexpr std::array key_item{field{"key", text}};
constexpr std::array replace_shared{field{"postpone", integer}, now};
constexpr std::array replace_item{field{"key", text},
                                  field{"payload", bytes},
                                  field{"priority", integer},
                                  field{"delay", integer},
                                  field{"headers", text},
                                  field{"ttl", integer},
                                  field{"max_attempts", integer},
                                  field{"retry", text}};
// Where to begin, if deleted rows linger; otherwise null. Lists of numbers are written `2,1,NULL`.
constexpr field oldest{"oldest", integer};
constexpr field passed{"passed", integer};
constexpr std::array take_shared{max,
                                 field{"lease", integer},
                                 field{"claimed_at", integer},
                                 field{"guard", integer},
                                 field{"token", integer},
                                 field{"unkey", integer},
                                 now,
                                 field{"highs", text},
                                 field{"lows", text},
                                 field{"floors", text},
                                 oldest,
                                 passed};
constexpr std::array floor_shared{oldest, passed, now};
constexpr std::array level_item{field{"level", integer}, floor};
constexpr std::array levels_columns{field{"first", integer}, oldest, field{"due", integer},
                                    field{"clock", integer},
                                    field{"oldest_running", integer}, field{"next", integer}};
constexpr std::array due_shared{now, passed};
constexpr std::array delivery_columns{
    field{"id", integer},          field{"fence", integer},      field{"attempts", integer},
    field{"priority", integer},    field{"created_at", integer}, field{"claimed_at", integer},
    field{"lease_until", integer}, field{"key", text},           field{"group_key", text},
    field{"expired", integer},     field{"headers", text},       field{"payload", bytes}};
constexpr std::array promote_shared{max, field{"max_attempts", integer}, field{"regroup", integer},
                                    now, passed};
constexpr std::array state_columns{field{"id", integer}, field{"state", integer}};
constexpr std::array receipt_item{field{"id", integer}, field{"fence", integer}};
constexpr std::array keep_shared{field{"window", integer}, field{"strip", integer}, now};
constexpr std::array fail_shared{field{"max_attempts", integer}, field{"policy", text}, now};
constexpr std::array fail_item{field{"id", integer},   field{"fence", integer},
                               field{"error", text},   field{"delay", integer},
                               field{"dice", integer}, field{"final", integer}};
constexpr std::array extend_shared{field{"lease", integer}, now};
constexpr std::array stored_columns{
    field{"id", integer},         field{"state", integer},       field{"priority", integer},
    field{"attempts", integer},   field{"created_at", integer},  field{"due_at", integer},
    field{"claimed_at", integer}, field{"finished_at", integer}, field{"key", text},
    field{"group_key", text},     field{"expires_at", integer},  field{"headers", text},
    field{"errors", text},        field{"payload", bytes}};
constexpr std::array list_shared{field{"state", integer}, max, field{"after_at", integer},
                                 field{"after_id", integer}};
constexpr std::array id_item{field{"id", integer}};
constexpr std::array just_state{field{"state", integer}};
constexpr std::array adopt_item{field{"payload", bytes},      field{"priority", integer},
                                field{"created_at", integer}, field{"key", text},
                                field{"headers", text},       field{"errors", text}};
constexpr std::array group_item{field{"group", text}};
constexpr std::array group_column{field{"group_key", text}};
constexpr std::array advance_shared{field{"limit", integer}, field{"hold", integer}};
constexpr std::array purge_shared{field{"state", integer}, field{"older_than", integer}, max, now};
constexpr std::array claim_stats_columns{field{"ready", integer},   field{"due", integer},
                                         field{"delayed", integer}, field{"leased", integer},
                                         field{"held", integer},    field{"done", integer},
                                         field{"dead", integer},    field{"oldest", integer},
                                         field{"last_id", integer}, field{"as_of", integer}};
constexpr std::array list_ready_shared{max, field{"after_priority", integer},
                                       field{"after_id", integer}};
constexpr std::array list_waiting_shared{field{"state", integer}, max, field{"after_at", integer},
                                         field{"after_priority", integer},
                                         field{"after_id", integer}};
constexpr std::array key_now{field{"key", text}, now};
constexpr std::array priority_item{field{"id", integer}, field{"priority", integer}};

// Limits. `enough`: up to so many an upper bound will do for the number.
constexpr field queue{"queue", text};
constexpr field number{"number", integer};
constexpr std::array just_queue{queue};
constexpr std::array just_number{number};
constexpr std::array limit_columns{field{"paused", integer}, field{"capacity", integer},
                                   field{"rate", integer}, field{"burst", integer},
                                   field{"concurrency", integer}};
constexpr std::array lock_shared{queue, now};
constexpr std::array lock_columns{field{"paused", integer}, field{"rate", integer},
                                  field{"burst", integer},  field{"concurrency", integer},
                                  field{"tokens", integer}, field{"refilled_at", integer},
                                  field{"clock", integer}};
constexpr std::array spend_shared{queue, field{"tokens", integer}, field{"refilled_at", integer}};
constexpr std::array pause_shared{queue, field{"paused", integer}};
constexpr std::array set_shared{queue,
                                field{"capacity", integer},
                                field{"rate", integer},
                                field{"burst", integer},
                                field{"concurrency", integer},
                                field{"tokens", integer},
                                now};
constexpr std::array count_shared{field{"enough", integer}, max};
constexpr std::array leased_shared{max, now};

constexpr std::span<const field> none{};
using enum statement;

constexpr std::array all{
    contract{catalog_exists, "catalog.exists", false, none, none, present_column},
    contract{catalog_lock, "catalog.lock", false, none, none, none},
    contract{catalog_list, "catalog.list", false, none, none, catalog_row},
    contract{catalog_find, "catalog.find", false, name_only, none, catalog_row},
    contract{catalog_insert, "catalog.insert", true, catalog_new, none, none},
    contract{catalog_remove, "catalog.remove", true, name_only, none, none},
    contract{table_exists, "table.exists", false, none, none, present_column},
    contract{queue_lock, "queue.lock", false, identity_only, none, none},
    contract{queue_drop, "queue.drop", true, none, none, none},
    contract{notify_send, "notify.send", false, notify_shared, none, none},
    contract{listen_begin, "listen.begin", false, none, none, none},
    contract{listen_hold, "listen.hold", false, identity_only, none, held_column},
    contract{listen_drop, "listen.drop", false, identity_only, none, none},
    contract{listen_end, "listen.end", false, none, none, none},
    contract{doctor_database, "doctor.database", false, none, none, finding_columns},
    contract{doctor_queue, "doctor.queue", false, kind_only, none, finding_columns},
    contract{heap_enqueue, "heap.enqueue", true, just_now, plain_item, id_column},
    contract{heap_dequeue, "heap.dequeue", true, max_floor, none, message_columns},
    contract{heap_peek, "heap.peek", false, just_max, none, message_columns},
    contract{heap_purge, "heap.purge", true, just_max, none, id_column},
    contract{heap_stats, "heap.stats", false, max_now, none, count_columns},
    contract{fifo_enqueue, "fifo.enqueue", true, just_now, plain_item, id_column},
    contract{fifo_dequeue, "fifo.dequeue", true, max_floor, none, message_columns},
    contract{fifo_peek, "fifo.peek", false, just_max, none, message_columns},
    contract{fifo_purge, "fifo.purge", true, just_max, none, id_column},
    contract{fifo_stats, "fifo.stats", false, max_now, none, count_columns},
    contract{lifo_enqueue, "lifo.enqueue", true, just_now, plain_item, id_column},
    contract{lifo_dequeue, "lifo.dequeue", true, just_max, none, message_columns},
    contract{lifo_peek, "lifo.peek", false, just_max, none, message_columns},
    contract{lifo_purge, "lifo.purge", true, just_max, none, id_column},
    contract{lifo_stats, "lifo.stats", false, max_now, none, count_columns},
    contract{pending_enqueue, "pending.enqueue", true, just_now, pending_item, id_column},
    contract{pending_dequeue, "pending.dequeue", true, max_now, none, message_columns},
    contract{pending_peek, "pending.peek", false, max_now, none, message_columns},
    contract{pending_purge, "pending.purge", true, just_max, none, id_column},
    contract{pending_stats, "pending.stats", false, max_now, none, count_columns},
    contract{pending_next_due, "pending.next_due", false, just_now, none, delay_column},
    contract{claim_enqueue, "claim.enqueue", true, just_now, claim_item, id_column},
    contract{claim_find_key, "claim.find_key", false, none, key_item, id_column},
    contract{claim_replace, "claim.replace", true, replace_shared, replace_item, id_column},
    contract{claim_forget, "claim.forget", true, just_now, key_item, id_column},
    contract{claim_free, "claim.free", true, just_now, key_item, id_column},
    contract{claim_take, "claim.take", true, take_shared, none, delivery_columns},
    contract{claim_promote, "claim.promote", true, promote_shared, none, state_columns},
    contract{claim_complete, "claim.complete", true, none, receipt_item, id_column},
    contract{claim_keep, "claim.keep", true, keep_shared, receipt_item, id_column},
    contract{claim_fail, "claim.fail", true, fail_shared, fail_item, state_columns},
    contract{claim_release, "claim.release", true, none, receipt_item, id_column},
    contract{claim_extend, "claim.extend", true, extend_shared, receipt_item, id_column},
    contract{claim_peek, "claim.peek", false, max_now, none, stored_columns},
    contract{claim_list, "claim.list", false, list_shared, none, stored_columns},
    contract{claim_redrive, "claim.redrive", true, none, id_item, id_column},
    contract{claim_redrive_all, "claim.redrive_all", true, just_max, none, id_column},
    contract{claim_remove, "claim.remove", true, just_state, id_item, stored_columns},
    contract{claim_adopt, "claim.adopt", true, none, adopt_item, id_column},
    contract{claim_group_of, "claim.group_of", false, none, id_item, group_column},
    contract{claim_advance, "claim.advance", true, advance_shared, group_item, id_column},
    contract{claim_purge, "claim.purge", true, purge_shared, none, id_column},
    contract{claim_stats, "claim.stats", false, max_now, none, claim_stats_columns},
    contract{claim_next_due, "claim.next_due", false, due_shared, none, delay_column},
    contract{fifo_dequeue_strict, "fifo.dequeue_strict", true, max_floor, none, message_columns},
    contract{lifo_dequeue_strict, "lifo.dequeue_strict", true, just_max, none, message_columns},
    contract{claim_list_ready, "claim.list_ready", false, list_ready_shared, none, stored_columns},
    contract{claim_list_held, "claim.list_held", false, list_ready_shared, none, stored_columns},
    contract{claim_list_waiting, "claim.list_waiting", false, list_waiting_shared, none,
             stored_columns},
    contract{claim_get, "claim.get", false, none, id_item, stored_columns},
    contract{claim_find, "claim.find", false, key_now, none, stored_columns},
    contract{claim_cancel, "claim.cancel", true, none, id_item, id_column},
    contract{claim_set_priority, "claim.set_priority", true, none, priority_item, id_column},
    contract{claim_state_of, "claim.state_of", false, none, id_item, state_columns},
    contract{limits_read, "limits.read", false, just_queue, none, limit_columns},
    contract{limits_ask, "limits.ask", true, just_queue, none, limit_columns},
    contract{limits_lock, "limits.lock", true, lock_shared, none, lock_columns},
    contract{limits_spend, "limits.spend", true, spend_shared, none, none},
    contract{limits_pause, "limits.pause", true, pause_shared, none, none},
    contract{limits_set, "limits.set", true, set_shared, none, none},
    contract{limits_remove, "limits.remove", true, just_queue, none, none},
    contract{queue_count, "queue.count", false, count_shared, none, just_number},
    contract{claim_count, "claim.count", false, count_shared, none, just_number},
    contract{claim_leased, "claim.leased", false, leased_shared, none, just_number},
    contract{queue_floor, "queue.floor", false, just_floor, none, sight_columns},
    contract{claim_floor, "claim.floor", false, floor_shared, level_item, levels_columns},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<std::size_t>(all[i].id) != i) return false;
  return true;
}
static_assert(in_order(), "contracts follow the order of the enumeration");
static_assert(all.size() == static_cast<std::size_t>(claim_floor) + 1);

}  // namespace

std::span<const contract> contracts() noexcept {
  return all;
}

const contract& contract_of(statement id) noexcept {
  return all[static_cast<std::size_t>(id)];
}

bool optional(statement id, const capabilities& able) noexcept {
  switch (id) {
    case notify_send:
    case listen_begin:
    case listen_hold:
    case listen_drop:
    case listen_end:
      return !able.notifies;
    case queue_floor:
    case claim_floor:
      return !able.deleted_rows_linger;
    default:
      return false;
  }
}

statement statement_for(kind of, destructive_operation operation) noexcept {
  constexpr std::size_t operations = 5;
  const auto first = static_cast<std::size_t>(heap_enqueue);
  return static_cast<statement>(first + static_cast<std::size_t>(of) * operations +
                                static_cast<std::size_t>(operation));
}

statement dequeue_for(kind of, ordering order) noexcept {
  if (order == ordering::strict && of == kind::fifo) return fifo_dequeue_strict;
  if (order == ordering::strict && of == kind::lifo) return lifo_dequeue_strict;
  return statement_for(of, destructive_operation::dequeue);
}

}  // namespace tableq::core
