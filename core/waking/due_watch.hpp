#pragma once

#include <atomic>
#include <chrono>

namespace tableq::inline v0::core {

/// Whether the next take of a process asks for due messages. One that finds all that it asked for
/// asks at most every 50 ms, so a due message may wait as long behind ready ones.
///
/// @par Thread safety
/// Shared objects: safe.
class due_watch {
 public:
  using moment = std::chrono::steady_clock::time_point;

  /// @param known this process has just added a message, which is the reason for the take.
  [[nodiscard]] bool asks(moment now, bool known) const noexcept {
    if (hungry_.load() && !known) return true;
    return now.time_since_epoch().count() - asked_.load() >= patience.count();
  }
  void asked(moment now) noexcept { asked_.store(now.time_since_epoch().count()); }
  /// @param all the take found all that it asked for.
  void took(bool all) noexcept { hungry_.store(!all); }

 private:
  static constexpr moment::duration patience = std::chrono::milliseconds{50};

  std::atomic<moment::rep> asked_{-patience.count()};
  std::atomic<bool> hungry_{true};
};

}  // namespace tableq::inline v0::core
