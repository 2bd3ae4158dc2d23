#include "drivers/transport/files.hpp"

#if defined(_WIN32)
#include <io.h>
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#if defined(TABLEQ_LINUX)
#include <sys/sysmacros.h>
#endif
#include <unistd.h>
#endif

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <limits>
#include <system_error>

namespace tableq::inline v0::drivers {

#if defined(_WIN32)

namespace {

constexpr std::uint64_t joined(DWORD high, DWORD low) {
  return static_cast<std::uint64_t>(high) << 32U | low;
}

/// Others may use, rename and delete the file as if it were not open.
HANDLE handle_to(const std::string& path, DWORD access) noexcept {
  try {
    return ::CreateFileW(std::filesystem::path(path).c_str(), access,
                         FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                         OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  } catch (...) {  // noexcept: a path that is no UTF-8 names no file.
    return INVALID_HANDLE_VALUE;
  }
}

/// The byte that is locked: far behind those that SQLite reads and writes, as a lock stops these.
OVERLAPPED locked_byte() {
  OVERLAPPED out{};
  out.OffsetHigh = 0x40000000;
  return out;
}

HANDLE handle_of(std::int64_t file) {
  return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(file));
}

}  // namespace

file_state state_of_file(const std::string& path) noexcept {
  // By a handle: the folder learns of a write only when the file is closed.
  const HANDLE file = handle_to(path, FILE_READ_ATTRIBUTES);
  if (file == INVALID_HANDLE_VALUE) return {};
  BY_HANDLE_FILE_INFORMATION found{};
  const bool known = ::GetFileInformationByHandle(file, &found) != 0;
  ::CloseHandle(file);
  if (!known) return {};
  return {.identity = {.device = found.dwVolumeSerialNumber,
                       .node = joined(found.nFileIndexHigh, found.nFileIndexLow)},
          .size = static_cast<std::int64_t>(joined(found.nFileSizeHigh, found.nFileSizeLow)),
          .changed = static_cast<std::int64_t>(
              joined(found.ftLastWriteTime.dwHighDateTime, found.ftLastWriteTime.dwLowDateTime))};
}

file_identity identity_of_file(const std::string& path) noexcept {
  return state_of_file(path).identity;
}

write_refusal refusal_of_writes(const std::string& path) noexcept {
  constexpr int writable = 2;
  try {
    if (::_waccess(std::filesystem::path(path).c_str(), writable) == 0) return write_refusal::none;
  } catch (...) {  // noexcept: a path that is no UTF-8 names no file.
    return write_refusal::none;
  }
  return errno == ENOENT ? write_refusal::none : write_refusal::no_right;
}

std::optional<std::vector<int>> descriptors_on(const file_identity& /*file*/) {
  return std::nullopt;
}

full fullness_of(int /*system_number*/) noexcept {
  return full::no;  // SQLite knows Windows' own number.
}

file_lock::~file_lock() {
  if (is_open()) ::CloseHandle(handle_of(file_));
}

bool file_lock::open(const std::string& path) noexcept {
  const HANDLE file = handle_to(path, GENERIC_READ);
  if (file != INVALID_HANDLE_VALUE) file_ = reinterpret_cast<std::intptr_t>(file);
  return is_open();
}

bool file_lock::try_lock() const noexcept {
  OVERLAPPED byte = locked_byte();
  return ::LockFileEx(handle_of(file_), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1,
                      0, &byte) != 0;
}

void file_lock::unlock() const noexcept {
  OVERLAPPED byte = locked_byte();
  ::UnlockFileEx(handle_of(file_), 0, 1, 0, &byte);
}

#else

file_state state_of_file(const std::string& path) noexcept {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
#if defined(__APPLE__)
  const timespec& changed = found.st_mtimespec;
#else
  const timespec& changed = found.st_mtim;
#endif
  constexpr std::int64_t second = 1'000'000'000;
  // The number of a device has a sign on macOS.
  return {.identity = {.device = static_cast<std::uint64_t>(found.st_dev), .node = found.st_ino},
          .size = found.st_size,
          .changed = changed.tv_sec * second + changed.tv_nsec};
}

file_identity identity_of_file(const std::string& path) noexcept {
#if defined(TABLEQ_LINUX) && defined(STATX_INO)
  // Linux 6.13 and later gives the next write a time of its own if stat() has read the last one: a
  // change of the inode for each commit.
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO, &found) == 0) {
    return {.device = makedev(found.stx_dev_major, found.stx_dev_minor), .node = found.stx_ino};
  }
#endif
  return state_of_file(path).identity;  // An old container may forbid statx().
}

write_refusal refusal_of_writes(const std::string& path) noexcept {
  if (::access(path.c_str(), W_OK) == 0 || errno == ENOENT) return write_refusal::none;
  return errno == EROFS ? write_refusal::read_only_file_system : write_refusal::no_right;
}

std::optional<std::vector<int>> descriptors_on(const file_identity& file) {
#if defined(TABLEQ_LINUX)
  std::vector<int> out;
  std::error_code failed;
  std::filesystem::directory_iterator each("/proc/self/fd", failed);
  for (; !failed && each != std::filesystem::directory_iterator(); each.increment(failed)) {
    const std::string name = each->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    struct stat found {};
    if (::fstat(descriptor, &found) == 0 && found.st_dev == file.device &&
        found.st_ino == file.node) {
      out.push_back(descriptor);
    }
  }
  return out;
#else
  static_cast<void>(file);
  return std::nullopt;
#endif
}

full fullness_of(int system_number) noexcept {
  if (system_number == EDQUOT) return full::quota;
  return system_number == EFBIG ? full::size : full::no;
}

file_lock::~file_lock() {
  not_for_children_.reset();
  if (is_open()) ::close(static_cast<int>(file_));
}

bool file_lock::open(const std::string& path) noexcept {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  not_for_children_.emplace(static_cast<int>(file_));
  return is_open();
}

bool file_lock::try_lock() const noexcept {
  return ::flock(static_cast<int>(file_), LOCK_EX | LOCK_NB) == 0;
}

void file_lock::unlock() const noexcept {
  ::flock(static_cast<int>(file_), LOCK_UN);
}

#endif

std::uint64_t room_for(const char* path) noexcept {
  try {
    std::error_code failed;
    return std::filesystem::space(path, failed).available;  // after a failure -1
  } catch (...) {  // noexcept: memory is short, or a path that is no UTF-8 names no file.
    return std::numeric_limits<std::uint64_t>::max();
  }
}

}  // namespace tableq::inline v0::drivers
