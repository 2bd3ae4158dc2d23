#include "concurrency/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "support/text.hpp"

extern char** environ;

namespace tableq_test {
namespace {

/// What posix_spawn does in the child before the program starts.
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

process::process(const nlohmann::json& order)
    : output_(
          (std::filesystem::temp_directory_path() / ("tableq-actor-" + unique_name())).string()) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  input_ = ends[1];
  file_actions actions;
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_.c_str(),
                                     O_CREAT | O_TRUNC | O_WRONLY, 0600);
  std::string program = TABLEQ_TEST_ACTOR;
  std::string text = order.dump();
  char* arguments[] = {program.data(), text.data(), nullptr};
  const int code = ::posix_spawn(&id_, program.c_str(), &actions, nullptr, arguments, environ);
  ::close(ends[0]);
  if (code != 0) throw std::runtime_error("cannot start " + program);
}

process::~process() {
  let_go();
  if (runs()) kill();
  wait();
  std::error_code ignored;  // A file that stays in a temporary directory harms nobody.
  std::filesystem::remove(output_, ignored);
}

void process::let_go() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

bool process::runs() {
  if (id_ < 0) return false;
  int status = 0;
  if (::waitpid(id_, &status, WNOHANG) == 0) return true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  id_ = -1;
  return false;
}

bool process::has_written(std::size_t count) {
  while (lines().size() < count) {
    if (!runs()) return lines().size() >= count;
    std::this_thread::yield();
  }
  return true;
}

void process::kill() {
  if (id_ > 0) ::kill(id_, SIGKILL);
}

int process::wait() {
  if (id_ > 0) {
    int status = 0;
    ::waitpid(id_, &status, 0);
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    id_ = -1;
  }
  return status_;
}

std::vector<nlohmann::json> process::lines() const {
  std::vector<nlohmann::json> out;
  std::ifstream file(output_);
  std::string line;
  while (std::getline(file, line) && !file.eof()) out.push_back(nlohmann::json::parse(line));
  return out;
}

}  // namespace tableq_test
