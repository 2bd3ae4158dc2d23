#pragma once

#include <sys/types.h>

#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#include <tableq/worker.hpp>

#include "child.hpp"

namespace tool {

/// Runs a command for each message: the handler of `work`.
///
/// Commands are signalled and reaped under one lock, so that a signal never reaches a process id
/// that was used again.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class command_runner {
 public:
  command_runner(std::vector<std::string> command,
                 std::optional<std::chrono::milliseconds> retry_delay);

  /// Exit status 0 completes the message; every other status fails it. When `stop` is triggered the
  /// command gets SIGTERM, and its message is then given back.
  tableq::handled run(const message_origin& from, const tableq::delivery& delivery,
                      const std::stop_token& stop);

  /// Sends it to the running commands, and to those that start later.
  void signal_all(int number);

  /// The reason why no command can start, once it is known. Then no message can be handled.
  [[nodiscard]] std::optional<std::string> hopeless() const;

 private:
  using place = std::list<pid_t>::iterator;
  place started(pid_t child);
  child_end ended(place child);
  [[nodiscard]] tableq::handled failed(std::string why) const;
  tableq::handled not_started(const std::error_code& reason);

  const std::vector<std::string> command_;
  const std::optional<std::chrono::milliseconds> retry_delay_;

  mutable std::mutex mutex_;  // guards all below
  std::list<pid_t> children_;
  int pending_signal_ = 0;
  std::optional<std::string> hopeless_;
};

}  // namespace tool
