#pragma once

#include <chrono>
#include <cstdint>

namespace tableq::inline v0::drivers {

/// Decides when a session copies SQLite's log to the database file after a commit. From 1,000 pages
/// on, as SQLite itself, it copies after each commit, but it pauses after an attempt that copied
/// nothing. A longer log grows for longer, and the flushes of a file that grows are slower.
///
/// A log that the disk has just room to copy is copied earlier: a longer one could neither grow nor
/// be copied, if the file has to grow for it.
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
  /// @param room asked now and then: the bytes that the disk has left.
  template <class Room>
  [[nodiscard]] bool due(int pages, clock::time_point now, Room room) noexcept {
    constexpr int enough = 1000;
    constexpr int between_looks = 64;
    constexpr std::uint64_t usual_page = 4096;
    bool out = pages >= enough;
    if (pages < looked_at_) looked_at_ = 0;  // the log began anew
    if (!out && pages - looked_at_ >= between_looks) {
      looked_at_ = pages;
      out = room() / usual_page <= static_cast<std::uint64_t>(pages);
    }
    return out && now >= not_before_;
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
  int looked_at_ = 0;  // the pages of the log, when the disk was asked last
  clock::time_point not_before_{};
};

}  // namespace tableq::inline v0::drivers
