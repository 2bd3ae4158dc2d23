#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>

namespace tableq::inline v0 {

/// What holds a queue back. Stored in the database, and kept by every process that uses the queue:
/// within a second after a change. What is left empty does not limit.
///
/// docs/limits.md says what each promises and costs.
struct queue_limits {
  /// The most messages that wait or run; more are refused, or wait for room. 1 to 10^12. What is
  /// done or dead does not count. Exact for one thread; many processes may go over it a little.
  std::optional<std::size_t> capacity = {};

  /// Messages in each second that reads hand out, all processes together. 0.001 to 1,000,000;
  /// kept to the millionth.
  std::optional<double> rate = {};

  /// How many messages at most may come at once after a time without any. 1 to 1,000,000, with a
  /// rate only. Empty: as many as come in one second, at least 1.
  std::optional<int> burst = {};

  /// `claim` only: the most messages under a lease that has not ended, all processes together. 1
  /// to 1,000,000.
  std::optional<int> concurrency = {};

  friend bool operator==(const queue_limits&, const queue_limits&) = default;
};

/// What an enqueue does when the queue has no room left for it.
struct when_full {
  /// For room, up to 365 days. Zero: do not wait.
  std::chrono::milliseconds wait{0};
  std::stop_token stop = {};  ///< A request ends the waiting, with errc::queue_full.
};

}  // namespace tableq::inline v0
