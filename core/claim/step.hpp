#pragma once

#include <span>
#include <vector>

#include <tableq/fwd.hpp>
#include <tableq/message.hpp>

#include "core/claim/groups.hpp"
#include "core/database/in_transaction.hpp"
#include "core/queue/effects.hpp"

namespace tableq::inline v0::core {

/// What an operation did to a claim queue.
struct claim_effects : effects {
  std::vector<message_id> dead = {};  ///< Messages that died; they go to the dead-letter queue.
  group_set groups = {};              ///< Locked groups in which there may be room.
};

/// Locks the groups of these messages, until the transaction ends.
void lock_groups_of(const queue_state& of, transaction_state& tx, std::span<const message_id> ids,
                    claim_effects& into);

/// Does what follows from an operation: moves the dead, advances groups, wakes readers, frees room.
/// This is the one place that does.
void finish(const queue_state& of, transaction_state* tx, claim_effects& done);

/// Whether messages of the queue that end concern others.
[[nodiscard]] inline bool has_consequences(const queue_state& of) noexcept {
  return of.info().groups || of.dead_letters() != nullptr;
}

/// Runs `work(transaction_state*, claim_effects&)` and what follows from it, in one transaction
/// where that takes several statements. `work` may make room in the groups of `ids`, which are
/// locked first.
/// @param several whether there are consequences although `ids` does not tell.
template <class Work>
auto claim_step(const queue_state& of, transaction_state* tx, std::span<const message_id> ids,
                bool several, Work work) {
  const bool grouped = of.info().groups && !ids.empty();
  const auto once = [&](transaction_state* in) {
    claim_effects done;
    if (grouped) lock_groups_of(of, *in, ids, done);
    auto result = work(in, done);
    finish(of, in, done);
    return result;
  };
  if (!grouped && !several) return once(tx);
  return in_one_transaction(of.database(), tx, [&](transaction_state& in) { return once(&in); });
}

}  // namespace tableq::inline v0::core
