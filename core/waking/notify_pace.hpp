#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace tableq::inline v0::core {

/// Senders notify of a queue so often at most, after some notifications in a row. Readers poll in
/// the rest.
inline constexpr std::chrono::milliseconds notify_every{250};

/// When a process notifies others of its additions to a queue: of each as long as they are rare.
///
/// @par Thread safety
/// Shared objects: safe.
class notify_pace {
 public:
  using moment = std::chrono::steady_clock::time_point;
  enum class answer {
    none,
    notify,  ///< The next addition will be notified of, too.
    last,    ///< A rest of `notify_every` at most follows.
  };

  [[nodiscard]] answer ask(moment now) noexcept {
    constexpr int in_a_row = 4;
    constexpr auto every = std::chrono::duration_cast<moment::duration>(notify_every).count();
    const moment::rep time = now.time_since_epoch().count();
    const moment::rep most = time + (in_a_row - 1) * every;
    moment::rep spent = spent_to_.load();
    moment::rep next = 0;
    do {
      if (spent > most) return answer::none;
      next = std::max(spent, time) + every;
    } while (!spent_to_.compare_exchange_weak(spent, next));
    return next > most ? answer::last : answer::notify;
  }
  /// The notification failed: the next addition notifies.
  void failed() noexcept { spent_to_ = 0; }

 private:
  std::atomic<moment::rep> spent_to_{0};
};

}  // namespace tableq::inline v0::core
