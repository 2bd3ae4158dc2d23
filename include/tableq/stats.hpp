#pragma once

#include <cstddef>
#include <optional>

#include <tableq/export.hpp>
#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// How `stats` counts.
struct stats_options {
  /// Count to the end, however many there are: not for a hot path.
  bool exact = false;
  /// Otherwise each count stops there, 1 to 1,000,000: what a look costs is bounded by it.
  std::size_t count_to = 10'000;
};

/// Figures of a destructive queue.
struct queue_stats {
  std::size_t waiting = 0;               ///< Visible and due.
  std::size_t delayed = 0;               ///< `pending` only: due later.
  std::optional<timestamp> oldest = {};  ///< created_at of the first of those waiting.
  /// Empty: the figures are exact. Otherwise counting stopped there: a figure that has reached it
  /// is a lower bound, and a smaller one is exact.
  std::optional<std::size_t> counted_to = {};
  /// The highest id given so far; on SQLite the highest in the queue. Empty: none, or it may not be
  /// looked up.
  std::optional<message_id> last_id = {};
  timestamp as_of = {};  ///< By the database's clock.
};

/// Figures of a `claim` queue.
struct claim_stats {
  /// Free to be taken now; due and expired ones that no take has met included.
  std::size_t ready = 0;
  std::size_t due = 0;  ///< Those of them that no take has met.
  std::size_t delayed = 0;
  std::size_t leased = 0;
  std::size_t held = 0;  ///< Behind others of their group.
  std::size_t done = 0;
  std::size_t dead = 0;
  /// created_at of the ready message with the lowest id, of those that were counted.
  std::optional<timestamp> oldest = {};
  /// Empty: the figures are exact. Otherwise counting stopped there: a figure that has reached it
  /// is a lower bound; `delayed` and `leased` are both when they have reached it together.
  std::optional<std::size_t> counted_to = {};
  std::optional<message_id> last_id = {};  ///< The highest id given so far, if any is known.
  timestamp as_of = {};                    ///< By the database's clock.
};

/// What happened to a queue between two looks at it, per second. Empty: the looks do not tell.
struct queue_rates {
  /// By the ids that were given meanwhile. Enqueues that were rolled back or refused may have drawn
  /// ids too. On SQLite a destructive queue begins anew with its ids when it has run empty: then
  /// nothing is told, or too little.
  std::optional<double> enqueued = {};
  /// Messages that left the queue: the enqueue rate minus the growth of the backlog. In a `claim`
  /// queue a message leaves when it is done, dead or deleted, and one that is made ready again
  /// counts as minus one. Needs exact figures of all messages that wait or run.
  std::optional<double> left = {};
};

/// Rates in messages per second, from two figures of one queue. Asks no database.
/// @param earlier, later two results of `stats`, in this order. A rate is empty when no time lies
///   between them, or when they lack a figure that it needs.
TABLEQ_EXPORT queue_rates rates_between(const queue_stats& earlier, const queue_stats& later);
TABLEQ_EXPORT queue_rates rates_between(const claim_stats& earlier, const claim_stats& later);

}  // namespace tableq::inline v0
