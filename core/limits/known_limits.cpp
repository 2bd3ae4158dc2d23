#include "core/limits/known_limits.hpp"

#include <algorithm>

namespace tableq::inline v0::core {

std::optional<known_limits> limits_watch::known() noexcept {
  const clock::rep now = clock::now().time_since_epoch().count();
  const clock::rep asked = asked_.load();
  if (asked == 0) return std::nullopt;
  const clock::duration age(now - asked);
  if (age >= stale) return std::nullopt;
  if (age >= fresh) {
    clock::rep claimed = claimed_.load();
    if (claimed <= asked && claimed_.compare_exchange_strong(claimed, now)) return std::nullopt;
  }
  if (!limited_.load()) return known_limits{};
  const std::scoped_lock hold(mutex_);
  return known_;
}

bool limits_watch::confirmed() noexcept {
  const clock::rep now = clock::now().time_since_epoch().count();
  const clock::rep seen = std::max(asked_.load(), seen_.load());
  if (seen == 0) return false;
  const clock::duration age(now - seen);
  if (age >= stale) return false;
  if (age < fresh) return true;
  clock::rep claimed = claimed_.load();
  return claimed > seen || !claimed_.compare_exchange_strong(claimed, now);
}

void limits_watch::confirm(clock::time_point asked) noexcept {
  seen_.store(asked.time_since_epoch().count());
}

void limits_watch::learn(const known_limits& limits, clock::time_point asked) {
  const std::scoped_lock hold(mutex_);
  const clock::rep at = asked.time_since_epoch().count();
  if (at < asked_.load()) return;
  if (known_.capacity != limits.capacity) room_.forget();
  known_ = limits;
  limited_.store(limits.any());
  asked_.store(at);
}

void limits_watch::end(std::optional<kind> new_kind) noexcept {
  ended_.store(new_kind ? static_cast<int>(*new_kind) : no_successor);
  changes_.ring();
}

std::optional<kind> limits_watch::successor() const noexcept {
  const int ended = ended_.load();
  return ended < 0 ? std::nullopt : std::optional(static_cast<kind>(ended));
}

void limits_watch::made_room() noexcept {
  room_.freed();
  changes_.ring();
}

}  // namespace tableq::inline v0::core
