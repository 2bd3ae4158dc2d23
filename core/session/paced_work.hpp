#pragma once

#include <atomic>
#include <chrono>
#include <exception>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/session/retry.hpp"

namespace tableq::inline v0::core {

/// Work on what calls have left, which one thread of the process does at a time.
///
/// @par Thread safety
/// Shared objects: safe.
class paced_work {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds usual_pause{1};

  /// Runs `work(now)`, which returns the pause until the next time, if it is time. A failure is
  /// left to the next time, or to another process: after the usual pause if it may pass by itself,
  /// or else after a minute.
  /// @param always also before its time: the database has a clock that a test sets.
  /// @return the next time.
  template <class Work>
  clock::time_point run(bool always, Work work) noexcept {
    const clock::time_point now = clock::now();
    if (now < next_.load() && !always) return next_;
    if (working_.exchange(true)) return now + usual_pause;
    clock::duration pause = usual_pause;
    try {
      const unrepeated once;
      pause = work(now);
    } catch (const error& failure) {  // noexcept, as the call that attends it goes on.
      if (!may_pass(failure)) pause = after_refusal;
    } catch (const std::exception&) {  // Usually a lack of memory.
    }
    next_ = clock::now() + pause;
    working_ = false;
    return next_;
  }
  [[nodiscard]] clock::time_point next() const noexcept { return next_; }

 private:
  static constexpr std::chrono::minutes after_refusal{1};

  std::atomic<bool> working_ = false;
  std::atomic<clock::time_point> next_ = {};
};

}  // namespace tableq::inline v0::core
