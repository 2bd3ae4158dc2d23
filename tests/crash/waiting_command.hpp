#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/process.hpp"

namespace tableq_test {

/// The command `tableq` while it waits for messages, which are numbers and which it prints. One
/// that has ended is started again, as a script would do it.
///
/// @par Thread safety
/// Shared objects: unsafe.
class waiting_command {
 public:
  /// @param words its arguments, of which the first one is its name here.
  waiting_command(const std::string& url, std::vector<std::string> words)
      : words_(std::move(words)) {
    // Before a `--`, after which the command's own command begins.
    words_.insert(words_.begin() + 2, {"--db", url});
    start();
  }

  [[nodiscard]] const std::string& name() const { return words_.front(); }
  /// Whether it has printed the number. Takes a millisecond at least if it has not.
  [[nodiscard]] bool has_printed(int number) {
    read();
    if (printed_.contains(number)) return true;
    if (running_->ends_within(std::chrono::milliseconds{1})) {
      read();
      start();
      ++restarts_;
    }
    return false;
  }
  /// How often it ended by itself.
  [[nodiscard]] int restarts() const { return restarts_; }

 private:
  void start() {
    std::vector<std::string> all{TABLEQ_COMMAND};
    all.insert(all.end(), words_.begin(), words_.end());
    running_ = std::make_unique<process>(std::move(all));
  }
  void read() {
    for (const auto& each : running_->news()) printed_.insert(each.get<int>());
  }

  std::vector<std::string> words_;
  std::unique_ptr<process> running_;
  std::set<int> printed_;
  int restarts_ = 0;
};

}  // namespace tableq_test
