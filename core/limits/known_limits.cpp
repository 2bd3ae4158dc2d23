#include "core/limits/known_limits.hpp"

namespace tableq::inline v0::core {

std::optional<known_limits> limits_watch::known() noexcept {
  if (!age_.usable()) return std::nullopt;
  if (!limited_.load()) return known_limits{};
  const std::scoped_lock hold(mutex_);
  return known_;
}

void limits_watch::learn(const known_limits& limits, clock::time_point asked) {
  const std::scoped_lock hold(mutex_);
  if (age_.later_than(asked)) return;
  if (known_.capacity != limits.capacity) room_.forget();
  known_ = limits;
  limited_.store(limits.any());
  age_.answered(asked);
}

void limits_watch::made_room() noexcept {
  room_.freed();
  changes_.ring();
}

}  // namespace tableq::inline v0::core
