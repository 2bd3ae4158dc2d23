// The part of a worker_engine that settles and takes in one unit of work.

#include <optional>
#include <utility>

#include "core/claim/settle_and_take.hpp"
#include "core/database/access.hpp"
#include "core/queue/operation.hpp"
#include "core/worker/engine.hpp"

namespace tableq::inline v0::core {

std::size_t worker_engine::begin_joint_take() {
  const std::scoped_lock hold(mutex_);
  if (!more_ || takes_ || !taking_ || take_is_overdue() || stop_.stop_requested()) return 0;
  const std::size_t max = free_room();
  joint_ = max > 0;
  return max;
}

void worker_engine::end_joint_take(bool more) {
  const std::scoped_lock hold(mutex_);
  joint_ = false;
  more_ = more;
  if (stop_.stop_requested()) {
    to_take_.notify_one();
  } else {
    wake_taker();
  }
}

bool worker_engine::settle_and_take(const std::vector<settlement>& batch, handled::how what) {
  const std::size_t max = begin_joint_take();
  if (max == 0) return false;
  struct end_of_take {
    worker_engine* engine;
    bool more;
    ~end_of_take() { engine->end_joint_take(more); }
  } end{this, false};
  try {
    const queue_state& queue = access::state_of(queue_);
    auto done = operation(queue, nullptr, statement_of(what), [&] {
      return core::settle_and_take(
          queue,
          {.id = statement_of(what),
           .given = batch.size(),
           .run = [&](transaction_state& tx) { return settle_once(batch, what, &tx); }},
          max, lease_);
    });
    if (!done) return false;
    end.more = done->taken.size() == max;
    {
      const std::scoped_lock hold(mutex_);
      add(std::move(done->taken), done->read_began);
    }
    settled_as(batch, done->settled);
    if (done->trouble) {
      report({.what = worker_event::kind::trouble, .why = done->trouble->what()});
    }
    return true;
  } catch (const error& failure) {
    // Both parts may have been committed.
    if (failure.code() != errc::outcome_unknown) return false;
    not_settled(batch, failure.what());
    return true;
  } catch (const std::exception&) {  // Usually a lack of memory: each part by itself needs less.
    return false;
  }
}

}  // namespace tableq::inline v0::core
