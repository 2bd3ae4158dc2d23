#pragma once

#include <chrono>
#include <cstddef>
#include <thread>

namespace tableq::inline v0::core {

/// Whether a waiting call checks its turn for a while before its thread sleeps. See ADR 0016.
///
/// Sleep and wake-up of a thread cost more than a short unit of work. A waiting call therefore
/// first checks its turn a few times, and yields the processor in between. With many threads, or
/// short units, its turn comes before it has to sleep.
///
/// @par Thread safety
/// Shared objects: unsafe; the combiner's mutex guards it.
class spinning {
 public:
  using duration = std::chrono::steady_clock::duration;

  /// From now on a waiting call sleeps at once.
  void stop() noexcept { on_ = false; }

  /// A unit of work has ended.
  void ran(std::size_t calls, duration took) noexcept {
    worth_ = took < short_unit || (calls >= many_calls && took < long_unit);
  }

  /// How often a call that begins to wait checks its turn.
  [[nodiscard]] int checks() const noexcept { return on_ && worth_ ? most_checks : 0; }

  /// Checks this often; needs no mutex.
  /// @return whether the turn has come.
  template <class Turn>
  [[nodiscard]] static bool check(int times, Turn has_come) {
    for (; times > 0; --times) {
      if (has_come()) return true;
      std::this_thread::yield();
    }
    return false;
  }

 private:
  static constexpr int most_checks = 40;
  static constexpr std::chrono::microseconds short_unit{100};
  static constexpr std::size_t many_calls = 6;
  /// With longer units the checks would waste processor time.
  static constexpr std::chrono::milliseconds long_unit{1};

  bool on_ = true;
  bool worth_ = true;  // no unit has run yet: as after a short one
};

}  // namespace tableq::inline v0::core
