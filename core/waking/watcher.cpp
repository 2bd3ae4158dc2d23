#include "core/waking/watcher.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <system_error>

#include <tableq/error.hpp>

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Shorter waits are not worth a listener.
constexpr milliseconds before_listening{30};
/// The longest sleep: after it the thread checks whether readers still wait.
constexpr milliseconds longest_sleep{1000};
/// The pause of a reader when there is no thread.
constexpr milliseconds alone{500};

std::string new_token() {
  std::random_device random;
  return std::to_string(std::uniform_int_distribution<std::uint64_t>(1)(random));
}

}  // namespace

std::string channel_of(const table_names& names) {
  return names.table + "_tableq";
}

watcher::watcher(driver& from, const open_options& options)
    : from_(from),
      throttled_(from.capabilities().notifies),
      by_a_tests_clock_(static_cast<bool>(options.clock)),
      poll_interval_(options.poll_interval),
      token_(new_token()),
      wanted_(options.notifications == notifications::automatic),
      pauses_(milliseconds{100}, milliseconds{30'000}) {}

watcher::~watcher() {
  {
    const std::scoped_lock hold(mutex_);
    ended_ = true;
    nudge();
  }
  if (thread_.joinable()) thread_.join();
}

watched_queue& watcher::queue(const table_names& names, std::int64_t identity,
                              poll_plan::timing by) {
  const std::scoped_lock hold(mutex_);
  return queues_.try_emplace(std::pair(names.slot, identity), names, identity, by).first->second;
}

void watcher::added(watched_queue& to, std::size_t count) {
  if (to.timed && to.waiting > 0) {
    const std::scoped_lock hold(mutex_);
    to.plan.due_changed(steady_clock::now());
    nudge_before(to.plan.next());
  }
  to.readers.wake(count);
}

watcher::waiting::waiting(watcher& of, watched_queue& in) : of_(of), in_(in) {
  const std::scoped_lock hold(of_.mutex_);
  of_.start();
  if (in_.waiting == 0) in_.plan.begin(steady_clock::now(), of_.hearing_of(in_));
  ++in_.waiting;
  ++of_.readers_;
  const bool to_follow = of_.listener_ != nullptr && !in_.followed;
  if (to_follow) {
    of_.nudge();
  } else {
    of_.nudge_before(in_.plan.next());
  }
}

watcher::waiting::~waiting() {
  const std::scoped_lock hold(of_.mutex_);
  const moment now = steady_clock::now();
  if (--in_.waiting == 0) in_.left_at = now;
  if (--of_.readers_ == 0) of_.left_at_ = now;
}

woken watcher::waiting::wait(std::uint64_t mark, moment until, const std::stop_token& stop) {
  bool alone_here = false;
  {
    const std::scoped_lock hold(of_.mutex_);
    alone_here = !of_.running_;
  }
  if (alone_here) until = std::min(until, steady_clock::now() + alone);
  return in_.readers.wait(mark, until, stop);
}

void watcher::waiting::found(woken by) {
  // One message wakes one reader; a hint is passed on until a reader finds nothing.
  if (by == woken::message) return;
  {
    const std::scoped_lock hold(of_.mutex_);
    in_.plan.found(steady_clock::now(), of_.hearing_of(in_));
    of_.nudge_before(in_.plan.next());
  }
  in_.readers.hint();
}

bool watcher::waiting::take_question() {
  if (!in_.timed) return false;
  const std::scoped_lock hold(of_.mutex_);
  return in_.plan.take_question();
}

void watcher::waiting::answer(std::optional<milliseconds> delay) {
  const std::scoped_lock hold(of_.mutex_);
  in_.plan.due_in(steady_clock::now(), delay);
  of_.nudge_before(in_.plan.next());
}

void watcher::waiting::not_answered() {
  const std::scoped_lock hold(of_.mutex_);
  in_.plan.not_answered(steady_clock::now());
}

void watcher::start() {
  if (running_) return;
  if (thread_.joinable()) thread_.join();  // It has let go of the mutex for good.
  connect_at_ = std::max(connect_at_, steady_clock::now() + before_listening);
  try {
    running_ = true;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // No more threads: readers poll by themselves.
    running_ = false;
  }
}

void watcher::nudge() noexcept {
  if (awake_) return;
  nudge_ = true;
  nudged_.notify_one();
  if (listener_) listener_->interrupt();
}

void watcher::nudge_before(moment next) noexcept {
  if (next < sleeps_until_) nudge();
}

bool watcher::deserted(moment now) const {
  return readers_ == 0 && now >= left_at_ + linger;
}

hearing watcher::hearing_of(const watched_queue& q) const {
  // A clock that a test moves also moves due times, without a notification.
  const bool listening = listener_ != nullptr && q.followed && !by_a_tests_clock_;
  return {.listening = listening, .throttled = throttled_, .longest = poll_interval_};
}

void watcher::run() noexcept {
  lock hold(mutex_);
  while (!ended_) {
    if (deserted(steady_clock::now())) {
      if (!listener_) break;
      close_listener(hold);
      continue;
    }
    keep_listening(hold);
    pass_time(tend(steady_clock::now()), hold);
  }
  if (listener_) close_listener(hold);
  running_ = false;
}

watcher::moment watcher::tend(moment now) {
  moment next = now + longest_sleep;
  if (wanted_ && !listener_ && readers_ > 0) next = std::min(next, connect_at_);
  for (auto& [key, q] : queues_) {
    if (q.waiting == 0) continue;
    const hearing of = hearing_of(q);
    for (auto what = q.plan.at(now, of); what != poll_plan::action::none;
         what = q.plan.at(now, of)) {
      if (what == poll_plan::action::poll) q.readers.hint();
      if (what == poll_plan::action::ask) q.readers.ask();
    }
    next = std::min(next, q.plan.next());
    if (listener_ && !q.followed) next = std::min(next, q.follow_at);
  }
  return next;
}

void watcher::pass_time(moment until, lock& hold) {
  const moment now = steady_clock::now();
  if (until <= now || ended_) return;
  sleeps_until_ = until;
  awake_ = false;
  if (listener_ == nullptr) {
    nudged_.wait_until(hold, until, [this] { return nudge_; });
  } else {
    listener& hears = *listener_;
    hold.unlock();
    bool alive = true;
    heard news;
    try {
      news = hears.wait(std::chrono::ceil<milliseconds>(until - now));
    } catch (...) {  // This listener is of no use; another one is made.
      alive = false;
    }
    hold.lock();
    if (alive) {
      take_in(news, steady_clock::now());
    } else {
      lost(hold);
    }
  }
  awake_ = true;
  nudge_ = false;
}

}  // namespace tableq::inline v0::core
