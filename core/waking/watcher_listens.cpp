// The listener's part of a watcher.

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "core/waking/watcher.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The pause before another attempt to follow a queue.
constexpr milliseconds follow_again{5};

}  // namespace

void watcher::close_listener(lock& hold) {
  std::unique_ptr<listener> old = std::move(listener_);
  for (const auto& each : attended_) each->followed = false;
  hold.unlock();
  old.reset();
  hold.lock();
}

void watcher::listener_lost(lock& hold) {
  const moment now = steady_clock::now();
  connect_at_ = now + pauses_.pause();
  for (const auto& each : attended_) each->plan.notifications_ended(now);
  if (listener_) close_listener(hold);
}

void watcher::keep_listening(lock& hold) {
  if (!wanted_) return;
  if (!listener_) open_listener(hold);
  for (const auto& each : attended_) {
    if (!listener_ || ended_) return;
    watched_queue& q = *each;
    const moment now = steady_clock::now();
    const bool waited_on = q.waiting > 0;
    if (waited_on ? !q.followed && now >= q.follow_at : q.followed && now >= q.left_at + linger) {
      follow(q, hold);
    }
  }
}

void watcher::open_listener(lock& hold) noexcept {
  if (readers_ == 0 || steady_clock::now() < connect_at_) return;
  hold.unlock();
  std::unique_ptr<listener> made;
  bool failed = false;
  try {
    made = driver_.listen();
  } catch (...) {  // noexcept: readers poll until it can be made.
    failed = true;
  }
  hold.lock();
  listener_ = std::move(made);
  if (failed) {
    connect_at_ = steady_clock::now() + pauses_.pause();
  } else if (!listener_) {
    wanted_ = false;
  }
}

void watcher::follow(watched_queue& q, lock& hold) noexcept {
  const bool begin = q.waiting > 0;
  listener& active = *listener_;
  bool failed = false;
  bool followed = false;
  hold.unlock();
  try {
    if (begin) {
      followed = active.follow(q.names, q.names.identity);
    } else {
      active.leave(q.names, q.names.identity);
    }
  } catch (...) {  // noexcept: this listener is unusable; the watcher opens another.
    failed = true;
  }
  hold.lock();
  if (failed) return listener_lost(hold);
  pauses_.reset();
  q.followed = followed;
  const moment now = steady_clock::now();
  q.follow_at = now + follow_again;
  // Readers poll now for messages that came without a notification.
  if (followed) q.plan.notified(now, false);
}

void watcher::apply_notices(const received_notices& news, moment now) {
  for (const auto& each : attended_) {
    watched_queue& q = *each;
    if (!q.followed) continue;
    const bool named = std::any_of(news.notices.begin(), news.notices.end(),
                                   [&](const notice& notice) { return concerns(notice, q); });
    if (named || news.any_queue) q.plan.notified(now, named);
  }
}

bool watcher::concerns(const notice& notice, const watched_queue& q) const {
  if (notice.channel != channel_of(q.names)) return false;
  // `identity.token`. Any other payload is a request to poll.
  const std::string_view payload = notice.payload;
  const std::size_t dot = payload.find('.');
  if (dot == std::string_view::npos) return true;
  return payload.substr(0, dot) == std::to_string(q.names.identity) &&
         payload.substr(dot + 1) != token_;
}

}  // namespace tableq::inline v0::core
