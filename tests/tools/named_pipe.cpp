#include "tools/named_pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "support/text.hpp"

namespace tableq_test {

namespace {

constexpr int patience_ms = 60'000;

int make_and_open(const std::filesystem::path& path) {
  if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("no named pipe");
  // Both directions: no side waits for the other to open it, and it never ends.
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

}  // namespace

std::string line_reader::next() {
  std::size_t end = 0;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    pollfd ready{file_, POLLIN, 0};
    if (::poll(&ready, 1, patience_ms) != 1) throw std::runtime_error("nobody wrote a line");
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(file_, bytes.data(), bytes.size());
    if (got <= 0) throw std::runtime_error("it ended before it wrote the line");
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

std::string line_reader::next_with(const std::string& part) {
  for (;;) {
    std::string line = next();
    if (contains(line, part)) return line;
  }
}

named_pipe::named_pipe(std::filesystem::path path)
    : path_(std::move(path)), ends_(make_and_open(path_)), lines_(ends_.value()) {}

void named_pipe::write_line(const std::string& text) const {
  const std::string line = text + "\n";
  if (::write(ends_.value(), line.data(), line.size()) < 0) throw std::runtime_error("no reader");
}

}  // namespace tableq_test
