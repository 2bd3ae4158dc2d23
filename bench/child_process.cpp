#include "child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <utility>

extern char** environ;

namespace bench {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

child_process::child_process(const json& order) {
  int in[2] = {-1, -1};
  int out[2] = {-1, -1};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::string program = "/proc/self/exe";
  std::string mark = child_argument;
  std::string text = order.dump();
  char* arguments[] = {program.data(), mark.data(), text.data(), nullptr};
  const int code = ::posix_spawn(&id_, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
  if (code != 0) throw std::runtime_error("cannot start another process");
}

child_process::child_process(child_process&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      buffer_(std::move(other.buffer_)) {}

child_process::~child_process() {
  if (input_ != -1) ::close(input_);
  if (output_ != -1) ::close(output_);
  if (id_ <= 0) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

json child_process::answer() {
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      json line = json::parse(buffer_.substr(0, end));
      buffer_.erase(0, end + 1);
      return line;
    }
    char bytes[4096];
    const ssize_t got = ::read(output_, bytes, sizeof bytes);
    if (got <= 0) throw std::runtime_error("another process of this program has ended early");
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
}

void child_process::go() const {
  if (::write(input_, "\n", 1) != 1) throw std::runtime_error("another process has ended early");
}

}  // namespace bench
