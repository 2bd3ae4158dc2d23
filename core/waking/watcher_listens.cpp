// The listener's part of a watcher.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/waking/watcher.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The pause before another attempt to follow a queue: an eighth of the time since the first one,
/// between these.
constexpr milliseconds follow_again{5};
constexpr milliseconds follow_at_last{250};
/// The end of a notification whose sender will notify of the next addition, too.
constexpr std::string_view next_too = ".next";

}  // namespace

void watcher::close_listener(lock& hold) {
  std::unique_ptr<listener> old = std::move(listener_);
  for (const auto& each : attended_) each->followed = each->listened = false;
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
    if (waited_on ? !q.followed && now >= q.follow_at : q.listened && now >= q.left_at + linger) {
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
    followed = active.follow(q.names, begin) && begin;
  } catch (...) {  // noexcept: this listener is unusable; the watcher opens another.
    failed = true;
  }
  hold.lock();
  if (failed) return listener_lost(hold);
  pauses_.reset();
  q.followed = followed;
  const moment now = steady_clock::now();
  if (begin && !q.listened) q.listened_since = now;
  q.listened = begin;
  q.follow_at = now + std::clamp<moment::duration>((now - q.listened_since) / 8, follow_again,
                                                   follow_at_last);
  // Readers poll now for messages that came without a notification.
  if (followed) q.plan.notified(now, false);
}

void watcher::apply_notices(const received_notices& news, moment now) {
  for (const auto& each : attended_) {
    watched_queue& q = *each;
    if (!q.listened) continue;
    bool named = false;
    bool last = news.any_queue;
    for (const notice& each_notice : news.notices) {
      const concern found = concern_of(each_notice, q);
      named = named || found != concern::none;
      last = last || found == concern::more_may_follow;
    }
    if (named || news.any_queue) q.plan.notified(now, named, last);
  }
}

std::string payload_of(const table_names& names, std::string_view token, bool last) {
  std::string out = std::to_string(names.identity) + '.';
  out += token;
  if (!last) out += next_too;
  return out;
}

watcher::concern watcher::concern_of(const notice& notice, const watched_queue& q) const {
  if (notice.channel != channel_of(q.names)) return concern::none;
  // Any other payload than that of payload_of is a request to poll.
  const std::string_view payload = notice.payload;
  const std::size_t dot = payload.find('.');
  if (dot == std::string_view::npos) return concern::more_may_follow;
  std::string_view sender = payload.substr(dot + 1);
  const bool next = sender.ends_with(next_too);
  if (next) sender.remove_suffix(next_too.size());
  if (payload.substr(0, dot) != std::to_string(q.names.identity) || sender == token_)
    return concern::none;
  return next ? concern::one_message : concern::more_may_follow;
}

}  // namespace tableq::inline v0::core
