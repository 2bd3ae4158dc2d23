#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tableq::inline v0::core {

/// Every statement that core needs of a database. The texts are in drivers/*/statements.sql under
/// the names in the contracts. Those from `table_open` on are on tables of applications, and have
/// their texts from drivers/*/tables.sql.
enum class statement : std::uint8_t {
  catalog_exists,
  catalog_lock,
  catalog_list,
  catalog_find,
  catalog_insert,
  catalog_remove,
  table_exists,
  queue_lock,
  queue_drop,
  notify_send,
  listen_begin,
  listen_hold,
  listen_drop,
  listen_end,
  doctor_database,
  doctor_queue,
  heap_enqueue,
  heap_dequeue,
  heap_peek,
  heap_purge,
  heap_stats,
  fifo_enqueue,
  fifo_dequeue,
  fifo_peek,
  fifo_purge,
  fifo_stats,
  lifo_enqueue,
  lifo_dequeue,
  lifo_peek,
  lifo_purge,
  lifo_stats,
  pending_enqueue,
  pending_dequeue,
  pending_peek,
  pending_purge,
  pending_stats,
  pending_next_due,
  claim_enqueue,
  claim_find_key,
  claim_replace,
  claim_forget,
  claim_free,
  claim_take,
  claim_promote,
  claim_complete,
  claim_keep,
  claim_fail,
  claim_release,
  claim_extend,
  claim_heartbeat,
  claim_lost,
  claim_peek,
  claim_list,
  claim_redrive,
  claim_redrive_all,
  claim_remove,
  claim_adopt,
  claim_group_of,
  claim_advance,
  claim_purge,
  claim_stats,
  claim_next_due,
  fifo_dequeue_strict,
  lifo_dequeue_strict,
  claim_list_ready,
  claim_list_held,
  claim_list_waiting,
  claim_get,
  claim_find,
  claim_cancel,
  claim_set_priority,
  claim_state_of,
  limits_read,
  limits_ask,
  limits_lock,
  limits_spend,
  limits_pause,
  limits_set,
  limits_remove,
  queue_count,
  claim_count,
  claim_leased,
  queue_floor,
  claim_floor,
  claim_unseen,
  session_identity,
  catalog_migrator,
  catalog_set_layout,
  floors_remove,
  table_find,
  table_columns,
  table_keys,
  table_indexes,
  table_open,
  table_insert,
  table_take,
  table_complete,
  table_fail,
  table_release,
  table_extend,
  table_keep,
  table_lost,
  table_return,
  table_requeue,
  table_peek,
  table_count,
  table_next,
};

/// How many there are.
inline constexpr std::size_t statement_count = static_cast<std::size_t>(statement::table_next) + 1;

enum class value_type : std::uint8_t { integer, text, bytes };

/// A parameter or a column.
struct field {
  std::string_view name;
  value_type type;
};

}  // namespace tableq::inline v0::core
