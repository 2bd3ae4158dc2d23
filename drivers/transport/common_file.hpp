#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "drivers/transport/named_file.hpp"

namespace tableq::inline v0::drivers {

/// The file that all sessions of a `database` object work on: the one that the first of them found.
///
/// @par Thread safety
/// Shared objects: safe.
class common_file {
 public:
  /// Before a session is opened, which would make a file that is gone anew.
  /// @return why none may be opened; empty: one may.
  [[nodiscard]] std::string complaint() const;
  /// After one was opened, with the file that it has found. @return the same.
  [[nodiscard]] std::string opened(const named_file& found);
  /// A session has lost its log. Those that are opened later would begin another.
  void lost(const named_file& log);

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::optional<named_file> file_;
  std::string lost_;
};

}  // namespace tableq::inline v0::drivers
