#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tool {

/// All bytes of standard input. @throws refused_error when it cannot be read.
std::string read_standard_input();

/// The lines of standard input in batches: as many as are available, so that a slow writer's lines
/// do not wait for a full batch.
///
/// @par Thread safety
/// Distinct objects: unsafe (there is one standard input). Shared objects: unsafe.
class line_batches {
 public:
  /// @param most lines in a batch. A batch also ends after 8 MiB, and 100 ms after its first line.
  explicit line_batches(std::size_t most) : most_(most) {}

  /// The next lines, without their newlines; empty only at the end of the input. Text after the
  /// last newline is a line of its own, unless it is empty.
  /// @throws refused_error when it cannot be read.
  std::vector<std::string> next();

 private:
  /// Moves whole lines from the buffer to the batch. @return whether the batch is full.
  bool collect(std::vector<std::string>& batch);
  /// Waits for more bytes until `until`. @return false when the time is over.
  bool read_more(std::chrono::steady_clock::time_point until, bool forever);

  std::size_t most_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of the first line that was not handed out
  std::size_t scanned_ = 0;  // up to here there is no newline after begin_
  std::size_t bytes_ = 0;    // in the batch
  bool ended_ = false;
};

}  // namespace tool
