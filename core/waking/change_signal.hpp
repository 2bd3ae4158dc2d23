#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace tableq::inline v0::core {

/// Wakes all waiting threads of this process after a change.
///
/// @par Thread safety
/// Shared objects: safe.
class change_signal {
 public:
  void ring() noexcept;

  /// A mark for `wait`: no ring from now on is missed.
  [[nodiscard]] std::uint64_t mark() noexcept;

  /// Returns when it has rung since the mark, when the time is over, or on a stop request.
  void wait(std::uint64_t since, std::chrono::milliseconds longest, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any rung_;
  std::uint64_t count_ = 0;  // guarded by mutex_
};

}  // namespace tableq::inline v0::core
