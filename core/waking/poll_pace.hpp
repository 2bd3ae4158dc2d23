#pragma once

#include <algorithm>
#include <chrono>

namespace tableq::inline v0::core {

/// Spreads the polls of many queues over time, so that what wakes all of them at once, such as a
/// write to the file that they share, costs the writer no more than with one. Reads no clock.
///
/// @par Thread safety
/// Shared objects: unsafe; the watcher's mutex guards it.
class poll_pace {
 public:
  using moment = std::chrono::steady_clock::time_point;

  /// The time that a poll takes of all: 1,000 a second, and up to 64 at once after a rest.
  static constexpr std::chrono::milliseconds usual{1};
  /// For polls that notifications make needless but in rare cases: 100 a second.
  static constexpr std::chrono::milliseconds seldom{10};

  /// @param share usual or seldom. @return whether a queue may poll now; otherwise ask at `next`.
  [[nodiscard]] bool take(moment now, std::chrono::milliseconds share) {
    free_at_ = std::max(free_at_, now - most);
    if (free_at_ > now) return false;
    free_at_ += share;
    return true;
  }
  [[nodiscard]] moment next() const noexcept { return free_at_; }

 private:
  static constexpr std::chrono::milliseconds most{64};

  moment free_at_ = moment::min();
};

}  // namespace tableq::inline v0::core
