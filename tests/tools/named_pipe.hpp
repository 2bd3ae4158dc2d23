#pragma once

#include <filesystem>
#include <string>

#include "tools/command.hpp"

namespace tableq_test {

/// Reads lines from a descriptor, which is borrowed. Throws when none comes for a minute, or the
/// other end is closed.
class line_reader {
 public:
  explicit line_reader(int file) : file_(file) {}

  std::string next();
  /// The next line that contains `part`; those before it are dropped.
  std::string next_with(const std::string& part);

 private:
  int file_;
  std::string buffer_;
};

/// A named pipe through which a test and a shell command synchronize.
class named_pipe {
 public:
  explicit named_pipe(std::filesystem::path path);

  [[nodiscard]] std::string path() const { return path_.string(); }
  void write_line(const std::string& text) const;
  std::string read_line() { return lines_.next(); }

 private:
  std::filesystem::path path_;
  owned_descriptor ends_;
  line_reader lines_;
};

}  // namespace tableq_test
