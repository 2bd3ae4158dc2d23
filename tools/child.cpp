#include "child.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include <tableq/trace_context.hpp>

#include "system.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): only some systems declare it

namespace tool {

namespace {

void check(int code, const char* what) {
  if (code != 0) throw std::system_error(code, std::generic_category(), what);
}

/// The needs of a new process until it is the command.
struct start_of_child {
  const char* path;
  char* const* arguments;
  char* const* environment;
  child_streams streams;
  pid_t parent;
  guard::place* group;
  /// The reason, set by the child: to the compiler, what it does is never followed by the parent.
  volatile int failed = 0;
};

/// The child's life until then. It shares all memory with its parent, whose thread waits: it calls
/// what a signal handler may call, and nothing that would have to be undone.
[[noreturn]] void become(start_of_child& start) noexcept {
  ::setpgid(0, 0);
  start.group->store(::getpid());
  // The guard ends what the command has started, too. This ends the command at once, even if the
  // guard was killed as well.
  die_with_parent();
  if (::getppid() != start.parent) ::_exit(1);  // It died before that.
  ::dup2(start.streams.in, STDIN_FILENO);
  if (start.streams.out != STDOUT_FILENO) ::dup2(start.streams.out, STDOUT_FILENO);
  if (start.streams.err != STDERR_FILENO) ::dup2(start.streams.err, STDERR_FILENO);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(start.path, start.arguments, start.environment);
  start.failed = errno;
  ::_exit(127);
}

/// Returns when the child has become the command, or has failed. Unlike fork it copies no page
/// tables, which a worker with large messages would wait for, and unlike posix_spawn it can tell
/// the kernel that the child dies with its parent.
pid_t start_process(start_of_child& start) {
  // NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): see above
  const pid_t child = ::vfork();
  if (child == 0) become(start);  // NOLINT(clang-analyzer-unix.Vfork): it calls no more than that
  return child;
}

/// execve takes pointers to non-const characters, but does not change them.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Variables that a command gets only from its own worker.
bool of_a_worker(std::string_view variable) {
  return variable.starts_with("TABLEQ_DB=") || variable.starts_with("TABLEQ_DB_") ||
         variable.starts_with("TABLEQ_HEADER_") || variable.starts_with("TABLEQ_MESSAGE_ID=") ||
         variable.starts_with("TABLEQ_ATTEMPT=") || variable.starts_with("TABLEQ_QUEUE=") ||
         variable.starts_with("TABLEQ_DATABASE=") || variable.starts_with("TRACEPARENT=") ||
         variable.starts_with("TRACESTATE=");
}

std::error_code runnable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == -1) return {errno, std::generic_category()};
  if (S_ISDIR(status.st_mode)) return std::make_error_code(std::errc::is_a_directory);
  if (::access(path.c_str(), X_OK) == -1) return {errno, std::generic_category()};
  return {};
}

}  // namespace

std::string describe(const child_end& end) {
  if (end.signal == 0) return "exit status " + std::to_string(end.exit_code);
  return "signal " + std::to_string(end.signal) + " (" + ::strsignal(end.signal) + ")";
}

std::string variable_for(std::string begin, std::string_view name) {
  for (const char c : name) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    begin += lower ? static_cast<char>(c - 'a' + 'A') : plain ? c : '_';
  }
  return begin;
}

std::vector<std::string> environment(const std::optional<std::string>& db) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!of_a_worker(*variable)) result.emplace_back(*variable);
  }
  if (db) result.push_back("TABLEQ_DB=" + *db);
  return result;
}

std::vector<std::string> environment_for(const message_origin& from,
                                         const tableq::delivery& delivery) {
  std::vector<std::string> result = environment(from.db);
  result.push_back("TABLEQ_MESSAGE_ID=" + std::to_string(delivery.receipt.id.value));
  result.push_back("TABLEQ_ATTEMPT=" + std::to_string(delivery.attempt));
  result.push_back("TABLEQ_QUEUE=" + from.queue);
  result.push_back("TABLEQ_DATABASE=" + from.database);
  if (const auto trace = tableq::trace_of(delivery.headers)) {
    result.push_back("TRACEPARENT=" + trace->traceparent);
    if (!trace->tracestate.empty()) result.push_back("TRACESTATE=" + trace->tracestate);
  }
  // Two headers may have the same variable; the last one wins.
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : delivery.headers)
    variables[variable_for("TABLEQ_HEADER_", name)] = value;
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

descriptor file_of(std::string_view bytes) {
  descriptor file = open_nameless_file();
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.value(), bytes.data(), bytes.size());
    if (written == -1 && errno != EINTR) check(errno, "write");
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  ::lseek(file.value(), 0, SEEK_SET);
  return file;
}

void start_child(const std::vector<std::string>& command,
                 const std::vector<std::string>& environment, const child_streams& streams,
                 guard::place& group) {
  const std::string path = find_command(command.front());
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  start_of_child start{.path = path.c_str(),
                       .arguments = arguments.data(),
                       .environment = variables.data(),
                       .streams = streams,
                       .parent = ::getpid(),
                       .group = &group};
  const auto hold = hold_pipes_back();
  const pid_t child = start_process(start);
  if (child == -1) check(errno, "vfork");
  check(start.failed, "execve");
}

pid_t await_any_child() {
  siginfo_t info{};
  while (::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == -1) {
    if (errno != EINTR) return 0;
  }
  return info.si_pid;
}

std::optional<child_end> reap_child(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, WNOHANG) != child) return {};
  if (WIFSIGNALED(status)) return child_end{.signal = WTERMSIG(status)};
  return child_end{.exit_code = WEXITSTATUS(status)};
}

void signal_group(pid_t group, int signal) {
  ::kill(-group, signal);
}

std::string find_command(const std::string& name) {
  std::error_code reason = std::make_error_code(std::errc::no_such_file_or_directory);
  if (name.find('/') != std::string::npos) {
    reason = runnable(name);
    if (!reason) return name;
  } else if (!name.empty()) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
      std::string found = (folder.empty() ? "." : folder) + "/" + name;
      const std::error_code failed = runnable(found);
      if (!failed) return found;
      if (failed == std::errc::permission_denied) reason = failed;
    }
  }
  throw std::system_error(reason, "find");
}

}  // namespace tool
