#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "drivers/transport/files.hpp"

namespace tableq::inline v0::drivers {

/// At the end of an endpoint's connect string, of an address with `other_sqlite=refuse`. SOCI does
/// not see it.
inline constexpr std::string_view other_sqlite_refused = " other_sqlite=refuse";

/// Stands while a session opens a file, and refuses the file if this process has it open by
/// anything but such sessions: another copy of SQLite, say. POSIX locks belong to the process, so
/// that each close of the file by one copy drops the locks of the other.
///
/// Descriptors that appear in the meantime count as the session's. Only Linux tells which
/// descriptors a process has.
///
/// @par Thread safety
/// Distinct objects: safe; the second one waits for the end of the first.
class only_sqlite {
 public:
  /// @throws native_failure errc::unsupported, always on a system other than Linux.
  explicit only_sqlite(std::string file);
  only_sqlite(const only_sqlite&) = delete;
  only_sqlite& operator=(const only_sqlite&) = delete;
  ~only_sqlite();

  /// Such a session has closed its descriptors of the file: other code may get their numbers.
  static void closed(const file_identity& file) noexcept;

 private:
  std::scoped_lock<std::mutex> hold_;
  std::string file_;
};

}  // namespace tableq::inline v0::drivers
