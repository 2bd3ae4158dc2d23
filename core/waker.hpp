#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace tableq::core {

/// Tells waiting readers of one queue, in this process, that something was added.
///
/// @par Thread safety
/// Shared objects: safe.
class waker {
 public:
  /// Something may be there now.
  void wake() noexcept;

  /// What to give to `wait` so that no wake from now on is missed.
  [[nodiscard]] std::uint64_t mark() noexcept;

  /// Returns when something was added since the mark, when the time is over, or on a stop request.
  void wait(std::uint64_t since, std::chrono::milliseconds longest, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::uint64_t count_ = 0;  // guarded by mutex_
};

}  // namespace tableq::core
