#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>

#include "core/limits/answer_age.hpp"
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
/// A queue without limits costs only the check of the answer's age.
///
/// @par Thread safety
/// Shared objects: safe.
class limits_watch {
 public:
  using clock = answer_age::clock;

  /// The known limits; nothing if the caller must ask the database.
  [[nodiscard]] std::optional<known_limits> known() noexcept;

  /// Whether the queue was without limits when the database was last asked, however long ago.
  [[nodiscard]] bool was_unlimited() const noexcept { return age_.answered() && !limited_.load(); }

  /// Stores an answer of the database.
  /// @param asked the time before the query was sent; an answer older than the known one is
  ///   dropped.
  void learn(const known_limits& limits, clock::time_point asked);

  /// The next caller asks: the queue has changed.
  void forget() noexcept { age_.forget(); }

  /// A message has left the queue, or its lease has ended.
  void made_room() noexcept;
  /// Whether the queue has limits, so that a call may wait for a change.
  [[nodiscard]] bool limited() const noexcept { return limited_.load(); }

  [[nodiscard]] room_account& room() noexcept { return room_; }
  /// Rings when this process may have freed room or a lease.
  [[nodiscard]] change_signal& changes() noexcept { return changes_; }

 private:
  answer_age age_;
  std::atomic<bool> limited_{false};
  std::mutex mutex_;
  known_limits known_;  // guarded by mutex_
  room_account room_;
  change_signal changes_;
};

}  // namespace tableq::inline v0::core
