#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace tool {

/// Standard error of a long job: one line that is rewritten, on a terminal only, and sentences that
/// scroll above it.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class status_line {
 public:
  status_line();
  /// Removes the rewritten line.
  ~status_line();
  status_line(const status_line&) = delete;
  status_line& operator=(const status_line&) = delete;

  /// Standard error is a terminal.
  [[nodiscard]] bool shown() const { return shown_; }

  /// Replaces the line. Does nothing if it is not shown, or within 200 ms after the last time.
  void show(const std::string& text);

  /// Removes the line.
  void clear();

  /// One sentence, as `complain` prints it.
  void note(const std::string& sentence);

  /// A note equal to the last one is dropped for five seconds: many threads may have the same
  /// error.
  void trouble(const std::string& sentence);

 private:
  void erase();

  const bool shown_;
  std::mutex mutex_;  // guards all below
  bool written_ = false;
  std::chrono::steady_clock::time_point next_{};
  std::string last_trouble_;
  std::chrono::steady_clock::time_point last_trouble_at_{};
};

/// `1234.5/s`.
std::string rate(std::size_t count, std::chrono::steady_clock::duration elapsed);

/// `12.3 s`.
std::string seconds(std::chrono::steady_clock::duration elapsed);

}  // namespace tool
