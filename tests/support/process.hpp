#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tableq_test {

/// Another process. Its output goes to a file, a JSON value for each line. A kill loses no output,
/// and the process never waits for a reader.
///
/// Owns the process: one that still runs is killed by the destructor.
class process {
 public:
  /// @param command the program's path and its arguments.
  explicit process(std::vector<std::string> command);
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process();

  /// Closes its standard input, on which actors wait for their start or their end.
  void let_go();
  /// Writes a line to its standard input.
  void tell(std::string_view line);
  /// Waits until it has written that many lines; false when it ended before.
  [[nodiscard]] bool has_written(std::size_t lines);
  /// Whether it ends within that time.
  [[nodiscard]] bool ends_within(std::chrono::microseconds limit);
  void kill();
  /// @return the exit status, or 128 and the signal.
  int wait();
  /// Its output so far, only complete lines.
  [[nodiscard]] std::vector<nlohmann::json> lines() const;
  /// Its output since the last call of this function.
  [[nodiscard]] std::vector<nlohmann::json> news();

 private:
  [[nodiscard]] bool runs();
  [[nodiscard]] std::vector<nlohmann::json> lines_from(std::streamoff& place) const;

  std::string output_;
  std::streamoff read_ = 0;
  std::intptr_t input_ = -1;
  std::intptr_t watch_ = -1;  ///< Of Linux: a descriptor for the process.
  std::intptr_t id_ = -1;     ///< Of Windows: a handle.
  int status_ = -1;
};

}  // namespace tableq_test
