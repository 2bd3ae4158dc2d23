#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "signals.hpp"

namespace tool {

/// One measured call.
/// @return how many messages it moved; zero if there were none.
using bench_call = std::function<std::size_t()>;

/// The result of one measurement.
struct bench_figures {
  std::size_t messages = 0;
  std::chrono::duration<double> elapsed{0};  ///< To the end of the last call that moved a message.
  std::vector<double> calls_us = {};         ///< Durations of these calls, sorted.

  [[nodiscard]] double rate() const;  ///< Messages a second.
  /// The quantile of the calls' durations for a share from 0 to 1.
  [[nodiscard]] double percentile_us(double share) const;
};

/// Thrown when a signal asks the command to end.
struct bench_interrupted {};

/// Measures until a signal comes.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class bench_clock {
 public:
  /// The signals are borrowed.
  explicit bench_clock(const signal_queue& signals) : signals_(signals) {}

  /// Repeats the call in each thread, for this time or until it finds nothing.
  /// @throws bench_interrupted, or what a call threw.
  bench_figures run(std::size_t threads, std::chrono::milliseconds time,
                    const std::function<bench_call()>& make) const;

  /// Waits. @throws bench_interrupted.
  void rest(std::chrono::milliseconds time) const;

 private:
  [[nodiscard]] bool interrupted(std::chrono::milliseconds wait) const;

  const signal_queue& signals_;
};

}  // namespace tool
