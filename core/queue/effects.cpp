#include "core/queue/effects.hpp"

#include "core/database/transaction_state.hpp"

namespace tableq::inline v0::core {

void apply(const queue_state& queue, transaction_state* tx, const effects& done) {
  shared_queue& shared = queue.shared();
  if (done.readable != 0) {
    if (tx != nullptr) {
      tx->announce_on_commit(shared, done.readable);
    } else {
      queue.database().announce(shared.watched, done.readable);
    }
  }
  limits_watch& limits = shared.limits;
  if (!limits.limited()) return;
  if (done.left) limits.made_room();
  if (done.readmitted) limits.room().forget();
  if (tx != nullptr && (done.left || done.readmitted)) {
    tx->changes_room(shared, done.readmitted);
  }
}

}  // namespace tableq::inline v0::core
