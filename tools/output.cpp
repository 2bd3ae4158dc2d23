#include "output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <system_error>

namespace tool {

namespace {

constexpr std::size_t buffered = 64UL * 1024;

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      throw output_error("cannot write to standard output: " +
                         std::generic_category().message(errno));
    }
  }
}

}  // namespace

void output::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffered) flush();
  if (bytes.size() > buffered) {
    write_all(bytes);
  } else {
    buffer_.append(bytes);
  }
}

void output::line(std::string_view bytes) {
  write(bytes);
  write("\n");
}

void output::flush() {
  const std::string pending = std::move(buffer_);
  buffer_.clear();
  write_all(pending);
}

void prepare_standard_streams() {
  // The wrong direction on purpose: using a closed stream stays an error.
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    const int mode = stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", mode) == -1) ::_exit(3);
  }
  std::signal(SIGPIPE, SIG_IGN);
  // Where a supervisor ignores it, no child can be waited for.
  std::signal(SIGCHLD, SIG_DFL);
}

void complain(std::string_view sentence) {
  const std::string line = "tableq: " + printable(sentence) + "\n";
  // Nothing is left to report a failure to.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string sentence_of(const tableq::error& failure) {
  std::string out = failure.what();
  if (failure.code() != tableq::errc::internal) return out;
  std::string numbers;
  if (!failure.sqlstate().empty()) numbers = "SQLSTATE " + failure.sqlstate();
  if (failure.native() != 0) {
    numbers += (numbers.empty() ? "" : ", ") + ("number " + std::to_string(failure.native()));
  }
  return numbers.empty() ? out : out + " (" + numbers + ")";
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto byte = static_cast<unsigned char>(result[i]);
    if (byte < 0x20 || byte == 0x7f) result[i] = ' ';
    // U+0080 to U+009F, which some terminals obey.
    if (byte == 0xc2 && i + 1 < result.size() && static_cast<unsigned char>(result[i + 1]) < 0xa0) {
      result[i] = result[i + 1] = ' ';
    }
  }
  return result;
}

}  // namespace tool
