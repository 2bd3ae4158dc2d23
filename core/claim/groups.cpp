#include "core/claim/groups.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tableq::core {
namespace {

/// Which of a queue's locks a group has. All processes must agree, so the hash is written out:
/// FNV-1a of 64 bits (Fowler, Noll, Vo).
std::uint64_t slot_of(std::string_view group) noexcept {
  constexpr std::uint64_t locks_of_a_queue = 256;
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : group) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return (hash ^ (hash >> 32)) % locks_of_a_queue;
}

}  // namespace

group_set groups_of(const queue_state& of, transaction& tx, std::span<const message_id> ids) {
  std::vector<value> items;
  items.reserve(ids.size());
  for (const message_id id : ids) items.emplace_back(id.value);
  group_set out;
  if (items.empty()) return out;
  row_set rows = of.execute_batch(&tx, statement::claim_group_of, {}, items);
  for (std::size_t i = 0; i < rows.size(); ++i) out.insert(rows.take_text(i, 1));
  return out;
}

void lock_groups(const queue_state& of, transaction& tx, const group_set& groups) {
  // Sorted: two that lock several do not wait for each other in a circle.
  std::set<std::uint64_t> slots;
  for (const std::string& group : groups) slots.insert(slot_of(group));
  for (const std::uint64_t slot : slots) {
    // The identity is random: others that lock by such a number are not met but by chance.
    const value key(static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(of.info().identity) + 1 + slot) & 0x7FFFFFFFFFFFFFFFULL));
    of.execute(&tx, statement::queue_lock, {&key, 1});
  }
}

void advance_groups(const queue_state& of, transaction& tx, const group_set& groups) {
  if (groups.empty()) return;
  const group_options& rules = *of.info().groups;
  const bool hold = rules.on_failure == group_policy::hold;
  const std::array shared{value(std::int64_t{rules.limit}), value(std::int64_t{hold ? 1 : 0})};
  std::vector<value> items;
  items.reserve(groups.size());
  for (const std::string& group : groups) items.emplace_back(std::string_view(group));
  of.announce(&tx, of.execute_batch(&tx, statement::claim_advance, shared, items).size());
}

}  // namespace tableq::core
