#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "signals.hpp"

namespace tool {

/// The standard errors of commands: a thread copies them to that of this process, and remembers the
/// end of each.
///
/// @par Thread safety
/// Shared objects: safe; a place is for the thread that has reserved it.
class child_errors {
 public:
  child_errors();
  /// Copies what is left.
  ~child_errors();
  child_errors(const child_errors&) = delete;
  child_errors& operator=(const child_errors&) = delete;

  /// Makes a pipe for the next command at this place.
  /// @return the command's end, which this process closes after the start.
  /// @throws std::system_error
  [[nodiscard]] descriptor open(std::size_t place);
  /// Forgets what the command there has written.
  void forget(std::size_t place);
  /// The last 2,000 bytes that the command there has written.
  [[nodiscard]] std::string end_of(std::size_t place);

 private:
  struct stream {
    descriptor in;
    std::size_t place;
    bool last = true;  ///< Of the last command there; others may have left it to their children.
    std::string end = {};
  };

  void copy() noexcept;
  void copy_some(stream& from);
  [[nodiscard]] stream* last_of(std::size_t place);

  const completion changed_;
  std::mutex mutex_;
  std::vector<stream> streams_;  // guarded by mutex_, as the next
  bool ending_ = false;
  std::thread thread_;  ///< Last: it uses all others.
};

/// The reason of a failure with the end of what the command has written, as a history stores it.
[[nodiscard]] std::string with_words(std::string reason, const std::string& written);

}  // namespace tool
