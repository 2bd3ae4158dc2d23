#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/transaction.hpp>

#include "core/claim/groups.hpp"
#include "core/database/transaction_state.hpp"
#include "core/queue/effects.hpp"
#include "core/queue/queue_hook.hpp"
#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// The effects of an operation on a claim queue.
struct claim_effects : effects, message_ends {
  /// Messages that would be ready, unless their groups are limited.
  std::vector<message_id> returned = {};
  group_set groups = {};  ///< Locked groups in which there may be room.
};

/// Locks the groups of these messages, until the transaction ends.
void lock_groups_of(const queue_state& queue, transaction_state& tx,
                    std::span<const message_id> ids, claim_effects& done);

/// Calls the hook of the queue, moves dead messages, advances groups, and calls `apply`, which
/// wakes readers and frees room. An operation with none of these calls `apply` itself.
void finish(const queue_state& queue, transaction_state* tx, claim_effects& done);

/// Whether the end of a message affects other messages or queues.
[[nodiscard]] inline bool has_consequences(const queue_state& queue) noexcept {
  return queue.info().groups || queue.dead_letters() != nullptr || queue.info().batches;
}

/// Runs `work(transaction_state*, claim_effects&)` and its consequences; in one transaction, if
/// that takes several statements. `work` may make room in the groups of `ids`, which are locked
/// first.
/// @param several whether there are consequences even if `ids` is empty.
template <class Work>
auto claim_step(const queue_state& queue, transaction_state* tx, std::span<const message_id> ids,
                bool several, Work work) {
  const bool grouped = queue.info().groups && !ids.empty();
  const auto once = [&](transaction_state* step_tx) {
    claim_effects done;
    if (grouped) lock_groups_of(queue, *step_tx, ids, done);
    auto result = work(step_tx, done);
    finish(queue, step_tx, done);
    return result;
  };
  if (!grouped && !several) return once(tx);
  return in_one_transaction(queue.database(), tx,
                            [&](transaction_state& step_tx) { return once(&step_tx); });
}

/// Returns whether the statement was right to skip these messages, by the committed data. Gets a
/// new session, and the indexes of the messages in `passed`.
using fresh_look = std::function<bool(connection&, std::span<const std::size_t>)>;

/// Checks messages that a statement has skipped. If the transaction keeps a snapshot, other
/// sessions may have added them after it. Messages that the transaction cannot see are checked
/// outside of it.
/// @param tx the caller's; null: there is nothing to check.
/// @throws error errc::conflict when a message may exist, or cannot be checked.
void check_unseen(const queue_state& queue, transaction_state* tx,
                  std::span<const message_id> passed, const fresh_look& gone);

}  // namespace tableq::inline v0::core
