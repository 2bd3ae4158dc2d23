#include "core/claim/step.hpp"

#include "core/claim/dead_letters.hpp"

namespace tableq::inline v0::core {

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

}  // namespace tableq::inline v0::core
