#include "core/seam/contract.hpp"

#include <algorithm>
#include <array>

#include "core/seam/catalog_statements.hpp"
#include "core/seam/claim_statements.hpp"
#include "core/seam/limit_statements.hpp"
#include "core/seam/queue_statements.hpp"
#include "core/seam/table_statements.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr std::size_t find(std::span<const field> fields, std::string_view name) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
  }
  return contract::no_place;
}
constexpr bool has(std::span<const field> fields, std::string_view name) {
  return find(fields, name) != contract::no_place;
}

constexpr bool concerns_messages(std::string_view name) {
  return !(name.starts_with("catalog.") || name.starts_with("limits.") ||
           name.starts_with("queue.") || name.starts_with("table."));
}

template <class Shared, class Item, class Row>
constexpr contract contract_for(const typed_statement<Shared, Item, Row>& typed,
                                std::string_view name, bool writes) {
  const std::span<const field> shared = described<Shared>;
  const std::span<const field> items = described<Item>;
  const std::span<const field> columns = described<Row>;
  return {.id = typed.id,
          .name = name,
          .writes = writes,
          .shared = shared,
          .items = items,
          .columns = columns,
          .changes_messages = writes && concerns_messages(name),
          .counts_messages = has(columns, "id"),
          .settles = has(items, "fence"),
          .max_at = find(shared, "max"),
          .now_at = find(shared, "now"),
          .token_at = find(shared, "token"),
          .key_at = find(items, "key")};
}

/// A statement that may change something.
template <class Typed>
constexpr contract change(const Typed& typed, std::string_view name) {
  return contract_for(typed, name, true);
}
/// One that does not.
template <class Typed>
constexpr contract query(const Typed& typed, std::string_view name) {
  return contract_for(typed, name, false);
}

constexpr std::array all{
    query(statements::catalog_exists, "catalog.exists"),
    query(statements::catalog_lock, "catalog.lock"),
    query(statements::catalog_list, "catalog.list"),
    query(statements::catalog_find, "catalog.find"),
    change(statements::catalog_insert, "catalog.insert"),
    change(statements::catalog_remove, "catalog.remove"),
    query(statements::table_exists, "table.exists"),
    query(statements::queue_lock, "queue.lock"),
    change(statements::queue_drop, "queue.drop"),
    query(statements::notify_send, "notify.send"),
    query(statements::listen_begin, "listen.begin"),
    query(statements::listen_hold, "listen.hold"),
    query(statements::listen_drop, "listen.drop"),
    query(statements::listen_end, "listen.end"),
    query(statements::doctor_database, "doctor.database"),
    query(statements::doctor_queue, "doctor.queue"),
    query(statements::doctor_ids, "doctor.ids"),
    change(statements::heap_enqueue, "heap.enqueue"),
    change(statements::heap_dequeue, "heap.dequeue"),
    query(statements::heap_peek, "heap.peek"),
    change(statements::heap_purge, "heap.purge"),
    query(statements::heap_stats, "heap.stats"),
    change(statements::fifo_enqueue, "fifo.enqueue"),
    change(statements::fifo_dequeue, "fifo.dequeue"),
    query(statements::fifo_peek, "fifo.peek"),
    change(statements::fifo_purge, "fifo.purge"),
    query(statements::fifo_stats, "fifo.stats"),
    change(statements::lifo_enqueue, "lifo.enqueue"),
    change(statements::lifo_dequeue, "lifo.dequeue"),
    query(statements::lifo_peek, "lifo.peek"),
    change(statements::lifo_purge, "lifo.purge"),
    query(statements::lifo_stats, "lifo.stats"),
    change(statements::pending_enqueue, "pending.enqueue"),
    change(statements::pending_dequeue, "pending.dequeue"),
    query(statements::pending_peek, "pending.peek"),
    change(statements::pending_purge, "pending.purge"),
    query(statements::pending_stats, "pending.stats"),
    query(statements::pending_next_due, "pending.next_due"),
    change(statements::claim_enqueue, "claim.enqueue"),
    query(statements::claim_find_key, "claim.find_key"),
    change(statements::claim_replace, "claim.replace"),
    change(statements::claim_forget, "claim.forget"),
    change(statements::claim_free, "claim.free"),
    change(statements::claim_take, "claim.take"),
    change(statements::claim_promote, "claim.promote"),
    change(statements::claim_complete, "claim.complete"),
    change(statements::claim_keep, "claim.keep"),
    change(statements::claim_fail, "claim.fail"),
    change(statements::claim_release, "claim.release"),
    change(statements::claim_extend, "claim.extend"),
    change(statements::claim_heartbeat, "claim.heartbeat"),
    query(statements::claim_lost, "claim.lost"),
    query(statements::claim_peek, "claim.peek"),
    query(statements::claim_list, "claim.list"),
    change(statements::claim_redrive, "claim.redrive"),
    change(statements::claim_redrive_all, "claim.redrive_all"),
    change(statements::claim_remove, "claim.remove"),
    change(statements::claim_adopt, "claim.adopt"),
    query(statements::claim_group_of, "claim.group_of"),
    change(statements::claim_advance, "claim.advance"),
    change(statements::claim_purge, "claim.purge"),
    query(statements::claim_stats, "claim.stats"),
    query(statements::claim_next_due, "claim.next_due"),
    change(statements::fifo_dequeue_strict, "fifo.dequeue_strict"),
    change(statements::lifo_dequeue_strict, "lifo.dequeue_strict"),
    query(statements::claim_list_ready, "claim.list_ready"),
    query(statements::claim_list_held, "claim.list_held"),
    query(statements::claim_list_waiting, "claim.list_waiting"),
    query(statements::claim_get, "claim.get"),
    query(statements::claim_find, "claim.find"),
    change(statements::claim_cancel, "claim.cancel"),
    change(statements::claim_set_priority, "claim.set_priority"),
    query(statements::claim_state_of, "claim.state_of"),
    query(statements::limits_read, "limits.read"),
    change(statements::limits_ask, "limits.ask"),
    change(statements::limits_lock, "limits.lock"),
    change(statements::limits_spend, "limits.spend"),
    change(statements::limits_pause, "limits.pause"),
    change(statements::limits_set, "limits.set"),
    change(statements::limits_remove, "limits.remove"),
    query(statements::queue_count, "queue.count"),
    query(statements::claim_count, "claim.count"),
    query(statements::claim_leased, "claim.leased"),
    query(statements::claim_unseen, "claim.unseen"),
    query(statements::session_identity, "session.identity"),
    query(statements::catalog_migrator, "catalog.migrator"),
    change(statements::catalog_set_layout, "catalog.set_layout"),
    change(statements::claim_take_turns, "claim.take_turns"),
    query(statements::claim_letters, "claim.letters"),
    query(statements::queue_alter, "queue.alter"),
    query(statements::claim_pick, "claim.pick"),
    change(statements::claim_lease, "claim.lease"),
    query(statements::claim_taken, "claim.taken"),
    change(statements::claim_look, "claim.look"),
    query(statements::catalog_queue, "catalog.queue"),
    query(statements::queue_hidden, "queue.hidden"),
    query(statements::table_find, "table.find"),
    query(statements::table_columns, "table.columns"),
    query(statements::table_keys, "table.keys"),
    query(statements::table_indexes, "table.indexes"),
    query(statements::mapped<statement::table_open>, "table.open"),
    change(statements::mapped<statement::table_insert>, "table.insert"),
    change(statements::mapped<statement::table_take>, "table.take"),
    change(statements::mapped<statement::table_complete>, "table.complete"),
    change(statements::mapped<statement::table_fail>, "table.fail"),
    change(statements::mapped<statement::table_release>, "table.release"),
    change(statements::mapped<statement::table_extend>, "table.extend"),
    change(statements::mapped<statement::table_keep>, "table.keep"),
    query(statements::mapped<statement::table_lost>, "table.lost"),
    change(statements::mapped<statement::table_return>, "table.return"),
    change(statements::mapped<statement::table_requeue>, "table.requeue"),
    query(statements::mapped<statement::table_peek>, "table.peek"),
    query(statements::mapped<statement::table_count>, "table.count"),
    query(statements::mapped<statement::table_next>, "table.next"),
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<std::size_t>(all[i].id) != i) return false;
  return true;
}
static_assert(in_order(), "contracts follow the order of the enumeration");
static_assert(all.size() == statement_count, "statement_count names the last of them");

}  // namespace

std::span<const contract> contracts() noexcept {
  return all;
}

const contract& contract_of(statement id) noexcept {
  return all[static_cast<std::size_t>(id)];
}

std::string_view operation_of(statement id) noexcept {
  switch (id) {
    case statement::claim_keep:
      return contract_of(statement::claim_complete).name;
    case statement::claim_look:
      return contract_of(statement::claim_take).name;
    case statement::fifo_dequeue_strict:
      return contract_of(statement::fifo_dequeue).name;
    case statement::lifo_dequeue_strict:
      return contract_of(statement::lifo_dequeue).name;
    case statement::claim_list_ready:
    case statement::claim_list_held:
    case statement::claim_list_waiting:
      return contract_of(statement::claim_list).name;
    default:
      return contract_of(id).name;
  }
}

bool optional(statement id, const capabilities& features) noexcept {
  using enum statement;
  if (id >= table_find) return true;
  switch (id) {
    case notify_send:
    case listen_begin:
    case listen_hold:
    case listen_drop:
    case listen_end:
    case claim_look:
      return !features.notifies;
    case claim_pick:
    case claim_lease:
    case claim_taken:
      return !features.changes_copy_rows;
    default:
      return false;
  }
}

}  // namespace tableq::inline v0::core
