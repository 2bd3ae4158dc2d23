#include "signals.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

namespace tool {

namespace {

int checked(int result, const char* what) {
  if (result == -1) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

sigset_t ends_work() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  return set;
}

int open_signals() {
  const sigset_t set = ends_work();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return checked(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
}

}  // namespace

descriptor::~descriptor() {
  if (value_ != -1) ::close(value_);
}

signal_queue::signal_queue() : readable_(open_signals()) {}

int signal_queue::take() const {
  signalfd_siginfo info{};
  const ssize_t got = ::read(readable_.value(), &info, sizeof info);
  return got == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

int signal_queue::take_within(std::chrono::milliseconds longest) const {
  pollfd readable{handle(), POLLIN, 0};
  ::poll(&readable, 1, static_cast<int>(longest.count()));
  return take();
}

completion::completion() : readable_(checked(::eventfd(0, EFD_CLOEXEC), "eventfd")) {}

void completion::set() const {
  const std::uint64_t one = 1;
  // Fails only when the counter is full; then it is readable anyway.
  [[maybe_unused]] const ssize_t ignored = ::write(readable_.value(), &one, sizeof one);
}

void completion::clear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = ::read(readable_.value(), &count, sizeof count);
}

}  // namespace tool
