#include "core/claim/groups.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/stable_hash.hpp"
#include "core/claim/operations.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// The lock of a group.
std::uint64_t slot_of(std::string_view group) noexcept {
  constexpr std::uint64_t locks_of_a_queue = 256;
  const std::uint64_t hash = stable_hash(group);
  return (hash ^ (hash >> 32)) % locks_of_a_queue;
}

std::vector<lock_item> locks_of(const queue_state& queue, const group_set& groups) {
  // Sorted, so that two transactions that lock several groups cannot deadlock.
  std::set<std::uint64_t> slots;
  for (const std::string& group : groups) slots.insert(slot_of(group));
  std::vector<lock_item> out;
  out.reserve(slots.size());
  for (const std::uint64_t slot : slots) {
    // The identity is random, so another lock has the same number only by chance.
    out.push_back({static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(queue.info().identity) + 1 + slot) & 0x7FFFFFFFFFFFFFFFULL)});
  }
  return out;
}

advance_request request_to_advance(const queue_state& queue) {
  const group_options& rules = *queue.info().groups;
  return {.limit = rules.limit,
          .hold = rules.on_failure == group_policy::hold,
          .now = queue.database().now()};
}

std::vector<group_item> items_of(const group_set& groups) {
  std::vector<group_item> out;
  out.reserve(groups.size());
  for (const std::string& group : groups) out.push_back({group});
  return out;
}

}  // namespace

group_set groups_of(const queue_state& queue, transaction_state* tx,
                    std::span<const message_id> ids) {
  group_set out;
  if (ids.empty()) return out;
  for (auto& row : queue.execute(tx, statements::claim_group_of, {}, items_of(ids))) {
    out.insert(std::move(row.group_key));
  }
  return out;
}

void lock_groups(const queue_state& queue, transaction_state& tx, const group_set& groups) {
  if (!groups.empty()) queue.execute(&tx, statements::queue_lock, {}, locks_of(queue, groups));
}

std::size_t advance_groups(const queue_state& queue, transaction_state& tx,
                           const group_set& groups) {
  if (groups.empty()) return 0;
  return queue.execute(&tx, statements::claim_advance, request_to_advance(queue), items_of(groups))
      .size();
}

std::optional<std::vector<row_set>> in_locked_groups(const queue_state& queue,
                                                     const group_set& groups, statement_call work) {
  const std::vector<lock_item> locks = locks_of(queue, groups);
  const std::vector<group_item> items = items_of(groups);
  std::array all{call_of(statements::queue_lock, {}, locks), std::move(work),
                 call_of(statements::claim_advance, request_to_advance(queue), items)};
  auto rows = queue.execute_together(all, 1);
  if (rows) rows->erase(rows->begin());
  return rows;
}

}  // namespace tableq::inline v0::core
