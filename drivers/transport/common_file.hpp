#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "drivers/transport/named_file.hpp"

namespace tableq::inline v0::drivers {

/// The file that all sessions of a `database` object work on: the file that the first session
/// found.
///
/// A child of fork() inherits the objects of its parent, which tell it the parent's files.
///
/// @par Thread safety
/// Shared objects: safe.
class common_file {
 public:
  common_file() = default;
  common_file(const common_file&) = delete;
  common_file& operator=(const common_file&) = delete;
  ~common_file();

  /// Called before a session opens a file.
  /// @throws native_failure when a parent process had the file open before fork(). Its locks are in
  ///   the memory of the child, but belong to the parent.
  static void refuse_inherited(const named_file& file);
  /// Called before a session is opened, because opening would create a missing file again.
  /// @return why no session may be opened; empty: a session may be opened.
  [[nodiscard]] std::string complaint() const;
  /// Called after a session was opened, with its file. @return the same.
  [[nodiscard]] std::string opened(const named_file& found);
  /// Called when a session has lost its log. Sessions that are opened later would start another
  /// log.
  void lost(const named_file& log);

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::optional<named_file> file_;
  std::string lost_;
};

}  // namespace tableq::inline v0::drivers
