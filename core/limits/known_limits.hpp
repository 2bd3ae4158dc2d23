#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include <tableq/schema.hpp>

#include "core/limits/room_account.hpp"
#include "core/waking/change_signal.hpp"

namespace tableq::inline v0::core {

/// The facts about a queue's limits that each operation needs first.
struct known_limits {
  bool paused = false;
  bool metered = false;  ///< A rate or a concurrency: reads lock the queue's row.
  std::optional<std::size_t> capacity = {};

  [[nodiscard]] bool any() const noexcept { return paused || metered || capacity; }
};

/// The limits of one queue as last read by this process, for all its handles in one database.
///
/// An answer is fresh for half a second. Then one thread asks again, while the others use the old
/// answer; after a second every thread asks. So a change by another process takes effect here
/// within a second, and a queue without limits costs two loads and a read of the clock. The same
/// answer shows whether the queue is still the one that its handles were opened for.
///
/// @par Thread safety
/// Shared objects: safe.
class limits_watch {
 public:
  using clock = std::chrono::steady_clock;

  /// The known limits; nothing if the caller must ask the database.
  [[nodiscard]] std::optional<known_limits> known() noexcept;

  /// Stores an answer of the database.
  /// @param asked the time before the query was sent; an answer older than the known one is
  ///   dropped.
  void learn(const known_limits& limits, clock::time_point asked);

  /// The next caller asks: the queue has changed.
  void forget() noexcept {
    asked_.store(0);
    seen_.store(0);
  }

  /// Whether the queue was seen in the database within the last second, by a query for its limits
  /// or by `confirm`. False: the caller must query the catalogue.
  [[nodiscard]] bool confirmed() noexcept;
  /// The queue existed at this time, just before the query was sent.
  void confirm(clock::time_point asked) noexcept;

  /// The queue was dropped; this is final. Wakes waiting reads.
  /// @param new_kind the kind of the queue that has the name now, if there is one.
  void end(std::optional<kind> new_kind) noexcept;
  [[nodiscard]] bool ended() const noexcept { return ended_.load() != not_ended; }
  /// The kind of the queue that has the name of one that ended, if there is one.
  [[nodiscard]] std::optional<kind> successor() const noexcept;

  /// A message has left the queue, or its lease has ended.
  void made_room() noexcept;
  /// Whether the queue has limits, so that a call may wait for a change.
  [[nodiscard]] bool limited() const noexcept { return limited_.load(); }

  [[nodiscard]] room_account& room() noexcept { return room_; }
  /// Rings when this process may have freed room or a lease.
  [[nodiscard]] change_signal& changes() noexcept { return changes_; }

 private:
  static constexpr std::chrono::milliseconds fresh{500};
  static constexpr std::chrono::milliseconds stale{1000};
  static constexpr int not_ended = -2;
  static constexpr int no_successor = -1;

  std::atomic<clock::rep> asked_{0};    // zero: never
  std::atomic<clock::rep> claimed_{0};  // when a thread last began to ask
  std::atomic<clock::rep> seen_{0};     // when the queue existed; zero: never
  std::atomic<bool> limited_{false};
  std::atomic<int> ended_{not_ended};  // or no_successor, or the successor's kind
  std::mutex mutex_;
  known_limits known_;  // guarded by mutex_
  room_account room_;
  change_signal changes_;
};

}  // namespace tableq::inline v0::core
