#include "core/claim/step.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/error.hpp>

#include "core/base/stable_hash.hpp"
#include "core/claim/dead_letters.hpp"
#include "core/claim/operations.hpp"
#include "core/database/transaction_state.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// The lock of a group.
std::uint64_t slot_of(std::string_view group) noexcept {
  constexpr std::uint64_t locks_of_a_queue = 256;
  const std::uint64_t hash = stable_hash(group);
  return (hash ^ (hash >> 32)) % locks_of_a_queue;
}

/// Also false if the check is not possible now.
bool certainly(const queue_state& queue, const fresh_look& gone,
               std::span<const std::size_t> unseen) {
  // Other transactions may hold all sessions of the server, and wait for a second one too.
  if (queue.database().dialect_driver().pooled()) return false;
  // The transaction may hold the last session. A long wait is not worthwhile, because the caller
  // can repeat.
  constexpr std::chrono::milliseconds patience{100};
  try {
    const leased_session session = queue.database().sessions().lease(patience);
    return gone(*session, unseen);
  } catch (const error&) {
    return false;
  }
}

}  // namespace

group_set groups_of(const queue_state& queue, transaction_state& tx,
                    std::span<const message_id> ids) {
  group_set out;
  if (ids.empty()) return out;
  for (auto& row : queue.execute(&tx, statements::claim_group_of, {}, items_of(ids))) {
    out.insert(std::move(row.group_key));
  }
  return out;
}

void lock_groups(const queue_state& queue, transaction_state& tx, const group_set& groups) {
  // Sorted, so that two transactions that lock several groups cannot deadlock.
  std::set<std::uint64_t> slots;
  for (const std::string& group : groups) slots.insert(slot_of(group));
  for (const std::uint64_t slot : slots) {
    // The identity is random, so another lock has the same number only by chance.
    const auto key = static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(queue.info().identity) + 1 + slot) & 0x7FFFFFFFFFFFFFFFULL);
    queue.execute(&tx, statements::queue_lock, {.identity = key});
  }
}

std::size_t advance_groups(const queue_state& queue, transaction_state& tx,
                           const group_set& groups) {
  if (groups.empty()) return 0;
  const group_options& rules = *queue.info().groups;
  std::vector<group_item> items;
  items.reserve(groups.size());
  for (const std::string& group : groups) items.push_back({group});
  return queue
      .execute(&tx, statements::claim_advance,
               {.limit = rules.limit,
                .hold = rules.on_failure == group_policy::hold,
                .now = queue.database().now()},
               items)
      .size();
}

void lock_groups_of(const queue_state& queue, transaction_state& tx,
                    std::span<const message_id> ids, claim_effects& done) {
  const group_set groups = groups_of(queue, tx, ids);
  lock_groups(queue, tx, groups);
  done.groups.insert(groups.begin(), groups.end());
}

void finish(const queue_state& queue, transaction_state* tx, claim_effects& done) {
  if (queue.dead_letters() != nullptr && !done.dead.empty()) {
    move_to_dead_letters(queue, *tx, done.dead);
  }
  if (!done.groups.empty()) done.readable += advance_groups(queue, *tx, done.groups);
  apply(queue, tx, done);
}

void check_unseen(const queue_state& queue, transaction_state* tx,
                  std::span<const message_id> passed, const fresh_look& gone) {
  // A statement that commits by itself has a snapshot of its own.
  if (tx == nullptr || tx->in_none() || passed.empty()) return;
  std::vector<std::size_t> unseen;
  for (const auto& row : queue.execute(tx, statements::claim_unseen, {}, items_of(passed))) {
    unseen.push_back(row.item);
  }
  if (unseen.empty() || certainly(queue, gone, unseen)) return;
  throw error(errc::conflict, advice::transaction,
              "the transaction keeps a snapshot from before the message of the queue " +
                  queue.name() +
                  " was added; roll back and run it again, or begin it at READ COMMITTED",
              {.backend = queue.database().name()});
}

}  // namespace tableq::inline v0::core
