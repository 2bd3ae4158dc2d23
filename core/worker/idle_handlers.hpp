#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace tableq::inline v0::core {

/// The handler threads of a worker that wait for a message. The thread that waits last is woken
/// first. A call of `wake` wakes two threads at most, so that the caller soon goes on; each of
/// these threads wakes two more.
///
/// @par Thread safety
/// Shared objects: unsafe; the mutex of worker_state guards it.
class idle_handlers {
 public:
  /// Reserves the memory that so many waiting threads need.
  void make_room(std::size_t threads) { asleep_.reserve(threads); }
  /// The calling thread waits until it is woken.
  void wait(std::unique_lock<std::mutex>& lock) {
    sleeper me;
    asleep_.push_back(&me);
    me.signal.wait(lock, [&me] { return me.woken; });
    --coming_;
  }

  /// Wakes threads for messages that wait, except those for which threads were woken before.
  void wake(std::size_t messages) noexcept {
    constexpr std::size_t most = 2;
    const std::size_t wanted = messages > coming_ ? std::min(messages - coming_, most) : 0;
    for (std::size_t i = std::min(wanted, asleep_.size()); i > 0; --i) wake_last();
  }
  void wake_all() noexcept {
    while (!asleep_.empty()) wake_last();
  }

 private:
  struct sleeper {
    std::condition_variable signal;
    bool woken = false;
  };

  void wake_last() noexcept {
    asleep_.back()->woken = true;
    // Under the lock: afterwards the sleeper may be destroyed.
    asleep_.back()->signal.notify_one();
    asleep_.pop_back();
    ++coming_;
  }

  std::vector<sleeper*> asleep_;
  std::size_t coming_ = 0;  // woken, and not yet awake
};

}  // namespace tableq::inline v0::core
