#pragma once

#include <cstddef>
#include <optional>

#include <tableq/export.hpp>
#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// Options of `stats`.
struct stats_options {
  /// True: counts all messages, without a limit. Not for a hot path.
  bool exact = false;
  /// Otherwise each count stops here, 1 to 1,000,000. It bounds the cost of a call.
  std::size_t count_to = 10'000;
};

/// Figures of a destructive queue.
struct queue_stats {
  std::size_t waiting = 0;               ///< Visible and due.
  std::size_t delayed = 0;               ///< `pending` only: due later.
  std::optional<timestamp> oldest = {};  ///< created_at of the first waiting message. Empty: none.
  /// Empty: the figures are exact. Otherwise counting stopped here: a figure of this size is a
  /// lower bound, and a smaller one is exact.
  std::optional<std::size_t> counted_to = {};
  /// The highest id given so far; on SQLite the highest in the queue. Empty: none, or no right to
  /// read it.
  std::optional<message_id> last_id = {};
  timestamp as_of = {};  ///< By the database's clock.
};

/// Figures of a `claim` queue.
struct claim_stats {
  /// Ready for a take now, including due and expired messages that no take has found.
  std::size_t ready = 0;
  std::size_t due = 0;      ///< The part of `ready` that no take has found.
  std::size_t delayed = 0;  ///< Due later.
  std::size_t leased = 0;   ///< Under a lease that has not ended.
  std::size_t held = 0;     ///< Behind others of their group.
  std::size_t done = 0;     ///< Completed and kept.
  std::size_t dead = 0;     ///< Waiting for redrive or purge; without `dead_letters`.
  /// created_at of the counted ready message with the lowest id. Empty: none is ready.
  std::optional<timestamp> oldest = {};
  /// Empty: the figures are exact. Otherwise counting stopped here: a figure of this size is a
  /// lower bound; `delayed` and `leased` both are, if their sum has this size.
  std::optional<std::size_t> counted_to = {};
  /// The highest id given so far. Empty: as in queue_stats.
  std::optional<message_id> last_id = {};
  timestamp as_of = {};  ///< By the database's clock.
  /// Messages of this queue that are ready in its dead-letter queue: redrive_all returns them, but
  /// for those whose keys are held. Counted among the first `count_to` ready messages there, just
  /// after the other figures. Empty: the queue has no dead-letter queue, the user may not read it,
  /// or it is missing.
  std::optional<std::size_t> dead_letters = {};
  /// `dead_letters` is a lower bound: more messages are ready there than were looked at.
  bool dead_letters_at_least = false;
};

/// Rates of a queue between two results of `stats`, per second. Empty: unknown.
struct queue_rates {
  /// Computed from the ids given meanwhile. Enqueues that were rolled back or refused may have used
  /// ids too. On SQLite an empty destructive queue starts its ids again: the rate is then empty or
  /// too low.
  std::optional<double> enqueued = {};
  /// Messages that left the queue: the enqueue rate minus the growth of the backlog. In a `claim`
  /// queue a message leaves when it is done, dead or deleted; one that is made ready again counts
  /// as minus one. Needs exact figures of all waiting and leased messages.
  std::optional<double> left = {};
};

/// Rates in messages per second, from two results of one queue. Needs no database.
/// @param earlier, later two results of `stats`, in this order. A rate is empty when both have the
///   same time, or when a needed figure is missing.
TABLEQ_EXPORT queue_rates rates_between(const queue_stats& earlier, const queue_stats& later);
TABLEQ_EXPORT queue_rates rates_between(const claim_stats& earlier, const claim_stats& later);

}  // namespace tableq::inline v0
