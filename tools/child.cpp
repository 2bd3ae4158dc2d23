#include "child.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>

#include "signals.hpp"

namespace tool {

namespace {

void check(int code, const char* what) {
  if (code != 0) throw std::system_error(code, std::generic_category(), what);
}

descriptor file_of(std::string_view bytes) {
  descriptor file(::memfd_create("message", MFD_CLOEXEC));
  if (file.value() == -1) check(errno, "memfd_create");
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.value(), bytes.data(), bytes.size());
    if (written == -1 && errno != EINTR) check(errno, "write");
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  ::lseek(file.value(), 0, SEEK_SET);
  return file;
}

/// The attributes and file actions of a start, released with this object.
class spawn_plan {
 public:
  explicit spawn_plan(int standard_input) {
    check(posix_spawn_file_actions_init(&actions_), "spawn");
    check(posix_spawn_file_actions_adddup2(&actions_, standard_input, STDIN_FILENO), "spawn");
    check(posix_spawnattr_init(&attributes_), "spawn");
    sigset_t none;
    sigemptyset(&none);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~spawn_plan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;

  posix_spawn_file_actions_t* actions() { return &actions_; }
  posix_spawnattr_t* attributes() { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// posix_spawn takes pointers to non-const characters, but does not change them.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

std::string variable_for(std::string_view header) {
  std::string name = "TABLEQ_HEADER_";
  for (const char c : header) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += lower ? static_cast<char>(c - 'a' + 'A') : plain ? c : '_';
  }
  return name;
}

/// Variables that a command gets only from its own worker.
bool of_a_worker(std::string_view variable) {
  return variable.starts_with("TABLEQ_DB=") || variable.starts_with("TABLEQ_DB_") ||
         variable.starts_with("TABLEQ_HEADER_") || variable.starts_with("TABLEQ_MESSAGE_ID=") ||
         variable.starts_with("TABLEQ_ATTEMPT=") || variable.starts_with("TABLEQ_QUEUE=") ||
         variable.starts_with("TABLEQ_DATABASE=");
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

std::vector<std::string> environment_for(const message_origin& from,
                                         const tableq::delivery& delivery) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!of_a_worker(*variable)) result.emplace_back(*variable);
  }
  if (from.db) result.push_back("TABLEQ_DB=" + *from.db);
  result.push_back("TABLEQ_MESSAGE_ID=" + std::to_string(delivery.receipt.id.value));
  result.push_back("TABLEQ_ATTEMPT=" + std::to_string(delivery.attempt));
  result.push_back("TABLEQ_QUEUE=" + from.queue);
  result.push_back("TABLEQ_DATABASE=" + from.database);
  // Two headers may have the same variable; the last one wins.
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : delivery.headers) variables[variable_for(name)] = value;
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

pid_t start_child(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, std::string_view payload) {
  const descriptor standard_input = file_of(payload);
  spawn_plan plan(standard_input.value());
  pid_t child = 0;
  check(posix_spawnp(&child, command.front().c_str(), plan.actions(), plan.attributes(),
                     pointers(command).data(), pointers(environment).data()),
        "spawn");
  return child;
}

void await_child(pid_t child) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == -1 &&
         errno == EINTR) {
  }
}

child_end reap_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status)};
}

void signal_child(pid_t child, int signal) {
  ::kill(-child, signal);
}

std::error_code find_command(const std::string& name) {
  if (name.empty()) return std::make_error_code(std::errc::no_such_file_or_directory);
  if (name.find('/') != std::string::npos) return runnable(name);
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  std::error_code reason = std::make_error_code(std::errc::no_such_file_or_directory);
  for (;;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    const std::error_code failed = runnable((folder.empty() ? "." : folder) + "/" + name);
    if (!failed) return {};
    if (failed == std::errc::permission_denied) reason = failed;
    if (end == rest.size()) return reason;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace tool
