#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <tableq/handled.hpp>

#include "child.hpp"
#include "signals.hpp"

namespace tool {

/// The pipes of a command that handles one message after the other: it reads a JSON line for each
/// on its standard input, and writes a JSON line with its verdict to its standard output.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class line_handler {
 public:
  /// @throws std::system_error
  line_handler();

  /// The streams of the command, until `started`.
  /// @param err the standard error of the command.
  [[nodiscard]] child_streams streams(int err) const;
  void started();

  enum class ending { answered, closed, late, too_long };
  struct reply {
    ending how = ending::closed;
    std::string line = {};  ///< Of `answered`, without its newline.
  };
  /// Sends a line, and waits for the answer.
  /// @param end readable when the command has ended.
  /// @param within from now; empty: without end.
  reply ask(std::string line, int end, std::optional<std::chrono::milliseconds> within);

  /// Whether there is anything to read, though nothing was asked.
  [[nodiscard]] bool disturbed() const;
  /// The command reads the end of its input.
  void close_input() { input_ = descriptor(); }

 private:
  /// Reads what there is. @return how the answer ended, if it has.
  std::optional<ending> read_some();

  descriptor input_;
  descriptor output_;
  descriptor of_command_in_;   ///< The command's ends, until it is started.
  descriptor of_command_out_;  ///< As above.
  std::string unread_;
};

/// The verdict in an answer to the message with this receipt.
struct answer {
  std::optional<tableq::handled> verdict;  ///< Nothing: the answer is wrong.
  std::string wrong = {};                  ///< Why. It repeats nothing of the answer.
  bool last = false;                       ///< The command ends after it.
};
answer parse_answer(const std::string& line, const std::string& receipt);

}  // namespace tool
