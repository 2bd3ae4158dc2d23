#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>

namespace tableq::inline v0::core {

/// Why a reader woke up.
enum class woken {
  no,       ///< Its time is over, or a stop was requested.
  message,  ///< For one message that this process added.
  hint,     ///< Something may be there, and more than one.
  clock,    ///< Nothing new: it is to ask when the next message falls due.
};

/// Where readers of one queue sleep. Wakes one reader for each message, the longest sleeper first.
/// If fewer readers sleep than there are messages, that many active readers poll once more before
/// they sleep, and no more: if all did, slow polls of many readers would never end.
///
/// @par Thread safety
/// Shared objects: safe.
class waker {
 public:
  /// So many messages have been added.
  void wake(std::size_t count = 1) noexcept;
  /// Messages may be there: wakes one reader, which wakes the next when it finds something.
  void hint() noexcept;
  /// Wakes one reader to ask for the next due time; no reader polls for that.
  void ask() noexcept;

  /// A mark for `wait`: no wake or hint from now on is missed.
  [[nodiscard]] std::uint64_t mark() noexcept;

  /// How many sleep now.
  [[nodiscard]] std::size_t sleeping() noexcept;

  /// Sleeps. A wake or hint since the mark that found no sleeper counts as a hint, at once, for as
  /// many readers as it would have woken.
  [[nodiscard]] woken wait(std::uint64_t since, std::chrono::steady_clock::time_point until,
                           const std::stop_token& stop);

 private:
  struct sleeper {
    std::condition_variable_any signal;
    woken why = woken::no;
  };

  void wake_first(woken why) noexcept;
  void owe(std::size_t looks) noexcept;

  std::mutex mutex_;
  std::uint64_t count_ = 0;        // of wakes and hints; guarded by mutex_, as all below
  std::size_t owed_ = 0;           // polls that found no sleeper
  std::uint64_t owed_since_ = 0;   // the wake or hint that came last of these
  std::deque<sleeper*> sleepers_;  // and what they point to
};

}  // namespace tableq::inline v0::core
