#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tableq::inline v0::core {

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

}  // namespace tableq::inline v0::core
