#pragma once

#include <chrono>
#include <cstddef>

namespace tableq::inline v0::core {

/// Decides when reads look for a better place to begin, and when a read begins at the very start
/// all the same.
///
/// @par Thread safety
/// One thread.
class look_schedule {
 public:
  using clock = std::chrono::steady_clock;
  using time = clock::time_point;

  /// The shortest time between two reads that begin at the very start. If fifty times the duration
  /// of the first one is longer, that is the time.
  static constexpr std::chrono::seconds start_over_every{1};

  /// Whether this read begins at the very start.
  [[nodiscard]] bool starts_over(time now) noexcept;
  /// The end of a read from the very start.
  void started_over(time began, time now) noexcept;

  /// The end of a read.
  void read(std::size_t messages) noexcept;
  /// Whether a look is due. The caller must then call `looked` or `failed`.
  /// @param nothing_known some reads have no place to begin.
  /// @param watches_time messages fall due meanwhile.
  [[nodiscard]] bool look(time now, bool nothing_known, bool watches_time) noexcept;
  void looked(time now) noexcept;
  void failed() noexcept { looking_ = false; }
  /// The next looks come at once, as long as nothing is known.
  void hurry() noexcept;

 private:
  std::size_t read_ = 0;  // since the last look
  std::size_t most_ = 0;  // by one read since then
  int hurried_ = 0;       // looks left that come at once
  bool looking_ = false;
  time began_ = {};  // of the last look
  time not_before_ = {};
  time start_over_at_ = {};
};

}  // namespace tableq::inline v0::core
