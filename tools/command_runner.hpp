#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#include "brake.hpp"
#include "child.hpp"
#include "child_errors.hpp"
#include "children.hpp"
#include "guard.hpp"
#include "line_handler.hpp"

namespace tool {

/// The command of `work`, and what its ends mean.
struct command_settings {
  std::vector<std::string> command;
  /// Each child lasts, and handles one message after the other, by lines.
  bool by_lines = false;
  /// By lines: the longest time for an answer; empty: without end.
  std::optional<std::chrono::milliseconds> answer_within = {};
  std::optional<std::chrono::milliseconds> retry_delay = {};  ///< Empty: the queue's.
};

/// Runs a command for each message, or lets lasting commands handle them: the handler of `work`.
///
/// @par Thread safety
/// Distinct objects: one in a process. Shared objects: safe.
class command_runner {
 public:
  /// @param say gets a sentence about trouble of all commands.
  command_runner(command_settings settings, guard& watch,
                 std::function<void(const std::string&)> say);
  /// After the last run. Lasting commands read the end of their input, and have 3 s to end.
  ~command_runner();
  command_runner(const command_runner&) = delete;
  command_runner& operator=(const command_runner&) = delete;

  /// Exit status 0, or an answer, completes the message; another status fails it, but for 126 and
  /// 127: see `unable`. When `stop` is triggered the command gets SIGTERM, and its message is then
  /// given back. While no command succeeds, the verdicts come later and later, and messages that
  /// come again are kept for a while.
  tableq::handled run(const message_origin& from, const tableq::delivery& delivery,
                      const std::stop_token& stop);

  /// Sends it to the running commands, and to those that start later.
  void signal_all(int number) { children_.signal_all(number); }

  /// The most messages that are kept at a time.
  [[nodiscard]] static constexpr std::size_t most_kept() { return brake::most_aside; }

  /// The worker takes no more: verdicts come at once.
  void hurry() { brake_.open(); }

  /// The reason why no command can start, once it is known. Then no message can be handled.
  [[nodiscard]] std::optional<std::string> hopeless() const;

 private:
  tableq::handled handle(const message_origin& from, const tableq::delivery& delivery,
                         const std::stop_token& stop);
  tableq::handled run_once(std::size_t place, const message_origin& from,
                           const tableq::delivery& delivery, const std::stop_token& stop);
  tableq::handled ask(std::size_t place, const message_origin& from,
                      const tableq::delivery& delivery, const std::stop_token& stop);
  /// A lasting command at this place that waits for a message.
  line_handler& handler_at(std::size_t place, const message_origin& from);
  /// Ends the lasting command there.
  child_end retire(std::size_t place, std::chrono::milliseconds patience);

  tableq::handled answered(tableq::handled verdict, const std::stop_token& stop);
  void succeeded();
  // `written`: what the command has written to its standard error last.
  tableq::handled ended_with(const child_end& end, const std::string& written,
                             const std::stop_token& stop);
  tableq::handled failed_by(std::string why, const std::string& written,
                            const std::stop_token& stop);
  [[nodiscard]] tableq::handled failed(std::string why) const;
  tableq::handled not_started(const std::error_code& reason, const std::stop_token& stop);
  tableq::handled unable(const child_end& end, const std::string& written,
                         const std::stop_token& stop);
  void could_start();

  const command_settings settings_;
  brake brake_;

  mutable std::mutex mutex_;  // guards the next two
  std::optional<std::string> hopeless_;
  /// Ends in a row by which a command says that it cannot start its program. One at first, since
  /// nothing has shown yet that it can.
  std::size_t unable_ = 1;

  child_errors errors_;
  children children_;
  /// The pipes of lasting commands, by place; each is for the thread that has reserved it.
  std::vector<std::unique_ptr<line_handler>> handlers_;
};

}  // namespace tool
