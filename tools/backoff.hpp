#pragma once

#include <chrono>
#include <random>
#include <stop_token>

#include <tableq/error.hpp>

namespace tool {

/// Whether the same thing may well succeed a little later.
bool transient(tableq::errc code);

/// Growing pauses with jitter between tries.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class backoff {
 public:
  backoff(std::chrono::milliseconds first, std::chrono::milliseconds most);

  /// The next pause: between half of what it grew to and all of it.
  [[nodiscard]] std::chrono::milliseconds pause();

  /// Sleeps for the next pause. @return false when `stop` ended it early.
  bool wait(const std::stop_token& stop);

  /// Things go well again.
  void reset() { next_ = first_; }

 private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds most_;
  std::chrono::milliseconds next_;
  std::minstd_rand random_;
};

}  // namespace tool
