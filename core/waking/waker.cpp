#include "core/waking/waker.hpp"

#include <algorithm>

namespace tableq::inline v0::core {

void waker::wake_first(woken reason) noexcept {
  sleeper& first = *sleepers_.front();
  sleepers_.pop_front();
  first.reason = reason;
  // Under the lock: afterwards the sleeper may be destroyed.
  first.signal.notify_one();
}

void waker::wake(std::size_t count) noexcept {
  const std::scoped_lock hold(mutex_);
  ++count_;
  tell_followers();
  for (; count > 0 && !sleepers_.empty(); --count) wake_first(woken::message);
  if (count > 0) owe(count, woken::message);
}

void waker::hint() noexcept {
  const std::scoped_lock hold(mutex_);
  ++count_;
  tell_followers();
  if (!sleepers_.empty()) {
    wake_first(woken::hint);
  } else {
    owe(1, woken::hint);
  }
}

void waker::owe(std::size_t polls, woken reason) noexcept {
  if (owed_ == 0 || reason == woken::hint) owed_as_ = reason;
  owed_ += polls;
  owed_since_ = count_;
}

void waker::tell_followers() noexcept {
  for (wake_follower* const each : followers_) each->woken_too();
}

void waker::follow(wake_follower& each) {
  const std::scoped_lock hold(mutex_);
  followers_.push_back(&each);
}

void waker::unfollow(wake_follower& each) noexcept {
  const std::scoped_lock hold(mutex_);
  std::erase(followers_, &each);
}

void waker::ask() noexcept {
  const std::scoped_lock hold(mutex_);
  if (!sleepers_.empty()) wake_first(woken::clock);
}

std::uint64_t waker::mark() noexcept {
  const std::scoped_lock hold(mutex_);
  return count_;
}

std::size_t waker::sleeping() noexcept {
  const std::scoped_lock hold(mutex_);
  return sleepers_.size();
}

woken waker::wait(std::uint64_t since, std::chrono::steady_clock::time_point until,
                  const std::stop_token& stop) {
  std::unique_lock hold(mutex_);
  if (since >= owed_since_) {
    owed_ = 0;  // This reader polled after the last wake or hint, and found nothing.
  } else if (owed_ > 0) {
    --owed_;
    return owed_as_;
  }
  sleeper me;
  sleepers_.push_back(&me);
  me.signal.wait_until(hold, stop, until, [&me] { return me.reason != woken::no; });
  if (me.reason == woken::no) sleepers_.erase(std::find(sleepers_.begin(), sleepers_.end(), &me));
  return me.reason;
}

}  // namespace tableq::inline v0::core
