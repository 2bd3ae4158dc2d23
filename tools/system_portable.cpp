#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "system.hpp"

namespace tool {

namespace {

int checked(int result, const char* what) {
  if (result == -1) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// From the opening of a pipe until its ends are closed in commands.
std::mutex& births() {
  static std::mutex one;
  return one;
}

void never_block(const descriptor& end) {
  checked(::fcntl(end.value(), F_SETFL, O_NONBLOCK), "fcntl");
}

/// Passes signals on until nobody reads them any more.
void pass_on(const sigset_t& which, const descriptor& into) {
  for (;;) {
    int signal = 0;
    if (sigwait(&which, &signal) != 0) continue;
    const auto byte = static_cast<unsigned char>(signal);
    if (::write(into.value(), &byte, 1) == -1 && errno == EPIPE) return;
  }
}

}  // namespace

pipe_ends open_pipe() {
  const std::scoped_lock hold(births());
  std::array<int, 2> ends{};
  checked(::pipe(ends.data()), "pipe");
  pipe_ends out{descriptor(ends[0]), descriptor(ends[1])};
  for (const int each : ends) checked(::fcntl(each, F_SETFD, FD_CLOEXEC), "fcntl");
  return out;
}

descriptor open_nameless_file() {
  std::string name = (std::filesystem::temp_directory_path() / "tableq.XXXXXX").string();
  const std::scoped_lock hold(births());
  descriptor file(checked(::mkstemp(name.data()), "mkstemp"));
  ::unlink(name.c_str());
  checked(::fcntl(file.value(), F_SETFD, FD_CLOEXEC), "fcntl");
  return file;
}

descriptor open_signals(const sigset_t& which) {
  pipe_ends ends = open_pipe();
  never_block(ends.reader);
  // Its thread ends with the process, or with the first signal that has no reader.
  std::thread([which, into = std::move(ends.writer)] { pass_on(which, into); }).detach();
  return std::move(ends.reader);
}

int take_signal(const descriptor& signals) {
  unsigned char signal = 0;
  return ::read(signals.value(), &signal, 1) == 1 ? signal : 0;
}

pipe_ends open_event() {
  pipe_ends ends = open_pipe();
  never_block(ends.reader);
  never_block(ends.writer);
  return ends;
}

std::unique_lock<std::mutex> hold_pipes_back() {
  return std::unique_lock(births());
}

// The guard kills it, unless it was killed itself.
void die_with_parent() noexcept {}

}  // namespace tool
