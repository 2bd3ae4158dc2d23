#include "core/claim/step.hpp"

#include "core/claim/dead_letters.hpp"

namespace tableq::inline v0::core {

void lock_groups_of(const queue_state& of, transaction_state& tx, std::span<const message_id> ids,
                    claim_effects& into) {
  const group_set groups = groups_of(of, tx, ids);
  lock_groups(of, tx, groups);
  into.groups.insert(groups.begin(), groups.end());
}

void finish(const queue_state& of, transaction_state* tx, claim_effects& done) {
  if (of.dead_letters() != nullptr && !done.dead.empty()) {
    move_to_dead_letters(of, *tx, done.dead);
  }
  if (!done.groups.empty()) done.readable += advance_groups(of, *tx, done.groups);
  apply(of, tx, done);
}

}  // namespace tableq::inline v0::core
