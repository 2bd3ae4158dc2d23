#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <tableq/worker.hpp>

#include "brake.hpp"
#include "child.hpp"
#include "guard.hpp"

namespace tool {

/// Runs a command for each message: the handler of `work`.
///
/// One thread of its own reaps all children of the process: commands, and as the first process of a
/// container also what they leave behind. Commands are signalled and reaped under one lock, so that
/// a signal never reaches a process id that was used again.
///
/// Borrows the guard, whose process ends with it.
///
/// @par Thread safety
/// Distinct objects: one in a process. Shared objects: safe.
class command_runner {
 public:
  /// @param say gets a sentence about trouble of all commands.
  command_runner(std::vector<std::string> command,
                 std::optional<std::chrono::milliseconds> retry_delay, guard& watch,
                 std::function<void(const std::string&)> say);
  /// After the last run.
  ~command_runner();
  command_runner(const command_runner&) = delete;
  command_runner& operator=(const command_runner&) = delete;

  /// Exit status 0 completes the message; another one fails it, but for 126 and 127: see `unable`.
  /// When `stop` is triggered the command gets SIGTERM, and its message is then given back. While
  /// no command succeeds, the verdicts come later and later.
  tableq::handled run(const message_origin& from, const tableq::delivery& delivery,
                      const std::stop_token& stop);

  /// Sends it to the running commands, and to those that start later.
  void signal_all(int number);

  /// The worker takes no more: verdicts come at once.
  void hurry() { brake_.open(); }

  /// The reason why no command can start, once it is known. Then no message can be handled.
  [[nodiscard]] std::optional<std::string> hopeless() const;

 private:
  struct running {
    bool used = false;
    bool asked = false;                 ///< To end, by a signal.
    std::optional<child_end> end = {};  ///< Once it is reaped.
  };

  void reap();
  void reaped(pid_t child, const child_end& end);
  std::size_t reserve();
  child_end await(std::size_t place, const std::stop_token& stop);
  void leave(std::size_t place);
  void signal(std::size_t place, int number);
  [[nodiscard]] tableq::handled failed(std::string why) const;
  tableq::handled not_started(const std::error_code& reason, const std::stop_token& stop);
  tableq::handled unable(const child_end& end, const std::stop_token& stop);

  const std::vector<std::string> command_;
  const std::optional<std::chrono::milliseconds> retry_delay_;
  guard& guard_;
  brake brake_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<running> places_;  ///< As the guard's.
  int pending_signal_ = 0;
  std::optional<std::string> hopeless_;
  /// Ends in a row by which a command says that it cannot start its program. One at first, since
  /// nothing has shown yet that it can.
  std::size_t unable_ = 1;
  bool ending_ = false;
  std::thread reaper_;  ///< Last: it uses all others.
};

}  // namespace tool
