#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

namespace tableq_test {

/// Whether a child of fork() may start threads: the thread sanitizer forbids it.
[[nodiscard]] bool children_may_have_threads();

/// A child of fork(), with a copy of everything except the threads. It ends by exit(), so that
/// static objects are destroyed there, too. One that still runs is killed by the destructor.
class forked {
 public:
  /// @param run runs in the child; returns zero for success.
  explicit forked(const std::function<int()>& run);
  /// A child of a fork by the test itself.
  explicit forked(::pid_t id);
  forked(const forked&) = delete;
  forked& operator=(const forked&) = delete;
  ~forked();

  /// @return the result of `run`; 99 after an exception, 128 plus the signal that ended it, -1 when
  ///   it did not end in time.
  [[nodiscard]] int wait(std::chrono::seconds longest = std::chrono::seconds{60});
  void kill();

 private:
  ::pid_t id_;
  int watch_;
};

/// A pipe on which forked processes signal each other to continue.
class baton {
 public:
  baton();
  baton(const baton&) = delete;
  baton& operator=(const baton&) = delete;
  ~baton();

  void pass() const;
  /// Waits for `pass`. @return false when it did not come in time.
  [[nodiscard]] bool take(std::chrono::seconds longest = std::chrono::seconds{60}) const;

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace tableq_test
