#include "input.hpp"

#include "exit_status.hpp"
#include "streams.hpp"

namespace tool {

namespace {

constexpr std::size_t batch_bytes = 8UL * 1024 * 1024;
/// Beyond any database's limit for a payload.
constexpr std::size_t longest_line = 1024UL * 1024 * 1024;
constexpr std::chrono::milliseconds linger{100};

}  // namespace

std::string read_standard_input() {
  std::string bytes;
  while (append_input(bytes)) {
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
  if (!forever && !input_readable_before(until)) return false;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  if (buffer_.size() > longest_line) throw refused_error("a line is longer than 1 GiB");
  ended_ = !append_input(buffer_);
  return true;
}

}  // namespace tool
