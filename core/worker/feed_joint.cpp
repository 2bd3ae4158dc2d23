// The part of a worker_feed that settles and takes in one unit of work.

#include <optional>
#include <utility>

#include "core/claim/retention.hpp"
#include "core/claim/settle_and_take.hpp"
#include "core/database/access.hpp"
#include "core/queue/operation.hpp"
#include "core/worker/engine.hpp"

namespace tableq::inline v0::core {

std::size_t worker_feed::begin_joint_take() {
  const std::scoped_lock hold(engine_.mutex());
  if (!more_ || takes_ || !taking_ || take_is_overdue() || engine_.stopping().stop_requested())
    return 0;
  const std::size_t max = use_room();
  joint_ = max > 0;
  return max;
}

void worker_feed::end_joint_take(bool more, std::optional<std::uint64_t> drained_at) {
  const std::scoped_lock hold(engine_.mutex());
  joint_ = false;
  more_ = more;
  drained_at_ = drained_at;
  if (engine_.stopping().stop_requested()) {
    to_take_.notify_one();
  } else {
    wake_taker();
  }
}

bool worker_feed::settle_and_take(const std::vector<settlement>& batch, handled::how what) {
  const std::size_t max = begin_joint_take();
  if (max == 0) return false;
  struct end_of_take {
    worker_feed* feed;
    bool more = false;
    std::optional<std::uint64_t> drained_at = {};
    ~end_of_take() { feed->end_joint_take(more, drained_at); }
  } end{this};
  try {
    const queue_state& queue = access::state_of(queue_);
    auto done = operation(queue, nullptr, statement_of(what), [&] {
      return core::settle_and_take(
          queue.current(),
          {.id = statement_of(what),
           .given = batch.size(),
           .run = [&](transaction_state& tx) { return settle_once(batch, what, &tx); }},
          max, lease_);
    });
    if (!done) return false;
    end.more = done->taken.size() == max;
    end.drained_at = done->course.drained_at;
    {
      const std::scoped_lock hold(engine_.mutex());
      add(std::move(done->taken), done->course.read_began);
    }
    settled_as(batch, done->settled);
    if (done->trouble) report_trouble(done->trouble->what());
    apply_retention(queue);
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
