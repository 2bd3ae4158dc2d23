#pragma once

#include <chrono>

namespace tableq::inline v0::drivers {

/// Decides when a session copies SQLite's log to the database file after a commit. From 4,000 pages
/// on it copies after each commit, but it pauses after an attempt that copied nothing.
///
/// SQLite's own limit is 1,000 pages. A copy here holds the write lock; with 4,000 pages, many of
/// which are then copied once and not four times, that costs writers nothing.
///
/// An open read that began while the log was empty prevents all copying. SQLite detects this only
/// after it has sorted the whole log (walCheckpoint in its wal.c). Each commit would then cost more
/// than the one before. After an attempt that copied nothing, the next attempt waits for fifty
/// times its duration. Attempts therefore use at most a fiftieth of the time.
///
/// @par Thread safety
/// Shared objects: unsafe; it belongs to its session.
class checkpoint_pace {
 public:
  using clock = std::chrono::steady_clock;

  /// @param pages of the log, after a commit.
  [[nodiscard]] bool due(int pages, clock::time_point now) const noexcept {
    constexpr int enough = 4000;
    return pages >= enough && now >= not_before_;
  }

  /// @param logged pages of the log after an attempt; -1 if another connection was copying.
  /// @param copied pages of the log that are now in the file; -1 likewise.
  void tried(int logged, int copied, clock::time_point began, clock::time_point ended) noexcept {
    constexpr int patience = 50;
    const bool in_vain = copied == copied_ && copied < logged;
    not_before_ = in_vain ? ended + patience * (ended - began) : ended;
    if (copied >= 0) copied_ = copied;
  }

 private:
  int copied_ = 0;
  clock::time_point not_before_{};
};

}  // namespace tableq::inline v0::drivers
