#pragma once

#include <set>
#include <span>
#include <string>

#include <tableq/message.hpp>
#include <tableq/transaction.hpp>

#include "core/database/in_transaction.hpp"
#include "core/queue/queue_state.hpp"

namespace tableq::core {

// Messages with one `group` are handed out one after the other. Those that must wait are `held`:
// they stand in no index that a take looks at. Whoever adds a message to a group, or makes room in
// it, locks the group first, does his work, and then lets the next ones go: each step sees what
// those who had the lock before have committed.

using group_set = std::set<std::string, std::less<>>;

/// The groups of these messages, as far as they have one.
group_set groups_of(const queue_state& of, transaction& tx, std::span<const message_id> ids);

/// Until the transaction ends.
void lock_groups(const queue_state& of, transaction& tx, const group_set& groups);

/// Makes as many of the held messages ready as there is room for. The groups must be locked.
void advance_groups(const queue_state& of, transaction& tx, const group_set& groups);

/// Runs `work(transaction*)`, which may make room in the groups of these messages, and lets the
/// next ones go. Where the queue has no groups it just runs it.
template <class Work>
auto advancing(const queue_state& of, transaction* tx, std::span<const message_id> ids, Work work) {
  if (!of.info().groups || ids.empty()) return work(tx);
  return in_one_transaction(of.database(), tx, [&](transaction& in) {
    const group_set groups = groups_of(of, in, ids);
    lock_groups(of, in, groups);
    auto result = work(&in);
    advance_groups(of, in, groups);
    return result;
  });
}

}  // namespace tableq::core
