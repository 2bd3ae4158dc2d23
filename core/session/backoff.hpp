#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

namespace tableq::inline v0::core {

/// Draws random durations, so that sessions that wait for the same lock do not all retry at once.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class jitter {
 public:
  /// Between half of the length and all of it.
  template <class Length>
  [[nodiscard]] Length below(Length length) noexcept {
    using number = typename Length::rep;
    return Length(std::uniform_int_distribution<number>(
        length.count() / 2, length.count())(random_ ? *random_ : random_.emplace(seed())));
  }

 private:
  /// A device for random numbers may cost more than an operation, and pauses need no good random
  /// numbers.
  [[nodiscard]] std::minstd_rand::result_type seed() const noexcept {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return static_cast<std::minstd_rand::result_type>(now ^ reinterpret_cast<std::intptr_t>(this));
  }

  std::optional<std::minstd_rand> random_;  // made by the first draw
};

/// Growing pauses with jitter between tries. The library waits and tries again in this way only.
/// @tparam Length the unit of the pauses.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
template <class Length>
class basic_backoff {
 public:
  /// @param first the longest that the first pause may be; each next one may be twice as long.
  /// @param most the longest that any may be.
  basic_backoff(Length first, Length most) noexcept
      : first_(std::min(first, most)), most_(most), next_(first_) {}

  /// The next pause: between half of its current length and all of it.
  [[nodiscard]] Length pause() noexcept {
    const Length out = jitter_.below(next_);
    next_ = std::min(next_ * 2, most_);
    return out;
  }

  /// Call this after a success: the next pause is again as short as the first.
  void reset() noexcept { next_ = first_; }

 private:
  Length first_;
  Length most_;
  Length next_;
  jitter jitter_;
};

using backoff = basic_backoff<std::chrono::milliseconds>;

}  // namespace tableq::inline v0::core
