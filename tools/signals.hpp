#pragma once

#include <chrono>
#include <utility>

namespace tool {

/// A file descriptor that closes itself.
class descriptor {
 public:
  explicit descriptor(int value = -1) noexcept : value_(value) {}
  descriptor(descriptor&& other) noexcept : value_(other.value_) { other.value_ = -1; }
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~descriptor();

  [[nodiscard]] int value() const noexcept { return value_; }

 private:
  int value_;
};

/// Blocks SIGINT, SIGTERM and SIGHUP and makes them readable. Construct it before any thread: later
/// threads inherit the mask. A SIGHUP that the caller had ignored (nohup) stays ignored.
class signal_queue {
 public:
  signal_queue();

  /// Readable when a signal has come.
  [[nodiscard]] int handle() const noexcept { return readable_.value(); }
  /// Takes one signal; 0 when there is none.
  [[nodiscard]] int take() const;
  /// Waits for one, at most that long; 0 when none came.
  [[nodiscard]] int take_within(std::chrono::milliseconds longest) const;

 private:
  descriptor readable_;
};

/// An event that one thread waits for with poll.
class completion {
 public:
  completion();

  [[nodiscard]] int handle() const noexcept { return readable_.value(); }
  void set() const;
  /// Once it is set: not any more.
  void clear() const;

 private:
  descriptor readable_;
  descriptor writable_;  ///< None: what is readable is written to.
};

}  // namespace tool
