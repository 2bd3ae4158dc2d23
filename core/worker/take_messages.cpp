#include "core/worker/take_messages.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "core/base/errors.hpp"
#include "core/claim/retention.hpp"
#include "core/queue/operation.hpp"
#include "core/queue/waiting.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;

/// How long a take waits before the worker checks for the end of an empty queue.
constexpr milliseconds empty_check{1000};
/// The wait of a take if there is nothing to check: its token stops it.
constexpr milliseconds long_wait{60'000};

/// A take begins.
/// @return how many messages it asks for. Zero: there is no room.
std::size_t use_room(const worker_state& worker, worker_queue& queue) {
  const std::size_t out = worker.room(queue);
  queue.aside.took();
  if (out > 0) queue.more = false;
  return out;
}

/// Waits until it is the turn of the taking thread.
/// @return how many messages to take. Zero: stop.
std::size_t wait_for_turn(const worker_state& worker, worker_queue& queue) {
  using waits = worker_queue::waits;
  std::unique_lock lock(worker.mutex());
  queue.takes = false;
  const std::stop_token stop = worker.stopping();
  bool joint = false;
  do {
    queue.taker_waits = waits::for_room;
    queue.to_take.wait(lock, stop, [&] { return worker.room(queue) > 0; });
    queue.taker_waits = waits::for_settlement;
    // A settlement that lasts long, for instance because it waits for a lock, does not hold up a
    // take. One that takes, too, has more time: a take beside it may be the first of the two to
    // end, and its later messages are then handled first.
    joint = queue.joint;
    queue.to_take.wait_until(lock, stop,
                             queue.took_at + (joint ? 2 : 1) * worker_queue::longest_without_take,
                             [&] { return !worker_state::left_to_settlement(queue); });
    queue.taker_waits = waits::no;
    if (stop.stop_requested()) return 0;
  } while (worker.room(queue) == 0 || (queue.joint && !joint));
  queue.takes = true;
  queue.took_at = moment::clock::now();
  return use_room(worker, queue);
}

/// A take found nothing: at most once a minute looks whether messages are hidden from this
/// session's user, and reports the trouble once.
class hidden_messages {
 public:
  void look(const worker_state& worker, const worker_queue& queue) {
    constexpr std::chrono::minutes between_looks{1};
    const moment now = moment::clock::now();
    if (now < next_) return;
    next_ = now + between_looks;
    const auto found = find_hidden(queue.state());
    if (!std::exchange(hidden_, found.has_value()) && hidden_) {
      worker.report_trouble(queue, (found->what + ": " + found->fix).c_str());
    }
  }

 private:
  moment next_ = {};
  bool hidden_ = false;
};

/// A take found nothing: whether all queues of the worker are empty.
bool nothing_left(worker_state& worker, worker_queue& queue) {
  std::uint64_t finds = 0;
  {
    const std::scoped_lock hold(worker.mutex());
    queue.run_dry = std::stop_source();
    queue.empty_at.reset();
    // All messages held here are leased, and their handlers may enqueue others into this queue, so
    // the answer is known without a query.
    if (worker.holds_some()) return false;
    finds = worker.finds;
  }
  const claim_stats stats = queue.claims.stats();
  if (stats.ready + stats.delayed + stats.leased != 0) return false;
  const std::scoped_lock hold(worker.mutex());
  queue.empty_at = finds;
  return worker.all_empty();
}

}  // namespace

void take_messages(worker_state& worker, worker_queue& queue) {
  const bool until_empty = worker.options().until_empty;
  const stop_scope heard(worker.stopping(), worker.given_up());
  backoff pauses(shortest_pause, longest_pause);
  hidden_messages hidden;
  bool was_empty = false;
  while (const std::size_t max = wait_for_turn(worker, queue)) {
    try {
      // With until_empty a take that finds nothing begins the check for the end.
      const milliseconds wait = !until_empty ? long_wait : was_empty ? empty_check : milliseconds{};
      take_course course;
      if (!until_empty) {
        const std::scoped_lock hold(worker.mutex());
        course.drained_at = std::exchange(queue.drained_at, std::nullopt);
      }
      std::stop_source wake = queue.run_dry;
      const std::stop_callback stops(worker.stopping(), [&] { wake.request_stop(); });
      const take_options terms{.wait = wait, .lease = queue.lease, .stop = wake.get_token()};
      std::vector<delivery> taken =
          operation(queue.claims, statement::claim_take, take, max, terms, &course);
      pauses.reset();
      was_empty = taken.empty();
      if (was_empty) {
        hidden.look(worker, queue);
        apply_retention(queue.state());
        if (until_empty && nothing_left(worker, queue)) return;
      }
      took(worker, queue, std::move(taken), max, course);
    } catch (const error& failure) {
      if (failure.code() == errc::busy && worker.stopped()) continue;
      // The messages of a lost take return after their leases.
      const bool lost = failure.code() == errc::outcome_unknown;
      const bool may_recover = may_concern_one_message(failure) && !until_empty;
      if (!lost && !may_pass(failure) && !may_recover) throw;
      worker.trouble(queue, failure.what(), pauses, true);
    } catch (const std::exception& failure) {  // Usually a lack of memory: fewer messages need
                                               // less.
      worker.trouble(queue, failure.what(), pauses, true);
      const std::scoped_lock hold(worker.mutex());
      queue.at_once = std::max<std::size_t>(queue.at_once / 2, 1);
    }
  }
}

std::size_t begin_joint_take(const worker_state& worker, worker_queue& queue) {
  const std::scoped_lock hold(worker.mutex());
  if (!queue.more || queue.takes || queue.taken_all) return 0;
  if (worker_state::is_overdue(queue) || worker.stopped()) return 0;
  const std::size_t max = use_room(worker, queue);
  queue.joint = max > 0;
  return max;
}

void end_joint_take(const worker_state& worker, worker_queue& queue) {
  const std::scoped_lock hold(worker.mutex());
  queue.joint = false;
  worker.wake_taker(queue);
}

void took(worker_state& worker, worker_queue& queue, std::vector<delivery> taken, std::size_t max,
          const take_course& course) {
  const std::scoped_lock hold(worker.mutex());
  queue.more = taken.size() == max;
  queue.drained_at = course.drained_at;
  queue.at_once = std::min(queue.at_once * 2, worker_queue::largest_take);
  if (!taken.empty()) worker.add(queue, std::move(taken), course.read_began + queue.lease);
}

}  // namespace tableq::inline v0::core
