#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>

namespace tableq::inline v0::core {

/// The age of what the database last answered to a question, for all callers of one process.
///
/// An answer is fresh for half a second. Then one thread asks again, while the others use the old
/// answer; after a second every thread asks. So a change by another process takes effect here
/// within a second, at the price of two loads and a read of the clock.
///
/// @par Thread safety
/// Shared objects: safe.
class answer_age {
 public:
  using clock = std::chrono::steady_clock;

  /// Whether the caller may use the last answer. False: the caller must ask the database.
  [[nodiscard]] bool usable() noexcept {
    const clock::rep now = clock::now().time_since_epoch().count();
    const clock::rep asked = asked_.load();
    if (asked <= 0) return false;
    const clock::duration age(now - asked);
    if (age >= stale) return false;
    if (age < fresh) return true;
    clock::rep claimed = claimed_.load();
    return claimed > asked || !claimed_.compare_exchange_strong(claimed, now);
  }

  /// Whether there is an answer, however old.
  [[nodiscard]] bool answered() const noexcept { return asked_.load() > 0; }
  /// @param asked the time before the question was sent.
  void answered(clock::time_point asked) noexcept {
    asked_.store(asked.time_since_epoch().count());
  }

  /// Whether the last answer is of a later question than this.
  [[nodiscard]] bool later_than(clock::time_point asked) const noexcept {
    return std::abs(asked_.load()) > asked.time_since_epoch().count();
  }

  /// The next caller asks. Answers to questions that were sent before are not for it.
  void forget() noexcept { asked_.store(-clock::now().time_since_epoch().count()); }

 private:
  static constexpr std::chrono::milliseconds fresh{500};
  static constexpr std::chrono::milliseconds stale{1000};

  std::atomic<clock::rep> asked_{0};    // zero: never; negative: forgotten at that time
  std::atomic<clock::rep> claimed_{0};  // when a thread last began to ask
};

}  // namespace tableq::inline v0::core
