#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tableq_test {

/// Another process that works on the same place: the program tableq_actor with one order. It does
/// what the order says, and writes a line for each message to a file of its own.
///
/// Owns the process: one that still runs is killed by the destructor.
class process {
 public:
  explicit process(const nlohmann::json& order);
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process();

  /// Closes its standard input, on which actors wait for their start or their end.
  void let_go();
  /// Until it has written that many lines; false when it ended before.
  [[nodiscard]] bool has_written(std::size_t lines);
  void kill();
  /// @return the exit status, or 128 and the signal.
  int wait();
  /// What it has written, whole lines only. Each is a JSON value.
  [[nodiscard]] std::vector<nlohmann::json> lines() const;

 private:
  [[nodiscard]] bool runs();

  std::string output_;
  int input_ = -1;
  ::pid_t id_ = -1;
  int status_ = -1;
};

}  // namespace tableq_test
