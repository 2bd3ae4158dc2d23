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
constexpr milliseconds pause_without_thread{500};

std::string new_token() {
  std::random_device random;
  return std::to_string(std::uniform_int_distribution<std::uint64_t>(1)(random));
}

}  // namespace

std::string channel_of(const table_names& names) {
  return names.table + "_tableq";
}

watcher::watcher(driver& source, const open_options& options)
    : driver_(source),
      throttled_(source.capabilities().notifies),
      has_test_clock_(static_cast<bool>(options.clock)),
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

void watcher::poll_only() noexcept {
  const std::scoped_lock hold(mutex_);
  wanted_ = false;
}

void watcher::attend(const std::shared_ptr<watched_queue>& target) {
  if (target->attended) return;
  attended_.push_back(target);
  target->attended = true;
}

void watcher::leave_idle() noexcept {
  attended_.remove_if([](const std::shared_ptr<watched_queue>& each) {
    each->attended = each->waiting != 0 || each->listened;
    return !each->attended;
  });
}

void watcher::added(watched_queue& target, std::size_t count) {
  if (target.timed && target.waiting > 0) {
    const std::scoped_lock hold(mutex_);
    target.plan.due_changed(steady_clock::now());
    nudge_before(target.plan.next());
  }
  target.readers.wake(count);
}

watcher::waiting::waiting(watcher& owner, std::shared_ptr<watched_queue> target)
    : watcher_(owner), target_(std::move(target)), queue_(*target_) {
  const std::scoped_lock hold(watcher_.mutex_);
  watcher_.attend(target_);
  watcher_.start();
  if (queue_.waiting == 0)
    queue_.plan.begin(steady_clock::now(), watcher_.listening_state_of(queue_));
  ++queue_.waiting;
  ++watcher_.readers_;
  const bool to_follow = watcher_.listener_ != nullptr && !queue_.followed;
  if (to_follow) {
    watcher_.nudge();
  } else {
    watcher_.nudge_before(queue_.plan.next());
  }
}

watcher::waiting::~waiting() {
  const std::scoped_lock hold(watcher_.mutex_);
  const moment now = steady_clock::now();
  if (--queue_.waiting == 0) queue_.left_at = now;
  if (--watcher_.readers_ == 0) watcher_.left_at_ = now;
  if (!watcher_.running_) watcher_.leave_idle();
}

woken watcher::waiting::wait(std::uint64_t mark, moment until, const std::stop_token& stop) {
  bool no_thread = false;
  {
    const std::scoped_lock hold(watcher_.mutex_);
    no_thread = !watcher_.running_;
  }
  if (no_thread) until = std::min(until, steady_clock::now() + pause_without_thread);
  return queue_.readers.wait(mark, until, stop);
}

void watcher::waiting::found(woken reason, bool more) {
  // One message wakes one reader; a hint is passed on until a reader finds nothing.
  if (reason == woken::message) return;
  found_by_itself();
  if (more) queue_.readers.hint();
}

void watcher::waiting::found_by_itself() {
  const std::scoped_lock hold(watcher_.mutex_);
  queue_.plan.found(steady_clock::now(), watcher_.listening_state_of(queue_));
  watcher_.nudge_before(queue_.plan.next());
}

void watcher::waiting::look_again(std::optional<milliseconds> after) {
  const std::scoped_lock hold(watcher_.mutex_);
  queue_.plan.due_in(steady_clock::now(), after);
  watcher_.nudge_before(queue_.plan.next());
}

bool watcher::waiting::attended() const {
  const std::scoped_lock hold(watcher_.mutex_);
  return watcher_.running_;
}

bool watcher::waiting::take_question() {
  if (!queue_.timed) return false;
  const std::scoped_lock hold(watcher_.mutex_);
  return queue_.plan.take_question();
}

void watcher::waiting::not_answered() {
  const std::scoped_lock hold(watcher_.mutex_);
  queue_.plan.not_answered(steady_clock::now());
}

void watcher::start() {
  if (running_) return;
  if (thread_.joinable())
    thread_.join();  // The old thread has released the mutex for the last
                     // time.
  connect_at_ = std::max(connect_at_, steady_clock::now() + before_listening);
  try {
    thread_ = std::thread([this] { run(); });
    running_ = true;                 // before the thread gets the mutex
  } catch (const std::exception&) {  // No more threads, or no memory: readers poll by themselves.
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

bool watcher::unused(moment now) const {
  return readers_ == 0 && now >= left_at_ + linger;
}

listening_state watcher::listening_state_of(const watched_queue& q) const {
  // A clock that a test moves also moves due times, without a notification.
  const bool listening = listener_ != nullptr && q.followed && !has_test_clock_;
  return {.listening = listening, .throttled = throttled_, .longest = poll_interval_};
}

void watcher::run() noexcept {
  lock hold(mutex_);
  while (!ended_) {
    if (unused(steady_clock::now())) {
      if (!listener_) break;
      close_listener(hold);
      continue;
    }
    keep_listening(hold);
    leave_idle();
    sleep_until(wake_due_readers(steady_clock::now()), hold);
  }
  if (listener_) close_listener(hold);
  leave_idle();
  running_ = false;
}

void watcher::wake_readers(watched_queue& q, const listening_state& state, moment now) {
  for (auto what = q.plan.at(now, state); what != poll_plan::action::none;
       what = q.plan.at(now, state)) {
    if (what == poll_plan::action::poll) q.readers.hint();
    if (what == poll_plan::action::ask) q.readers.ask();
  }
}

watcher::moment watcher::wake_due_readers(moment now) {
  moment next = now + longest_sleep;
  if (wanted_ && !listener_ && readers_ > 0) next = std::min(next, connect_at_);
  std::list<std::shared_ptr<watched_queue>> served;  // go behind the others
  for (auto at = attended_.begin(); at != attended_.end();) {
    const auto each = at++;
    watched_queue& q = **each;
    if (q.waiting == 0) continue;
    if (listener_ && !q.followed) next = std::min(next, q.follow_at);
    if (q.plan.next() <= now) {
      const listening_state state = listening_state_of(q);
      const bool rare = q.plan.seldom(now, state);
      poll_pace& pace = rare ? seldom_pace_ : pace_;
      if (!q.plan.urgent(now) && !pace.take(now, rare ? poll_pace::seldom : poll_pace::usual)) {
        next = std::min(next, pace.next());
        continue;
      }
      wake_readers(q, state, now);
      served.splice(served.end(), attended_, each);
    }
    next = std::min(next, q.plan.next());
  }
  attended_.splice(attended_.end(), served);
  return next;
}

void watcher::sleep_until(moment until, lock& hold) noexcept {
  const moment now = steady_clock::now();
  if (until <= now || ended_) return;
  sleeps_until_ = until;
  awake_ = false;
  if (listener_ == nullptr) {
    nudged_.wait_until(hold, until, [this] { return nudge_; });
  } else {
    listener& active = *listener_;
    hold.unlock();
    try {
      const received_notices news = active.wait(std::chrono::ceil<milliseconds>(until - now));
      hold.lock();
      apply_notices(news, steady_clock::now());
    } catch (...) {  // noexcept: this listener is unusable, or news need memory; another one opens.
      if (!hold.owns_lock()) hold.lock();
      listener_lost(hold);
    }
  }
  awake_ = true;
  nudge_ = false;
}

}  // namespace tableq::inline v0::core
