#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <optional>

namespace tableq::inline v0::core {

/// Whether the next take of a process asks for due messages. One that finds all that it asked for
/// asks when a message falls due that this process knows of, and at most each 50 ms for others. So
/// these may wait as long behind ready ones.
///
/// @par Thread safety
/// Shared objects: safe.
class due_watch {
 public:
  using moment = std::chrono::steady_clock::time_point;

  /// @param known this process has just added a message, which is the reason for the take.
  [[nodiscard]] bool asks(moment now, bool known) const noexcept {
    const moment::rep time = count(now);
    if (hungry_.load() && !known) return true;
    return time - asked_.load() >= patience.count() || time >= next_.load();
  }
  /// @param due_in the answer to a question that began at that time.
  void told(moment asked, std::optional<std::chrono::milliseconds> due_in) noexcept {
    asked_.store(count(asked));
    next_.store(due_in ? early(asked, *due_in) : never);
  }
  /// The answer says only that none was due.
  void none_due(moment asked) noexcept {
    asked_.store(count(asked));
    moment::rep next = next_.load();
    if (next <= count(asked)) next_.compare_exchange_strong(next, never);
  }
  /// A message falls due then at the earliest.
  void expect(moment now, std::chrono::milliseconds due_in) noexcept {
    const moment::rep due = early(now, due_in);
    for (moment::rep next = next_.load(); due < next;)
      if (next_.compare_exchange_weak(next, due)) return;
  }
  /// @param all the take found all that it asked for.
  void took(bool all) noexcept { hungry_.store(!all); }

 private:
  static constexpr moment::duration patience = std::chrono::milliseconds{50};
  static constexpr moment::rep never = std::numeric_limits<moment::rep>::max();

  static moment::rep count(moment at) noexcept { return at.time_since_epoch().count(); }
  /// The database's clock has whole milliseconds.
  static moment::rep early(moment at, std::chrono::milliseconds due_in) noexcept {
    constexpr std::chrono::milliseconds most = std::chrono::hours{24};
    return count(at + std::min(due_in, most) - std::chrono::milliseconds{1});
  }

  std::atomic<moment::rep> asked_{-patience.count()};
  std::atomic<moment::rep> next_{never};
  std::atomic<bool> hungry_{true};
};

}  // namespace tableq::inline v0::core
