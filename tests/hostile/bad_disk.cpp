#include "hostile/bad_disk.hpp"

#include <limits.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <string_view>
#include <utility>

namespace tableq_test {
namespace {

struct fault {
  bad_disk::call which = bad_disk::call::write;
  int error = 0;
  std::string ending;
  int left = 0;
  int failed = 0;
};

std::atomic<bool> some = false;  // whether there is a fault
std::mutex guard;
fault now;  // under guard

std::atomic<std::uint32_t> told_type = 0;

std::string watched;
std::function<void()> before_writes;

using access_call = int (*)(const char*, int);
access_call real_access = nullptr;

int no_folder(const char* path, int mode) {
  // SQLite asks this way for a folder that takes temporary files, and for nothing else.
  if (mode == (W_OK | X_OK)) {
    errno = EROFS;
    return -1;
  }
  return real_access(path, mode);
}

void set_access(sqlite3_syscall_ptr call) {
  sqlite3_vfs* const system = sqlite3_vfs_find("unix");
  system->xSetSystemCall(system, "access", call);
}

bool has_ending(int descriptor, const std::string& ending) {
  std::array<char, PATH_MAX> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::readlink(link.c_str(), name.data(), name.size());
  return size >= 0 &&
         std::string_view(name.data(), static_cast<std::size_t>(size)).ends_with(ending);
}

/// Whether the call must fail; `errno` is set then.
bool fails(bad_disk::call which, int descriptor) {
  if (!some) return false;
  const std::scoped_lock hold(guard);
  if (now.which != which || now.left == 0 || !has_ending(descriptor, now.ending)) return false;
  if (now.left > 0) --now.left;
  ++now.failed;
  errno = now.error;
  return true;
}

}  // namespace

bad_disk::bad_disk(call which, int error, std::string ending, int times) {
  const std::scoped_lock hold(guard);
  now = {.which = which, .error = error, .ending = std::move(ending), .left = times};
  some = true;
}

bad_disk::~bad_disk() {
  const std::scoped_lock hold(guard);
  now = {};
  some = false;
}

int bad_disk::failed() const noexcept {
  const std::scoped_lock hold(guard);
  return now.failed;
}

write_watch::write_watch(std::string ending, std::function<void()> before) {
  watched = std::move(ending);
  before_writes = std::move(before);
}

write_watch::~write_watch() {
  before_writes = nullptr;
}

told_file_system::told_file_system(std::uint32_t type) {
  told_type = type;
}

told_file_system::~told_file_system() {
  told_type = 0;
}

no_temporary_folder::no_temporary_folder() {
  sqlite3_vfs* const system = sqlite3_vfs_find("unix");
  real_access = reinterpret_cast<access_call>(system->xGetSystemCall(system, "access"));
  set_access(reinterpret_cast<sqlite3_syscall_ptr>(no_folder));
}

no_temporary_folder::~no_temporary_folder() {
  set_access(reinterpret_cast<sqlite3_syscall_ptr>(real_access));
}

}  // namespace tableq_test

// SQLite and tableq find these before those of the C library.
extern "C" {

int statfs(const char* path, struct statfs* out) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_statfs, path, out));
  if (tableq_test::told_type != 0) out->f_type = tableq_test::told_type;
  return result;
}

ssize_t pwrite64(int descriptor, const void* from, size_t size, off64_t at) {
  if (tableq_test::before_writes && tableq_test::has_ending(descriptor, tableq_test::watched)) {
    tableq_test::before_writes();
  }
  if (tableq_test::fails(tableq_test::bad_disk::call::write, descriptor)) return -1;
  return ::syscall(SYS_pwrite64, descriptor, from, size, at);
}

int fdatasync(int descriptor) {
  if (tableq_test::fails(tableq_test::bad_disk::call::flush, descriptor)) return -1;
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

int fsync(int descriptor) {
  if (tableq_test::fails(tableq_test::bad_disk::call::flush, descriptor)) return -1;
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

}  // extern "C"
