#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace tableq::core {

/// Growing pauses with jitter between tries.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class backoff {
 public:
  backoff(std::chrono::milliseconds first, std::chrono::milliseconds most)
      : first_(std::min(first, most)),
        most_(most),
        next_(first_),
        random_(std::random_device{}()) {}

  /// The next pause: between half of what it grew to and all of it.
  [[nodiscard]] std::chrono::milliseconds pause() {
    std::uniform_int_distribution<std::int64_t> jitter(next_.count() / 2, next_.count());
    next_ = std::min(next_ * 2, most_);
    return std::chrono::milliseconds{jitter(random_)};
  }

  /// Things go well again.
  void reset() noexcept { next_ = first_; }

 private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds most_;
  std::chrono::milliseconds next_;
  std::minstd_rand random_;
};

}  // namespace tableq::core
