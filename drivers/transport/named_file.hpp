#pragma once

#include <optional>
#include <string>

#include "drivers/transport/files.hpp"

namespace tableq::inline v0::drivers {

/// A file that a session has open, and the name by which it was opened. If the file is deleted,
/// moved or replaced, the session would continue with a file that no other session opens.
///
/// @par Thread safety
/// Shared objects: safe; it does not change.
class named_file {
 public:
  /// @param name an absolute path.
  explicit named_file(std::string name);
  /// A file that a session has open although its name already belongs to another file.
  static named_file gone(std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether there was a file of this name at first.
  [[nodiscard]] bool found() const noexcept { return identity_ != file_identity(); }
  /// The same text for the same file, under any name.
  [[nodiscard]] std::string number() const;
  /// Whether this file still has the name. Costs one system call, about a microsecond.
  [[nodiscard]] bool there() const noexcept;

  /// An error message: the fate of the file, and the remedy.
  [[nodiscard]] std::string complaint() const;
  /// The same of a change that was committed in the meantime, or was about to be.
  [[nodiscard]] std::string doubt() const;
  /// Whether both are the same file, even under different names.
  [[nodiscard]] bool same(const named_file& other) const noexcept {
    return identity_ == other.identity_;
  }

 private:
  named_file() = default;

  std::string name_;
  file_identity identity_;
};

/// The files that a session has open.
struct session_files {
  named_file main;
  std::optional<named_file> log = {};  ///< Committed changes that are not in the main file yet.
};

}  // namespace tableq::inline v0::drivers
