#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tableq::inline v0::drivers {

/// A file that a session has open, by the name that led to it. Somebody may delete it, move it, or
/// put another one there: the session would go on with a file that nobody else opens.
///
/// @par Thread safety
/// Shared objects: safe; it does not change.
class named_file {
 public:
  /// @param name an absolute path.
  explicit named_file(std::string name);
  /// A session has it open, and the name leads elsewhere already.
  static named_file gone(std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether the name led anywhere in the beginning.
  [[nodiscard]] bool found() const noexcept { return node_ != 0; }
  /// The same text for the same file, whatever its names.
  [[nodiscard]] std::string number() const;
  /// Whether the name leads to it. One call to the system, of about a microsecond.
  [[nodiscard]] bool there() const noexcept;

  /// What became of it, and what to do.
  [[nodiscard]] std::string complaint() const;
  /// Whether both are one file, whatever their names.
  [[nodiscard]] bool same(const named_file& other) const noexcept {
    return device_ == other.device_ && node_ == other.node_;
  }

 private:
  named_file() = default;

  std::string name_;
  std::uint64_t device_ = 0;
  std::uint64_t node_ = 0;  // 0: there was none
};

/// The files that a session has open.
struct session_files {
  named_file main;
  std::optional<named_file> log = {};  ///< What was committed and is not in the main one yet.
};

}  // namespace tableq::inline v0::drivers
