#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "signals.hpp"
#include "system.hpp"

namespace tool {

namespace {

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

descriptor blocked_signals() {
  const sigset_t set = ends_work();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return open_signals(set);
}

}  // namespace

descriptor::~descriptor() {
  if (value_ != -1) ::close(value_);
}

signal_queue::signal_queue() : readable_(blocked_signals()) {}

int signal_queue::take() const {
  return take_signal(readable_);
}

int signal_queue::take_within(std::chrono::milliseconds longest) const {
  pollfd readable{handle(), POLLIN, 0};
  ::poll(&readable, 1, static_cast<int>(longest.count()));
  return take();
}

completion::completion() {
  pipe_ends event = open_event();
  readable_ = std::move(event.reader);
  writable_ = std::move(event.writer);
}

void completion::set() const {
  const std::uint64_t one = 1;
  const descriptor& into = writable_.value() != -1 ? writable_ : readable_;
  // Fails only when the event is full; then it is readable anyway.
  [[maybe_unused]] const ssize_t ignored = ::write(into.value(), &one, sizeof one);
}

void completion::clear() const {
  std::uint64_t count = 0;
  while (::read(readable_.value(), &count, sizeof count) > 0) {
  }
}

}  // namespace tool
