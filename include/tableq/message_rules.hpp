#pragma once

#include <chrono>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <tableq/export.hpp>

namespace tableq::inline v0 {

/// The delay of a message after a failed attempt, by the number of its attempts.
struct retry_delays {
  /// The delay after the first failed attempt, the second, and so on; the last one holds for all
  /// later attempts. At most 32, each 0 to 3,650 days. Empty: ready again at once.
  std::vector<std::chrono::milliseconds> after = {};
  /// Each delay varies randomly by up to this percentage, 0 to 100: messages that failed together
  /// do not return together. Zero: it does not vary.
  int jitter = 0;

  /// No delay: ready again at once.
  static retry_delays none() { return {}; }
  /// What a new `claim` queue has unless it is given others: 1 s, 5 s, 30 s, then always 5 min,
  /// each 20 per cent more or less.
  TABLEQ_EXPORT static retry_delays usual();
  /// The same delay, 0 to 3,650 days, after each attempt.
  static retry_delays fixed(std::chrono::milliseconds delay) { return {{delay}, 0}; }
  /// `first`, twice that, and so on up to `most`; at most 32 delays.
  /// @param first above zero and below `most`; otherwise each delay is `most`.
  /// @param most 0 to 3,650 days.
  /// @param jitter per cent, 0 to 100. The call that receives the delays checks it.
  TABLEQ_EXPORT static retry_delays exponential(std::chrono::milliseconds first,
                                                std::chrono::milliseconds most, int jitter = 20);

  friend bool operator==(const retry_delays&, const retry_delays&) = default;
};

/// Retry delays, or std::nullopt: not given. A list in braces gives them: `{1s, 10s, 1min}`, or
/// `{{1s, 10s}, 20}` with a jitter. `{}` and retry_delays::none(): ready again at once.
///
/// A value: owns the delays.
class optional_retry : public std::optional<retry_delays> {
 public:
  // NOLINTBEGIN(google-explicit-constructor): assigned like a std::optional
  /// Not given.
  optional_retry(std::nullopt_t /*none*/) noexcept {}
  /// These.
  optional_retry(retry_delays given) : std::optional<retry_delays>(std::move(given)) {}
  /// These, or none.
  optional_retry(std::optional<retry_delays> given)
      : std::optional<retry_delays>(std::move(given)) {}
  /// @param after, jitter as in retry_delays.
  optional_retry(std::initializer_list<std::chrono::milliseconds> after, int jitter = 0)
      : std::optional<retry_delays>(retry_delays{after, jitter}) {}
  // NOLINTEND(google-explicit-constructor)
};

/// How long finished messages stay in a `claim` queue. Processes that take or settle messages
/// delete older ones, in small steps of their own, for at most a tenth of each second.
struct retention {
  /// Since its completion, of a message that the queue keeps; 1 ms to 3,650 days. Empty: until
  /// purge. Not less than the queue's key_window.
  std::optional<std::chrono::milliseconds> done = {};
  /// Since its death, of a dead message in the queue. Empty: until purge.
  std::optional<std::chrono::milliseconds> dead = {};

  friend bool operator==(const retention&, const retention&) = default;
};

/// The time after its enqueue in which a message may be handed out: a duration, or forever.
/// A value.
class lifetime {
 public:
  /// @param length 1 ms to 3,650 days. The call that receives it refuses zero.
  template <class Rep, class Period>
  requires std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::milliseconds>
  // NOLINTNEXTLINE(google-explicit-constructor): `.time_to_live = 24h` must read well
  constexpr lifetime(std::chrono::duration<Rep, Period> length) : length_(length) {}
  /// No end.
  static constexpr lifetime forever() noexcept { return {}; }

  /// Empty: forever.
  [[nodiscard]] constexpr const std::optional<std::chrono::milliseconds>& length() const noexcept {
    return length_;
  }

  friend bool operator==(const lifetime&, const lifetime&) = default;

 private:
  constexpr lifetime() noexcept = default;
  std::optional<std::chrono::milliseconds> length_;
};

}  // namespace tableq::inline v0
