#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

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
  /// of the first one is longer, that is the time, but at most twice the last one, or a minute.
  /// While reads get messages, only their own duration counts as time if a read from the very start
  /// takes more than a millisecond: a reader that rests would pay it in each of its bursts. After
  /// ten minutes a read begins there all the same.
  static constexpr std::chrono::seconds start_over_every{1};

  /// After this time without a look many messages may have been leased and settled, or the clock
  /// set back: a slow read, or several, are worth a look. After ten seconds any read is.
  static constexpr std::chrono::milliseconds too_long_ago{1000};

  /// Whether this read begins at the very start.
  [[nodiscard]] bool starts_over(time now) noexcept;
  /// The end of a read from the very start.
  void started_over(time began, time now) noexcept;
  /// The end of any other read.
  void took(clock::duration duration) noexcept;
  /// @param nothing the last read found no message: then reads have time.
  void found(bool nothing) noexcept { idle_ = nothing; }

  /// This long ago a read began at the very start, for other processes.
  [[nodiscard]] std::chrono::milliseconds checked(time now) const noexcept;
  [[nodiscard]] std::chrono::milliseconds pause() const noexcept;
  /// Another process began at the very start so long ago.
  void was_checked(std::chrono::milliseconds ago, std::chrono::milliseconds pause,
                   time now) noexcept;

  /// The end of a read.
  void read(std::size_t messages) noexcept;
  /// Whether a look is due. The caller must then call `looked` or `failed`.
  /// @param watches_time messages fall due meanwhile.
  [[nodiscard]] bool look(time now, bool watches_time) noexcept;
  void looked(time now) noexcept;
  void failed() noexcept { looking_ = false; }
  /// The next looks come with each read, until `settled`.
  void hurry() noexcept;
  void settled() noexcept { hurried_ = 0; }

  /// Whether other processes should learn what this one knows.
  /// @param reached the id up to which it knows. @param more there is other news.
  [[nodiscard]] bool tell(time now, std::int64_t reached, bool more = false) noexcept;

 private:
  /// Whether the next read begins at the very start.
  [[nodiscard]] bool due(time now) const noexcept;

  std::size_t read_ = 0;  // since the last look
  std::size_t most_ = 0;  // by one read since then
  bool slow_ = false;     // a read since then
  int hurried_ = 0;       // looks left that come at once
  bool looking_ = false;
  time began_ = {};  // of the last look
  time not_before_ = {};
  time start_over_at_ = {};
  time checked_at_ = {};
  std::chrono::milliseconds pause_{0};  // fifty times the duration of a read from the very start
  clock::duration spent_{0};            // by reads since then
  bool idle_ = false;
  int told_ = 0;              // times
  std::int64_t told_of_ = 0;  // an id
  time told_at_ = {};
};

}  // namespace tableq::inline v0::core
