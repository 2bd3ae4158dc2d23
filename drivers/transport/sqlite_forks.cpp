#include "drivers/transport/sqlite_forks.hpp"

#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

namespace tableq::inline v0::drivers {
namespace {

using stat_call = int (*)(const char*, struct stat*);
using fstat_call = int (*)(int, struct stat*);

/// In SQLite's own order of locking.
constexpr std::array mutex_ids{
    SQLITE_MUTEX_STATIC_OPEN, SQLITE_MUTEX_STATIC_VFS1, SQLITE_MUTEX_STATIC_VFS2,
    SQLITE_MUTEX_STATIC_VFS3, SQLITE_MUTEX_STATIC_PRNG, SQLITE_MUTEX_STATIC_MAIN,
    SQLITE_MUTEX_STATIC_LRU,  SQLITE_MUTEX_STATIC_PMEM, SQLITE_MUTEX_STATIC_MEM};

struct inherited {
  sqlite3_vfs* files = nullptr;
  stat_call of_path = nullptr;
  fstat_call of_descriptor = nullptr;
  std::array<sqlite3_mutex*, mutex_ids.size()> mutexes{};
  std::mutex one_at_a_time;                    // only one thread forks at a time
  std::array<bool, mutex_ids.size()> taken{};  // by the thread that forks
  dev_t device = 0;                            // a child adds this to device numbers
};

inherited& all() {
  static inherited only;
  return only;
}

int moved_stat(const char* path, struct stat* out) {
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): set before this function is
  const int result = all().of_path(path, out);
  out->st_dev ^= all().device;
  return result;
}

int moved_fstat(int descriptor, struct stat* out) {
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): set before this function is
  const int result = all().of_descriptor(descriptor, out);
  out->st_dev ^= all().device;
  return result;
}

template <class Call>
sqlite3_syscall_ptr as_pointer(Call call) {
  return reinterpret_cast<sqlite3_syscall_ptr>(call);
}

void take_mutexes() {
  // These mutexes are held only briefly. If one is not, the fork must not wait forever.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
  inherited& mine = all();
  mine.one_at_a_time.lock();
  for (std::size_t i = 0; i < mutex_ids.size(); ++i) {
    for (;;) {
      mine.taken[i] = sqlite3_mutex_try(mine.mutexes[i]) == SQLITE_OK;
      if (mine.taken[i] || std::chrono::steady_clock::now() >= until) break;
      std::this_thread::yield();
    }
  }
}

void give_mutexes() {
  inherited& mine = all();
  for (std::size_t i = mutex_ids.size(); i > 0; --i) {
    if (mine.taken[i - 1]) sqlite3_mutex_leave(mine.mutexes[i - 1]);
  }
  mine.one_at_a_time.unlock();
}

void begin_child() {
  inherited& mine = all();
  give_mutexes();
  // Only SQLite sees this number; it distinguishes files by it.
  constexpr int half = sizeof(dev_t) * 4;
  mine.device = static_cast<dev_t>(static_cast<std::uint64_t>(::getpid()) << half);
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): registered() has found it
  mine.files->xSetSystemCall(mine.files, "stat", as_pointer(moved_stat));
  mine.files->xSetSystemCall(mine.files, "fstat", as_pointer(moved_fstat));
}

bool registered() {
  inherited& mine = all();
  mine.files = sqlite3_vfs_find("unix");
  constexpr int with_system_calls = 3;
  if (mine.files == nullptr || mine.files->iVersion < with_system_calls) return false;
  mine.of_path = reinterpret_cast<stat_call>(mine.files->xGetSystemCall(mine.files, "stat"));
  mine.of_descriptor =
      reinterpret_cast<fstat_call>(mine.files->xGetSystemCall(mine.files, "fstat"));
  if (mine.of_path == nullptr || mine.of_descriptor == nullptr) return false;
  for (std::size_t i = 0; i < mutex_ids.size(); ++i) {
    mine.mutexes[i] = sqlite3_mutex_alloc(mutex_ids[i]);
  }
  return ::pthread_atfork(take_mutexes, give_mutexes, begin_child) == 0;
}

}  // namespace

void prepare_for_forks() {
  static const bool done = registered();
  static_cast<void>(done);
}

}  // namespace tableq::inline v0::drivers
