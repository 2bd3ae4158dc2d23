#include "drivers/transport/sqlite_forks.hpp"

#include <pthread.h>
#include <sqlite3.h>

#include <array>

namespace tableq::inline v0::drivers {
namespace {

/// In SQLite's own order of locking, so that the fork waits only briefly.
constexpr std::array mutex_ids{
    SQLITE_MUTEX_STATIC_OPEN, SQLITE_MUTEX_STATIC_VFS1, SQLITE_MUTEX_STATIC_VFS2,
    SQLITE_MUTEX_STATIC_VFS3, SQLITE_MUTEX_STATIC_PRNG, SQLITE_MUTEX_STATIC_MAIN,
    SQLITE_MUTEX_STATIC_LRU,  SQLITE_MUTEX_STATIC_PMEM, SQLITE_MUTEX_STATIC_MEM};

void take_mutexes() {
  for (const int id : mutex_ids) sqlite3_mutex_enter(sqlite3_mutex_alloc(id));
}

void give_mutexes() {
  for (const int id : mutex_ids) sqlite3_mutex_leave(sqlite3_mutex_alloc(id));
}

}  // namespace

void prepare_sqlite_for_forks() {
  static const int registered = ::pthread_atfork(take_mutexes, give_mutexes, give_mutexes);
  static_cast<void>(registered);
}

}  // namespace tableq::inline v0::drivers
