#include "support/forked.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#if defined(__SANITIZE_ADDRESS__)
namespace {
const ::pid_t first_process = ::getpid();
}  // namespace

/// Asked by the leak sanitizer at the end of a process. In a child it counts as lost whatever the
/// threads of the parent alone reach, and it may wait without end for these threads.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name
extern "C" int __lsan_is_turned_off() {
  return static_cast<int>(::getpid() != first_process);
}
#endif

namespace tableq_test {
namespace {

bool readable_within(int descriptor, std::chrono::milliseconds longest) {
  pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, static_cast<int>(longest.count())) > 0;
}

::pid_t begin(const std::function<int()>& run) {
  std::fflush(nullptr);
  const ::pid_t id = ::fork();
  if (id < 0) throw std::runtime_error("cannot fork");
  if (id > 0) return id;
  constexpr int threw = 99;
  int status = threw;
  try {
    status = run();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "in the child: %s\n", failure.what());
  }
  std::exit(status);
}

/// A mutex that is locked forever shows as a futex, a server that does not answer as a poll.
void tell_what_it_waits_for(::pid_t id) {
  for (const char* const file : {"wchan", "syscall", "stat"}) {
    std::ifstream in("/proc/" + std::to_string(id) + '/' + file);
    std::string line;
    std::getline(in, line);
    std::cerr << "[ child    ] " << id << ' ' << file << ": " << line << '\n';
  }
}

}  // namespace

forked::forked(const std::function<int()>& run) : forked(begin(run)) {}

forked::forked(::pid_t id) : id_(id), watch_(static_cast<int>(::syscall(SYS_pidfd_open, id_, 0))) {}

forked::~forked() {
  kill();
  if (id_ > 0) ::waitpid(id_, nullptr, 0);
  ::close(watch_);
}

int forked::wait(std::chrono::seconds longest) {
  if (id_ < 0) return -1;
  if (!readable_within(watch_, longest)) {
    tell_what_it_waits_for(id_);
    return -1;
  }
  int status = 0;
  ::waitpid(id_, &status, 0);
  id_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void forked::kill() {
  if (id_ > 0) ::kill(id_, SIGKILL);
}

bool children_may_have_threads() {
#if defined(__SANITIZE_THREAD__)
  return false;
#else
  return true;
#endif
}

baton::baton() {
  if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
}

baton::~baton() {
  for (const int end : ends_) ::close(end);
}

void baton::pass() const {
  if (::write(ends_[1], "", 1) != 1) throw std::runtime_error("the pipe is full");
}

bool baton::take(std::chrono::seconds longest) const {
  char taken = 0;
  return readable_within(ends_[0], longest) && ::read(ends_[0], &taken, 1) == 1;
}

}  // namespace tableq_test
