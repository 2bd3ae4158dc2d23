#include "core/queue/effects.hpp"

#include "core/database/transaction_state.hpp"

namespace tableq::inline v0::core {

void apply(const queue_state& queue, transaction_state* tx, const effects& done) {
  if (done.readable != 0) {
    watched_queue& watched = queue.watched();
    if (tx != nullptr) {
      tx->announce_on_commit(watched, done.readable);
    } else {
      queue.database().announce(watched, done.readable);
    }
  }
  limits_watch& limits = queue.limits();
  if (!limits.limited()) return;
  if (done.left) limits.made_room();
  if (done.readmitted) limits.room().forget();
  if (tx != nullptr && (done.left || done.readmitted)) {
    tx->changes_room(limits, done.readmitted);
  }
}

}  // namespace tableq::inline v0::core
