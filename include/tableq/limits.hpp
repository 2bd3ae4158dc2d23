#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <tableq/export.hpp>

namespace tableq::inline v0 {

/// The limits of a queue. The database stores them, and every process that uses the queue keeps
/// them, within a second after a change. Empty: no limit.
///
/// docs/limits.md has the guarantees and costs of each.
struct queue_limits {
  /// The most messages that wait or are leased; further enqueues are refused, or wait for room. 1
  /// to 10^12. Done and dead messages do not count. Exact for one thread; several processes may
  /// exceed it slightly.
  std::optional<std::size_t> capacity = {};

  /// Messages per second that reads hand out, in all processes together. 0.001 to 1,000,000; stored
  /// to the millionth.
  std::optional<double> rate = {};

  /// The most messages at once after a time without reads. 1 to 1,000,000, only with a rate. Empty:
  /// the messages of one second, at least 1.
  std::optional<int> burst = {};

  /// `claim` only: the most messages under a lease that has not ended, in all processes together. 1
  /// to 1,000,000.
  std::optional<int> concurrency = {};

  friend bool operator==(const queue_limits&, const queue_limits&) = default;
};

/// The limits of a group of a `claim` queue. The database keeps them, for every process that uses
/// the queue. docs/limits.md has the guarantees and costs.
struct group_limits {
  /// The most messages of the group that are ready or leased at the same time. 1 to 1,000. Empty:
  /// group_options::limit.
  std::optional<int> running = {};

  /// Starts per second. A message starts when it becomes ready: at its enqueue, or when its group
  /// has room. Later attempts are starts too. 0.001 to 1,000; stored to the millionth. Empty: no
  /// limit.
  std::optional<double> rate = {};

  /// The most starts at once after a time without any. 1 to 1,000, only with a rate. Empty: those
  /// of one second, at least 1.
  std::optional<int> burst = {};

  /// Turns of the group where one of weight 1 with the same `running` has one: a share of the
  /// takes, not a limit. 1 to 1,000, only with group_options::by_turns. Empty: 1.
  std::optional<int> weight = {};

  friend bool operator==(const group_limits&, const group_limits&) = default;
};

/// A group, and its limits.
struct limited_group {
  std::string group = {};    ///< Empty: each group without limits of its own.
  group_limits limits = {};  ///< Instead of those of the others.

  friend bool operator==(const limited_group&, const limited_group&) = default;
};

/// A page of the limits of groups.
struct group_limits_page {
  std::size_t max = 500;  ///< Groups on the page, 1 to 10,000.
  /// The name to begin with: `next` of the page before. Empty: all.
  std::string first = {};
};

/// Groups with limits.
struct limited_groups {
  std::vector<limited_group> groups = {};  ///< By their names.
  std::optional<std::string> next = {};    ///< Of the next page. Empty: there are no others.
};

/// The action of an enqueue when the queue has no room for it.
struct when_full {
  /// Longest wait for room, up to 365 days. Zero: no waiting.
  std::chrono::milliseconds wait{0};
  std::stop_token stop = {};  ///< A request ends the waiting, with errc::queue_full.
};

}  // namespace tableq::inline v0
