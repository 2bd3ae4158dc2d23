// The part of a worker_feed that takes messages.

#include <algorithm>
#include <utility>

#include "core/base/errors.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/retention.hpp"
#include "core/database/access.hpp"
#include "core/queue/operation.hpp"
#include "core/queue/queue_state.hpp"
#include "core/queue/waiting.hpp"
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

std::size_t worker_feed::free_room() const {
  if (engine_.is_behind_others(precedence_)) return 0;
  if (keeps_ && held_.kept_count() >= most_kept_) return 0;
  const bool full = stuck() && held_.aside_count() >= most_aside();
  if (full && !one_more_) return 0;
  const std::size_t most = engine_.most();
  std::size_t unhandled = held_.waiting() + engine_.running();
  // Of several queues each has a message at hand, so that a free handler can choose.
  if (engine_.has_several() && held_.waiting() == 0) unhandled = std::min(unhandled, most - 1);
  // Messages that wait for settlement count too; otherwise their number would grow while settlement
  // is slow. Those that are kept or put aside have bounds of their own.
  const std::size_t unsettled = held_.count() - held_.aside_count() - held_.kept_count();
  if (unhandled >= most || unsettled >= 2 * most) return 0;
  return full ? 1 : std::min({most - unhandled, 2 * most - unsettled, at_once_});
}

std::size_t worker_feed::use_room() {
  const std::size_t out = free_room();
  one_more_ = false;
  return out;
}

bool worker_feed::left_to_settle() const {
  if (joint_) return true;
  return more_ && (settles_ || !held_.nothing_finished()) && !take_is_overdue();
}

bool worker_feed::take_is_overdue() const {
  constexpr milliseconds longest{250};
  return moment::clock::now() - took_at_ >= longest;
}

std::size_t worker_feed::room() {
  /// A settlement that waits this long, for instance for a lock, does not hold up a take.
  constexpr milliseconds patience{20};
  /// The same of one that takes, too. A take beside it may be the first of the two to end, and its
  /// later messages are then handled first.
  constexpr milliseconds patience_with_take{250};
  std::unique_lock lock(engine_.mutex());
  takes_ = false;
  const std::stop_token stop = engine_.stopping();
  for (;;) {
    taker_ = taker_waits::for_room;
    to_take_.wait(lock, stop, [this] { return free_room() > 0; });
    taker_ = taker_waits::for_settle;
    const std::size_t before = calls_;
    const bool joint = joint_;
    const bool mine = to_take_.wait_for(lock, stop, joint ? patience_with_take : patience,
                                        [this] { return !left_to_settle(); });
    taker_ = taker_waits::no;
    if (stop.stop_requested()) return 0;
    const bool stuck = calls_ == before && joint_ == joint;
    if ((mine || stuck) && free_room() > 0) break;
  }
  takes_ = true;
  more_ = false;
  took_at_ = moment::clock::now();
  return use_room();
}

void worker_feed::wake_taker() {
  const bool now = taker_ == taker_waits::for_room     ? free_room() > 0
                   : taker_ == taker_waits::for_settle ? !left_to_settle()
                                                       : false;
  if (now) to_take_.notify_one();
}

void worker_feed::wake_settler() {
  if (lingers_until_ && !is_in_a_hurry()) return;
  if (std::exchange(settler_waits_, false)) to_settle_.notify_one();
}

void worker_feed::add(std::vector<delivery> taken, moment read_began) {
  at_once_ = std::min(at_once_ * 2, largest_take);
  if (taken.empty()) return;
  const bool first = held_.waiting() == 0;
  held_.add(std::move(taken), read_began + lease_);
  engine_.found(number_, first);
}

void worker_feed::take_all() {
  backoff pauses(worker_engine::shortest_pause, worker_engine::longest_pause);
  bool was_empty = false;
  while (const std::size_t max = room()) {
    try {
      std::stop_source wake;
      const milliseconds pause = next_wait(was_empty, wake);
      take_course course{.drained_at = drained()};
      const std::stop_callback stops(engine_.stopping(), [&] { wake.request_stop(); });
      const take_options terms{.wait = pause, .lease = lease_, .stop = wake.get_token()};
      std::vector<delivery> taken = operation(queue_, statement::claim_take,
                                              [&](const queue_state& queue, transaction_state* tx) {
                                                return take(queue, tx, max, terms, &course);
                                              });
      pauses.reset();
      was_empty = taken.empty();
      if (was_empty) {
        look_for_hidden();
        apply_retention(access::state_of(queue_));
      }
      if (was_empty && engine_.options().until_empty && nothing_left()) return;
      const std::scoped_lock hold(engine_.mutex());
      more_ = taken.size() == max;
      drained_at_ = course.drained_at;
      add(std::move(taken), course.read_began);
      if (lingers_until_) wake_settler();
    } catch (const error& failure) {
      if (failure.code() == errc::outcome_unknown) continue;
      const bool may_recover = may_concern_one_message(failure) && !engine_.options().until_empty;
      if (!may_pass(failure) && !may_recover) throw;
      trouble(failure.what(), pauses, true);
    } catch (const std::exception& failure) {  // Usually a lack of memory: fewer messages need
                                               // less.
      trouble(failure.what(), pauses, true);
      const std::scoped_lock hold(engine_.mutex());
      at_once_ = std::max<std::size_t>(at_once_ / 2, 1);
    }
  }
}

std::optional<std::uint64_t> worker_feed::drained() {
  // With until_empty a take that finds nothing begins the check for the end.
  if (engine_.options().until_empty) return std::nullopt;
  const std::scoped_lock hold(engine_.mutex());
  return std::exchange(drained_at_, std::nullopt);
}

void worker_feed::look_for_hidden() {
  constexpr std::chrono::minutes between_looks{1};
  const moment now = moment::clock::now();
  if (now < look_at_) return;
  look_at_ = now + between_looks;
  const auto found = find_hidden(access::state_of(queue_));
  if (!std::exchange(hidden_, found.has_value()) && hidden_) {
    report_trouble((found->what + ": " + found->fix).c_str());
  }
}

void worker_feed::end_take() {
  std::unique_lock lock(engine_.mutex());
  takes_ = false;
  to_take_.wait(lock, [this] { return !joint_; });
  taking_ = false;
  give_back_waiting();
}

milliseconds worker_feed::next_wait(bool was_empty, const std::stop_source& wake) {
  if (!engine_.options().until_empty) return long_wait;
  // With until_empty, the worker checks whether messages are left before it waits.
  if (!was_empty) return milliseconds{0};
  const std::scoped_lock hold(engine_.mutex());
  if (had_some_ && !engine_.holds_some()) return milliseconds{0};
  run_dry_ = wake;
  return empty_check;
}

bool worker_feed::nothing_left() {
  std::uint64_t finds = 0;
  {
    // All messages held here are leased, and their handlers may enqueue others into this queue, so
    // the answer is known without a query.
    const std::scoped_lock hold(engine_.mutex());
    had_some_ = engine_.holds_some();
    empty_at_.reset();
    if (had_some_) return false;
    finds = engine_.finds();
  }
  const claim_stats stats = queue_.stats();
  if (stats.ready + stats.delayed + stats.leased != 0) return false;
  const std::scoped_lock hold(engine_.mutex());
  empty_at_ = finds;
  return engine_.all_empty();
}

}  // namespace tableq::inline v0::core
