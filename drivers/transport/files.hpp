#pragma once

/// @file
/// Files and their locks, as the operating system has them. Paths are UTF-8.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "drivers/transport/forks.hpp"

namespace tableq::inline v0::drivers {

/// Which file has a name. All zero: none.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t node = 0;

  friend auto operator<=>(const file_identity&, const file_identity&) = default;
};
file_identity identity_of_file(const std::string& path) noexcept;

/// The file, and what shows that it was written.
struct file_state {
  file_identity identity;
  std::int64_t size = 0;
  std::int64_t changed = 0;  ///< When, in the system's units.

  friend bool operator==(const file_state&, const file_state&) = default;
};
file_state state_of_file(const std::string& path) noexcept;

#if defined(_WIN32)
/// Nobody can delete, move or replace a file that SQLite has open.
inline constexpr bool open_files_keep_their_names = true;
#else
inline constexpr bool open_files_keep_their_names = false;
#endif

/// The descriptors of this process on the file; nothing on a system that does not tell: only Linux
/// does. No descriptor is opened on the file: to close one would drop SQLite's locks.
std::optional<std::vector<int>> descriptors_on(const file_identity& file);

/// Why this user may not write there. None also where nothing has that name.
enum class write_refusal { none, read_only_file_system, no_right };
write_refusal refusal_of_writes(const std::string& path) noexcept;

/// Of an error that SQLite calls an I/O error, by the system's number.
enum class full { no, quota, size };
full fullness_of(int system_number) noexcept;

/// The bytes that this user may still write to the file's disk. The largest number: not known.
std::uint64_t room_for(const char* path) noexcept;

/// A lock on a file for one session among all processes. Programs that do not ask for it are not
/// held up; the system releases it when its holder dies.
///
/// Owns a descriptor of the file.
///
/// @par Thread safety
/// Shared objects: unsafe.
class file_lock {
 public:
  file_lock() = default;
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;
  ~file_lock();

  /// @return false: there is no such file, or it cannot be opened.
  bool open(const std::string& path) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return file_ != -1; }
  /// Without waiting. @return false: another one has it.
  [[nodiscard]] bool try_lock() const noexcept;
  void unlock() const noexcept;

 private:
  std::int64_t file_ = -1;
  std::optional<closed_in_child> not_for_children_;
};

}  // namespace tableq::inline v0::drivers
