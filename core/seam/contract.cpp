#include "core/seam/contract.hpp"

#include <array>
#include <string_view>

#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr bool adds_messages(statement id) {
  using enum statement;
  return id == heap_enqueue || id == fifo_enqueue || id == lifo_enqueue || id == pending_enqueue ||
         id == claim_enqueue || id == notify_send;
}

template <bool Writes, bool ChangesMessages, class Shared, class Item, class Row>
constexpr contract contract_for(statement id, std::string_view name) {
  const std::span<const field> shared = described<Shared>;
  const std::span<const field> items = described<Item>;
  const std::span<const field> columns = described<Row>;
  const auto has = [](std::span<const field> fields, std::string_view wanted) {
    return place_among(fields, wanted) != contract::no_place;
  };
  return {.id = id,
          .name = name,
          .writes = Writes,
          .shared = shared,
          .items = items,
          .columns = columns,
          .adds = adds_messages(id),
          .changes_messages = ChangesMessages,
          .counts_messages = has(columns, "id"),
          .settles = has(items, "fence"),
          .max_at = place_among(shared, "max"),
          .now_at = place_among(shared, "now"),
          .token_at = place_among(shared, "token"),
          .key_at = place_among(items, "key")};
}

#define TABLEQ_CONTRACT(writes, changes_messages, group, name, ...) \
  contract_for<writes, changes_messages, __VA_ARGS__>(statement::group##_##name, #group "." #name),
#define TABLEQ_QUERY(...) TABLEQ_CONTRACT(false, false, __VA_ARGS__)
#define TABLEQ_CHANGE(...) TABLEQ_CONTRACT(true, true, __VA_ARGS__)
#define TABLEQ_RECORD(...) TABLEQ_CONTRACT(true, false, __VA_ARGS__)

constexpr std::array listed{TABLEQ_STATEMENTS(TABLEQ_QUERY, TABLEQ_CHANGE, TABLEQ_RECORD)};
static_assert(listed.size() == statement_count, "statement_count names the last of them");

constexpr statement before(statement id) {
  return static_cast<statement>(static_cast<std::size_t>(id) - 1);
}

}  // namespace

std::span<const contract> contracts() noexcept {
  return listed;
}

const contract& contract_of(statement id) noexcept {
  return listed[static_cast<std::size_t>(id)];
}

std::string_view operation_of(statement id) noexcept {
  for (const std::string_view detail : {"_outline", "_seen"}) {
    if (contract_of(id).name.ends_with(detail)) return operation_of(before(id));
  }
  switch (id) {
    case statement::claim_keep:
    case statement::claim_keep_result:
      return contract_of(statement::claim_complete).name;
    case statement::claim_look:
    case statement::claim_take_limited:
      return contract_of(statement::claim_take).name;
    case statement::limits_held:
      return contract_of(statement::limits_lock).name;
    case statement::fifo_dequeue_strict:
      return contract_of(statement::fifo_dequeue).name;
    case statement::lifo_dequeue_strict:
      return contract_of(statement::lifo_dequeue).name;
    case statement::claim_list_ready:
    case statement::claim_list_held:
    case statement::claim_list_waiting:
    case statement::claim_filter:
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
    case listen_quiet:
    case listen_drop:
    case listen_end:
    case claim_look:
    case claim_take_limited:
      return !features.notifies;
    case batch_leave:
      return features.one_writer;
    case batch_remove:
      return !features.one_writer;
    case claim_lengthy:
      return true;
    default:
      return false;
  }
}

}  // namespace tableq::inline v0::core
