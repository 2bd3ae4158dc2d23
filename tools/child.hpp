#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <tableq/message.hpp>

namespace tool {

/// The end of a command.
struct child_end {
  int exit_code = 0;  ///< Of a normal end.
  int signal = 0;     ///< The signal that killed it; zero for a normal end.

  [[nodiscard]] bool success() const noexcept { return exit_code == 0 && signal == 0; }
};

/// `exit status 3`, `signal 9 (Killed)`.
std::string describe(const child_end& end);

/// Where a message comes from.
struct message_origin {
  std::string queue;
  std::string database;           ///< The NAME of --also-db; empty: the first database.
  std::optional<std::string> db;  ///< The value of TABLEQ_DB; nothing: it is removed.
};

/// The environment of this process and the message's variables: TABLEQ_MESSAGE_ID, TABLEQ_ATTEMPT,
/// TABLEQ_QUEUE, TABLEQ_DATABASE, TABLEQ_HEADER_<NAME>. Without the variables of an outer worker,
/// and without TABLEQ_DB and TABLEQ_DB_<NAME>, which may hold passwords.
std::vector<std::string> environment_for(const message_origin& from,
                                         const tableq::delivery& delivery);

/// Starts a command as the leader of its own process group, so that a Ctrl-C on the terminal does
/// not reach it. The payload is its standard input, as a file in memory: a command may read it,
/// seek in it, or ignore it.
/// @throws std::system_error with the code of the failure.
pid_t start_child(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, std::string_view payload);

/// Waits for the end. Until `reap` the process stays a zombie, so that its id is not used again.
void await_child(pid_t child);
child_end reap_child(pid_t child);

/// Sends it to the command and to all processes of its group.
void signal_child(pid_t child, int signal);

/// Whether the command can be found and run; otherwise the code has the reason.
std::error_code find_command(const std::string& name);

}  // namespace tool
