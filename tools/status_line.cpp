#include "status_line.hpp"

#include <array>
#include <cstdio>

#include "output.hpp"
#include "streams.hpp"

namespace tool {

namespace {

double in_seconds(std::chrono::steady_clock::duration elapsed) {
  return std::chrono::duration<double>(elapsed).count();
}

std::string decimal(double value, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f%s", value, unit);
  return text.data();
}

}  // namespace

status_line::status_line() : shown_(is_terminal(stream::error)) {}

status_line::~status_line() {
  clear();
}

void status_line::show(const std::string& text) {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds{200};
  write_error("\r\033[K" + text);
  written_ = true;
}

void status_line::clear() {
  const std::lock_guard lock(mutex_);
  erase();
}

void status_line::note(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  erase();
  complain(sentence);
}

void status_line::trouble(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (sentence == last_trouble_ && now < last_trouble_at_ + std::chrono::seconds{5}) return;
  last_trouble_ = sentence;
  last_trouble_at_ = now;
  erase();
  complain(sentence);
}

void status_line::erase() {
  if (written_) write_error("\r\033[K");
  written_ = false;
}

std::string rate(std::size_t count, std::chrono::steady_clock::duration elapsed) {
  const double time = in_seconds(elapsed);
  return decimal(time > 0 ? static_cast<double>(count) / time : 0.0, "/s");
}

std::string seconds(std::chrono::steady_clock::duration elapsed) {
  return decimal(in_seconds(elapsed), " s");
}

}  // namespace tool
