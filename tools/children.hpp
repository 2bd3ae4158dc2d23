#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "child.hpp"
#include "guard.hpp"
#include "signals.hpp"

namespace tool {

/// The child processes of `work`, each at a place of its own.
///
/// One thread of its own reaps all children of the process: commands, and as the first process of a
/// container also what they leave behind. Commands are signalled and reaped under one lock, so that
/// a signal never reaches a process id that was used again.
///
/// Borrows the guard, whose process ends with it.
///
/// @par Thread safety
/// Distinct objects: one in a process. Shared objects: safe; a place is for the thread that has
/// reserved it.
class children {
 public:
  explicit children(guard& watch);
  /// When no child is left.
  ~children();
  children(const children&) = delete;
  children& operator=(const children&) = delete;

  [[nodiscard]] std::size_t size() const { return places_.size(); }

  /// A place that is not reserved; if possible one with a child that lives. There are as many as
  /// threads that ask.
  std::size_t reserve();
  void release(std::size_t place);

  /// Starts a child there. @throws std::system_error; then there is none.
  void start(std::size_t place, const std::vector<std::string>& command,
             const std::vector<std::string>& environment, const child_streams& streams);
  [[nodiscard]] bool lives(std::size_t place) const;
  /// Readable once the child there has ended.
  [[nodiscard]] int end_handle(std::size_t place) const { return places_[place].over.handle(); }

  /// Sends SIGTERM to the child there and to its group.
  void terminate(std::size_t place);
  /// Waits for its end.
  child_end await(std::size_t place);
  /// Waits for its end for that time. Then come SIGTERM, and 3 s later SIGKILL.
  child_end end(std::size_t place, std::chrono::milliseconds patience);

  /// Sends it to all children, and to those that start later.
  void signal_all(int number);

 private:
  struct running {
    bool used = false;
    bool asked = false;                 ///< To end, by a signal.
    std::optional<child_end> end = {};  ///< Once it is reaped, until it is awaited.
    completion over = {};
  };

  void reap();
  void reaped(pid_t child, const child_end& end);
  void signal(std::size_t place, int number);
  child_end taken_end(std::size_t place);

  guard& guard_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<running> places_;  ///< As the guard's.
  int pending_signal_ = 0;
  bool ending_ = false;
  std::thread reaper_;  ///< Last: it uses all others.
};

}  // namespace tool
