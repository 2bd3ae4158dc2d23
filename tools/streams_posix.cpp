#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "exit_status.hpp"
#include "streams.hpp"

namespace tool {

namespace {

constexpr std::size_t chunk = 64UL * 1024;

std::string last_reason() {
  return std::generic_category().message(errno);
}

/// After a read or a write that failed: whether it can be repeated, at once or after this wait.
bool can_repeat(int descriptor, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd ready{descriptor, event, 0};
  ::poll(&ready, 1, -1);
  return true;
}

}  // namespace

void prepare_standard_streams() {
  // The wrong direction on purpose: using a closed stream stays an error.
  for (int each = STDIN_FILENO; each <= STDERR_FILENO; ++each) {
    if (::fcntl(each, F_GETFD) != -1) continue;
    const int mode = each == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", mode) == -1) ::_exit(3);
  }
  std::signal(SIGPIPE, SIG_IGN);
  // Where a supervisor ignores it, no child can be waited for.
  std::signal(SIGCHLD, SIG_DFL);
}

bool is_terminal(stream which) noexcept {
  return ::isatty(static_cast<int>(which)) == 1;
}

bool append_input(std::string& buffer) {
  std::array<char, chunk> bytes;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got >= 0) {
      buffer.append(bytes.data(), static_cast<std::size_t>(got));
      return got > 0;
    }
    if (!can_repeat(STDIN_FILENO, POLLIN)) {
      throw refused_error("cannot read standard input: " + last_reason());
    }
  }
}

bool input_readable_before(std::chrono::steady_clock::time_point until) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(std::max<long>(0, left.count()))) != 0;
}

std::string write_output(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (!can_repeat(STDOUT_FILENO, POLLOUT)) {
      return last_reason();
    }
  }
  return {};
}

void write_error(std::string_view bytes) noexcept {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, bytes.data(), bytes.size());
}

std::vector<std::string> arguments_of(int argc, char** argv) {
  return {argv + 1, argv + argc};
}

}  // namespace tool
