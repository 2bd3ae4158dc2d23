#include "input.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "exit_status.hpp"

namespace tool {

namespace {

constexpr std::size_t chunk = 64UL * 1024;
constexpr std::size_t batch_bytes = 8UL * 1024 * 1024;
/// Beyond any database's limit for a payload.
constexpr std::size_t longest_line = 1024UL * 1024 * 1024;
constexpr std::chrono::milliseconds linger{100};

/// Appends the bytes of one read.
/// @return false at the end.
bool append_some(std::string& buffer) {
  std::array<char, chunk> bytes;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got >= 0) {
      buffer.append(bytes.data(), static_cast<std::size_t>(got));
      return got > 0;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{STDIN_FILENO, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      throw refused_error("cannot read standard input: " + std::generic_category().message(errno));
    }
  }
}

bool readable_before(std::chrono::steady_clock::time_point until) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(std::max<long>(0, left.count()))) != 0;
}

}  // namespace

std::string read_standard_input() {
  std::string bytes;
  while (append_some(bytes)) {
  }
  return bytes;
}

std::vector<std::string> line_batches::next() {
  std::vector<std::string> batch;
  bytes_ = 0;
  auto until = std::chrono::steady_clock::now() + linger;
  while (!collect(batch)) {
    if (ended_) {
      if (begin_ < buffer_.size()) batch.push_back(buffer_.substr(begin_));
      begin_ = scanned_ = buffer_.size();
      break;
    }
    if (!read_more(until, batch.empty())) break;
    if (batch.empty()) until = std::chrono::steady_clock::now() + linger;
  }
  return batch;
}

bool line_batches::collect(std::vector<std::string>& batch) {
  while (batch.size() < most_ && bytes_ < batch_bytes) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) {
      scanned_ = buffer_.size();
      return false;
    }
    batch.push_back(buffer_.substr(begin_, newline - begin_));
    bytes_ += newline - begin_;
    begin_ = scanned_ = newline + 1;
  }
  return true;
}

bool line_batches::read_more(std::chrono::steady_clock::time_point until, bool forever) {
  if (!forever && !readable_before(until)) return false;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  if (buffer_.size() > longest_line) throw refused_error("a line is longer than 1 GiB");
  ended_ = !append_some(buffer_);
  return true;
}

}  // namespace tool
