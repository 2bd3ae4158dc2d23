#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <vector>

namespace tableq::inline v0::core {

/// The reason for waking a reader.
enum class woken {
  no,       ///< Its time is over, or a stop was requested.
  message,  ///< For one message that this process added.
  hint,     ///< One or more messages may exist.
  clock,    ///< No new message: the reader asks when the next one falls due.
};

/// Is told of the wakes and hints of a queue beside the readers that sleep.
class wake_follower {
 public:
  /// Called under the waker's mutex: quick, and without a call of the waker.
  virtual void woken_too() noexcept = 0;

 protected:
  ~wake_follower() = default;
};

/// Where readers of one queue sleep. Wakes one reader for each message, the longest sleeper first.
/// If there are more messages than sleeping readers, the same number of active readers poll once
/// more before they sleep. Not all of them do: slow polls of many readers would never end.
///
/// @par Thread safety
/// Shared objects: safe.
class waker {
 public:
  /// This process added `count` messages.
  void wake(std::size_t count = 1) noexcept;
  /// Messages may exist: wakes one reader, which wakes the next when it finds one.
  void hint() noexcept;
  /// Wakes one reader to ask for the next due time; no reader polls for that.
  void ask() noexcept;

  /// From now on `each` is told of every wake and hint.
  void follow(wake_follower& each);
  /// From now on it is not. Waits for a call that tells it.
  void unfollow(wake_follower& each) noexcept;

  /// A mark for `wait`: no wake or hint from now on is missed.
  [[nodiscard]] std::uint64_t mark() noexcept;

  /// How many sleep now.
  [[nodiscard]] std::size_t sleeping() noexcept;

  /// Sleeps until woken. If a wake or hint since the mark found no sleeper, the call returns at
  /// once. As many readers do so as the wake or hint would have woken.
  [[nodiscard]] woken wait(std::uint64_t since, std::chrono::steady_clock::time_point until,
                           const std::stop_token& stop);

 private:
  struct sleeper {
    std::condition_variable_any signal;
    woken reason = woken::no;
  };

  void wake_first(woken reason) noexcept;
  void owe(std::size_t polls, woken reason) noexcept;
  void tell_followers() noexcept;

  std::mutex mutex_;
  std::uint64_t count_ = 0;        // of wakes and hints; guarded by mutex_, as all below
  std::size_t owed_ = 0;           // polls still to do: a wake or hint came while no reader slept
  woken owed_as_ = woken::hint;    // message: all of them come of wakes
  std::uint64_t owed_since_ = 0;   // the last such wake or hint
  std::deque<sleeper*> sleepers_;  // and their targets
  std::vector<wake_follower*> followers_;
};

}  // namespace tableq::inline v0::core
