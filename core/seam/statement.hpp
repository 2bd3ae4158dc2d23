#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tableq/dialect.hpp>
#include <tableq/options.hpp>

namespace tableq::core {

/// Every statement that core asks of a database. The texts are in drivers/*/statements.sql under
/// the names that the contracts give.
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
};

enum class value_type : std::uint8_t { integer, text, bytes };

/// A parameter or a column.
struct field {
  std::string_view name;
  value_type type;
};

/// What a statement takes and returns, the same for every database.
///
/// A text may use each parameter any number of times, or not at all where the database has no need
/// of it. A statement with items is a batch: see `batching`. Its rows then say which item they
/// belong to in a column of their own, before `columns`: `item`, counted from 0.
struct contract {
  statement id;
  std::string_view name;           ///< `fifo.dequeue`; also the operation in errors.
  bool writes;                     ///< Losing the session under way leaves the outcome unknown.
  std::span<const field> shared;   ///< Given once.
  std::span<const field> items;    ///< Given for each item; empty: not a batch.
  std::span<const field> columns;  ///< Of each row; empty: what is returned is ignored.

  [[nodiscard]] bool has_shared(std::string_view field_name) const noexcept;
  [[nodiscard]] bool has_item(std::string_view field_name) const noexcept;
  [[nodiscard]] bool has_column(std::string_view field_name) const noexcept;
};

/// All contracts, in the order of the enumeration.
std::span<const contract> contracts() noexcept;

const contract& contract_of(statement id) noexcept;

/// Whether a dialect may lack the statement, because core never asks it for that.
bool optional(statement id, const capabilities& able) noexcept;

/// The operations that heap, fifo, lifo and pending share.
enum class destructive_operation : std::uint8_t { enqueue, dequeue, peek, purge, stats };

/// The statement of an operation for a kind other than claim.
statement statement_for(kind of, destructive_operation operation) noexcept;

/// The statement that reads from a queue of a kind other than claim: a strict one waits for the
/// message at the head, where others hold it, instead of passing it.
statement dequeue_for(kind of, ordering order) noexcept;

/// The columns of the rows that describe a message, in their order.
enum class message_column : std::size_t { id, created_at, due_at, payload };
enum class delivery_column : std::size_t {
  id,
  fence,
  attempts,
  priority,
  created_at,
  claimed_at,
  lease_until,
  key,
  group_key,
  expired,
  headers,
  payload
};
enum class stored_column : std::size_t {
  id,
  state,
  priority,
  attempts,
  created_at,
  due_at,
  claimed_at,
  finished_at,
  key,
  group_key,
  expires_at,
  headers,
  errors,
  payload
};

}  // namespace tableq::core
