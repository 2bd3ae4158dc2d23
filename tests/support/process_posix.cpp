#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "support/text.hpp"

extern char** environ;

namespace tableq_test {
namespace {

/// The actions of posix_spawn in the child before the program starts.
class file_actions {
 public:
  file_actions() { ::posix_spawn_file_actions_init(&all_); }
  file_actions(const file_actions&) = delete;
  file_actions& operator=(const file_actions&) = delete;
  ~file_actions() { ::posix_spawn_file_actions_destroy(&all_); }
  ::posix_spawn_file_actions_t* operator&() { return &all_; }

 private:
  ::posix_spawn_file_actions_t all_{};
};

}  // namespace

process::process(std::vector<std::string> command)
    : output_(
          (std::filesystem::temp_directory_path() / ("tableq-actor-" + unique_name())).string()) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  input_ = ends[1];
  file_actions actions;
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_.c_str(),
                                     O_CREAT | O_TRUNC | O_WRONLY, 0600);
  // Sockets of the tests' own proxies: a link with two owners is not cut when one closes it.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  std::vector<char*> arguments;
  for (std::string& each : command) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  ::pid_t id = -1;
  const int code =
      ::posix_spawn(&id, arguments.front(), &actions, nullptr, arguments.data(), environ);
  ::close(ends[0]);
  if (code != 0) throw std::runtime_error("cannot start " + command.front());
  id_ = id;
  // A descriptor for the process, which allows a wait with a limit.
  watch_ = ::syscall(SYS_pidfd_open, id, 0);
}

process::~process() {
  let_go();
  if (runs()) kill();
  wait();
  if (watch_ >= 0) ::close(static_cast<int>(watch_));
  std::error_code ignored;  // A file left in a temporary directory does no harm.
  std::filesystem::remove(output_, ignored);
}

void process::let_go() {
  if (input_ >= 0) ::close(static_cast<int>(input_));
  input_ = -1;
}

void process::tell(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  if (::write(static_cast<int>(input_), text.data(), text.size()) !=
      static_cast<::ssize_t>(text.size())) {
    throw std::runtime_error("the process reads no more");
  }
}

bool process::ends_within(std::chrono::microseconds limit) {
  if (id_ < 0) return true;
  pollfd ended{.fd = static_cast<int>(watch_), .events = POLLIN, .revents = 0};
  const timespec most{.tv_sec = limit.count() / 1'000'000,
                      .tv_nsec = limit.count() % 1'000'000 * 1'000};
  return ::ppoll(&ended, 1, &most, nullptr) > 0;
}

bool process::runs() {
  if (id_ < 0) return false;
  int status = 0;
  if (::waitpid(static_cast<::pid_t>(id_), &status, WNOHANG) == 0) return true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  id_ = -1;
  return false;
}

void process::kill() {
  if (id_ > 0) ::kill(static_cast<::pid_t>(id_), SIGKILL);
}

int process::wait() {
  if (id_ > 0) {
    int status = 0;
    ::waitpid(static_cast<::pid_t>(id_), &status, 0);
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    id_ = -1;
  }
  return status_;
}

}  // namespace tableq_test
