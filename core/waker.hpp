#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>

namespace tableq::core {

/// Why a reader sleeps no more.
enum class woken {
  no,       ///< Its time is over, or a stop was requested.
  message,  ///< For one message that this process added.
  hint,     ///< Something may be there, and more than one.
  clock,    ///< Nothing new: it is to ask when the next message falls due.
};

/// Where readers of one queue sleep. Wakes as many as there is something for, the one that sleeps
/// longest first; whoever is awake meanwhile looks once more before it sleeps.
///
/// @par Thread safety
/// Shared objects: safe.
class waker {
 public:
  /// So many messages are there now.
  void wake(std::size_t count = 1) noexcept;
  /// Something may be there now: wakes one, which passes it on when it finds something.
  void hint() noexcept;
  /// Wakes one to ask for the next due time; nobody looks for that.
  void ask() noexcept;

  /// What to give to `wait` so that no wake or hint from now on is missed.
  [[nodiscard]] std::uint64_t mark() noexcept;

  /// How many sleep now.
  [[nodiscard]] std::size_t sleeping() noexcept;

  /// Sleeps. A wake or hint since the mark counts as a hint, at once.
  [[nodiscard]] woken wait(std::uint64_t since, std::chrono::steady_clock::time_point until,
                           const std::stop_token& stop);

 private:
  struct sleeper {
    std::condition_variable_any signal;
    woken why = woken::no;
  };

  void wake_first(woken why) noexcept;

  std::mutex mutex_;
  std::uint64_t count_ = 0;        // guarded by mutex_
  std::deque<sleeper*> sleepers_;  // guarded by mutex_, as what they point to
};

}  // namespace tableq::core
