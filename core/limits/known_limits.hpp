#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "core/waking/change_signal.hpp"

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

/// The known room of a bounded queue: how many messages this process may add before it counts
/// again.
///
/// Callers reserve first; without credit they count rows. A count makes one part in `shares` of the
/// free room credit for a second. Other processes do the same, so each exceeds the capacity by at
/// most its own part. A count may or may not include messages that this process is adding; the
/// account assumes that it does not.
///
/// @par Thread safety
/// Shared objects: safe.
class room_account {
 public:
  using clock = std::chrono::steady_clock;

  enum class answer : std::uint8_t {
    granted,
    count,  ///< The caller counts the rows, then calls `counted`.
    full,   ///< The queue was full a moment ago.
  };
  /// Belongs to one count: made before it, used after it.
  struct count_mark {
    clock::time_point begun;
    std::uint64_t ended = 0;
  };

  [[nodiscard]] answer reserve(std::size_t wanted, clock::time_point now);

  [[nodiscard]] count_mark begin_count(clock::time_point now);

  /// @param number the count, or an upper bound.
  /// @param keep whether the count holds for later callers too.
  /// @return `granted`, `full`, or `count`: full unless the count included messages that are being
  ///   added.
  [[nodiscard]] answer counted(const count_mark& mark, std::size_t number, std::size_t capacity,
                               std::size_t wanted, bool keep, clock::time_point now);

  /// The reserved messages have been added, except `unused` of them.
  void done(std::size_t reserved, std::size_t unused) noexcept;

  /// A message has left the queue: if it was full, a new count is worthwhile.
  void freed() noexcept;

  /// The limits have changed: the count is no longer valid.
  void forget() noexcept;

 private:
  static constexpr std::size_t shares = 32;
  /// A caller spends at most one part in `rest` of its time on counting a full queue.
  static constexpr int rest = 8;
  static constexpr std::chrono::milliseconds longest_rest{500};
  static constexpr std::chrono::seconds credit_lasts{1};

  std::mutex mutex_;
  std::size_t credit_ = 0;        // guarded by mutex_
  clock::time_point until_;       // of the credit; guarded by mutex_
  clock::time_point next_count_;  // for more than seen_room_; guarded by mutex_
  std::size_t seen_room_ = 0;     // by the last count that was not enough; guarded by mutex_
  bool freed_ = false;            // since then; guarded by mutex_
  std::size_t under_way_ = 0;     // reserved and not done; guarded by mutex_
  std::uint64_t ended_ = 0;       // reserved and done, of all time; guarded by mutex_
};

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
