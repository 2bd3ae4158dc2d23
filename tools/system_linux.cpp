#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "system.hpp"

namespace tool {

namespace {

int checked(int result, const char* what) {
  if (result == -1) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

}  // namespace

pipe_ends open_pipe() {
  std::array<int, 2> ends{};
  checked(::pipe2(ends.data(), O_CLOEXEC), "pipe2");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

descriptor open_nameless_file() {
  return descriptor(checked(::memfd_create("message", MFD_CLOEXEC), "memfd_create"));
}

descriptor open_signals(const sigset_t& which) {
  return descriptor(checked(::signalfd(-1, &which, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
}

int take_signal(const descriptor& signals) {
  signalfd_siginfo info{};
  const ssize_t got = ::read(signals.value(), &info, sizeof info);
  return got == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

pipe_ends open_event() {
  return {descriptor(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")), descriptor()};
}

std::unique_lock<std::mutex> hold_pipes_back() {
  return {};
}

void die_with_parent() noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

}  // namespace tool
