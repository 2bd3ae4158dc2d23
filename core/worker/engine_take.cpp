// The part of a worker_engine that takes messages.

#include <algorithm>
#include <utility>

#include "core/claim/operations.hpp"
#include "core/queue/operation.hpp"
#include "core/worker/engine.hpp"
#include "core/worker/verdict.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;

/// How long a take waits before the worker checks for the end of an empty queue.
constexpr milliseconds empty_check{1000};
/// The wait of a take if there is nothing to check: its token stops it.
constexpr milliseconds long_wait{60'000};

}  // namespace

std::size_t worker_engine::free_room() const {
  const std::size_t most = options_.threads + prefetch_;
  const std::size_t unhandled = held_.waiting() + held_.running_count();
  // Messages that wait for settlement count too; otherwise their number would grow while settlement
  // is slow.
  const std::size_t unsettled = held_.count();
  if (unhandled >= most || unsettled >= 2 * most) return 0;
  return std::min({most - unhandled, 2 * most - unsettled, at_once_});
}

bool worker_engine::left_to_settle() const {
  if (joint_) return true;
  return more_ && (settles_ || !held_.nothing_finished()) && !take_is_overdue();
}

bool worker_engine::take_is_overdue() const {
  constexpr milliseconds longest{250};
  return moment::clock::now() - took_at_ >= longest;
}

std::size_t worker_engine::room() {
  /// A settlement that waits this long, for instance for a lock, does not hold up a take.
  constexpr milliseconds patience{20};
  std::unique_lock lock(mutex_);
  takes_ = false;
  const std::stop_token stop = stop_.get_token();
  for (;;) {
    taker_ = taker_waits::for_room;
    to_take_.wait(lock, stop, [this] { return free_room() > 0; });
    taker_ = taker_waits::for_settle;
    const std::size_t before = calls_;
    const bool mine = to_take_.wait_for(lock, stop, patience, [this] { return !left_to_settle(); });
    taker_ = taker_waits::no;
    if (stop.stop_requested()) return 0;
    if ((mine || calls_ == before) && free_room() > 0) break;
  }
  takes_ = true;
  more_ = false;
  took_at_ = moment::clock::now();
  return free_room();
}

void worker_engine::wake_taker() {
  const bool now = taker_ == taker_waits::for_room     ? free_room() > 0
                   : taker_ == taker_waits::for_settle ? !left_to_settle()
                                                       : false;
  if (now) to_take_.notify_one();
}

void worker_engine::wake_settler() {
  if (std::exchange(settler_waits_, false)) to_settle_.notify_one();
}

void worker_engine::wake_handlers() {
  idle_.wake(held_.waiting());
  to_post_.notify_one();
}

void worker_engine::add(std::vector<delivery> taken, moment read_began) {
  held_.add(std::move(taken), read_began + lease_);
  at_once_ = std::min(at_once_ * 2, largest_take);
  wake_handlers();
}

void worker_engine::take_all() {
  backoff pauses(shortest_pause, longest_pause);
  bool was_empty = false;
  while (const std::size_t max = room()) {
    try {
      std::stop_source wake;
      const milliseconds pause = next_wait(was_empty, wake);
      moment read_began;
      const std::stop_callback stops(stop_.get_token(), [&] { wake.request_stop(); });
      const take_options terms{.wait = pause, .lease = lease_, .stop = wake.get_token()};
      std::vector<delivery> taken = operation(queue_, statement::claim_take,
                                              [&](const queue_state& queue, transaction_state* tx) {
                                                return take(queue, tx, max, terms, &read_began);
                                              });
      pauses.reset();
      was_empty = taken.empty();
      if (was_empty && options_.until_empty && nothing_left()) return;
      const std::scoped_lock hold(mutex_);
      more_ = taken.size() == max;
      add(std::move(taken), read_began);
    } catch (const error& failure) {
      if (failure.code() == errc::outcome_unknown) continue;
      const bool may_recover = may_concern_one_message(failure) && !options_.until_empty;
      if (!passing(failure) && !may_recover) throw;
      trouble(failure.what(), pauses, true);
    } catch (const std::exception& failure) {  // Usually a lack of memory: fewer messages need
                                               // less.
      trouble(failure.what(), pauses, true);
      const std::scoped_lock hold(mutex_);
      at_once_ = std::max<std::size_t>(at_once_ / 2, 1);
    }
  }
}

milliseconds worker_engine::next_wait(bool was_empty, const std::stop_source& wake) {
  if (!options_.until_empty) return long_wait;
  // With until_empty, the worker checks whether messages are left before it waits.
  if (!was_empty) return milliseconds{0};
  const std::scoped_lock hold(mutex_);
  if (had_some_ && held_.count() == 0) return milliseconds{0};
  run_dry_ = wake;
  return empty_check;
}

bool worker_engine::nothing_left() {
  {
    // All messages held here are leased, so the answer is known without a query.
    const std::scoped_lock hold(mutex_);
    had_some_ = held_.count() > 0;
    if (had_some_) return false;
  }
  const claim_stats stats = queue_.stats();
  return stats.ready + stats.delayed + stats.leased == 0;
}

}  // namespace tableq::inline v0::core
