#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace tableq_test {

/// As std::latch, but its count may be exceeded. On systems without a futex that of GCC's library
/// may sleep for ever: the last `count_down` does not always wake it.
class latch {
 public:
  explicit latch(std::ptrdiff_t count) : left_(count) {}

  void count_down() {
    const std::scoped_lock hold(mutex_);
    if (--left_ <= 0) over_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    over_.wait(lock, [this] { return left_ <= 0; });
  }
  void arrive_and_wait() {
    count_down();
    wait();
  }

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  std::ptrdiff_t left_;
};

}  // namespace tableq_test
