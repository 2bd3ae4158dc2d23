#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/message.hpp>

#include "guard.hpp"

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

  /// As on the command line: `jobs`, `mails:jobs`.
  [[nodiscard]] std::string shown() const {
    return database.empty() ? queue : database + ":" + queue;
  }
};

/// The variable of that name: in upper case, with _ for other characters than letters and digits.
std::string variable_for(std::string begin, std::string_view name);

/// The environment of this process, without the variables of an outer worker, and without TABLEQ_DB
/// and TABLEQ_DB_<NAME>, which may hold passwords.
/// @param db the value of TABLEQ_DB; nothing: none.
std::vector<std::string> environment(const std::optional<std::string>& db);

/// The same, and the message's variables: TABLEQ_MESSAGE_ID, TABLEQ_ATTEMPT, TABLEQ_QUEUE,
/// TABLEQ_DATABASE, TABLEQ_HEADER_<NAME>, and TRACEPARENT and TRACESTATE if it has a trace.
std::vector<std::string> environment_for(const message_origin& from,
                                         const tableq::delivery& delivery);

/// A file in memory, or on systems without that a nameless one on the disk, at its begin.
/// @throws std::system_error with the code of the failure.
descriptor file_of(std::string_view bytes);

/// The standard streams of a command, borrowed until it is started.
struct child_streams {
  int in;
  int out = STDOUT_FILENO;
  int err = STDERR_FILENO;
};

/// Starts a command as the leader of its own process group, so that a Ctrl-C on the terminal does
/// not reach it. It is killed when the calling thread ends, which therefore waits for it.
/// @param group gets its id before anything of the command runs.
/// @throws std::system_error with the code of the failure. If `group` is set, there is a child to
///   reap all the same.
void start_child(const std::vector<std::string>& command,
                 const std::vector<std::string>& environment, const child_streams& streams,
                 guard::place& group);

/// Waits until any child of this process has ended. It stays a zombie, so that its id is not used
/// again. @return 0 if there is no child.
pid_t await_any_child();
/// @return nothing if it has not ended, or was reaped before.
std::optional<child_end> reap_child(pid_t child);

/// Sends it to the command and to all processes of its group.
void signal_group(pid_t group, int signal);

/// The path of a command that can be run.
/// @throws std::system_error with the reason why there is none.
std::string find_command(const std::string& name);

}  // namespace tool
