#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <tableq/message.hpp>

namespace tool {

/// How a command ended.
struct child_end {
  int exit_code = 0;  ///< Of a normal end.
  int signal = 0;     ///< What killed it; zero for a normal end.

  [[nodiscard]] bool success() const noexcept { return exit_code == 0 && signal == 0; }
};

/// `exit status 3`, `signal 9 (Killed)`.
std::string describe(const child_end& end);

/// The environment of this process, without what an outer worker has put there and without
/// TABLEQ_DB, which may hold a password, and the message's variables: TABLEQ_MESSAGE_ID,
/// TABLEQ_ATTEMPT, TABLEQ_QUEUE, TABLEQ_HEADER_<NAME>.
/// @param db what TABLEQ_DB is to be; nothing: it is not to be there.
std::vector<std::string> environment_for(const std::string& queue, const tableq::delivery& delivery,
                                         const std::optional<std::string>& db);

/// Starts a command as the leader of a process group of its own, so that a Ctrl-C on the terminal
/// does not reach it, with the payload as its standard input. That is a file in memory: a command
/// may read it, seek in it, or leave it.
/// @throws std::system_error with the code of what failed.
pid_t start_child(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, std::string_view payload);

/// Waits for the end. The process stays a zombie, so that its id is not given away, until `reap`.
void await_child(pid_t child);
child_end reap_child(pid_t child);

/// To the command and all that it has started in its process group.
void signal_child(pid_t child, int signal);

/// Whether the command can be found and run; otherwise the reason is in the code.
std::error_code find_command(const std::string& name);

}  // namespace tool
