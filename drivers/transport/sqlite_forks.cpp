#include "drivers/transport/sqlite_forks.hpp"

#include <sqlite3.h>

#include <array>
#include <atomic>
#include <thread>

#include "core/base/process.hpp"

namespace tableq::inline v0::drivers {
namespace {

/// In SQLite's own order of locking, so that the fork waits only briefly.
constexpr std::array mutex_ids{
    SQLITE_MUTEX_STATIC_OPEN, SQLITE_MUTEX_STATIC_VFS1, SQLITE_MUTEX_STATIC_VFS2,
    SQLITE_MUTEX_STATIC_VFS3, SQLITE_MUTEX_STATIC_PRNG, SQLITE_MUTEX_STATIC_MAIN,
    SQLITE_MUTEX_STATIC_LRU,  SQLITE_MUTEX_STATIC_PMEM, SQLITE_MUTEX_STATIC_MEM};

/// State shared by all copies of tableq that use this copy of SQLite, such as those of a program
/// and its plug-in: each has its own handlers of forks, and the first to come takes the mutexes for
/// all.
///
/// SQLite's list of file systems is the one place where they find each other. The entry is the
/// usual file system under another name; it is never destroyed, as a copy may be unloaded before
/// another.
struct meeting_place {
  sqlite3_vfs entry;
  std::atomic<std::thread::id> holder;  ///< The thread that has the mutexes.
  int handlers;                         ///< Of the holder's fork, that have run.
};
/// Later versions with another layout take another name.
constexpr const char* name_of_place = "tableq-forks-1";

meeting_place& place() {
  static meeting_place* const found = [] {
    sqlite3_mutex* const alone = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP3);
    sqlite3_mutex_enter(alone);
    sqlite3_vfs* entry = sqlite3_vfs_find(name_of_place);
    if (entry == nullptr) {
      auto* const made = new meeting_place{*sqlite3_vfs_find(nullptr), std::thread::id{}, 0};
      // This copy's own text may be unloaded.
      made->entry.zName = sqlite3_mprintf("%s", name_of_place);
      sqlite3_vfs_register(&made->entry, 0);
      entry = &made->entry;
    }
    sqlite3_mutex_leave(alone);
    return reinterpret_cast<meeting_place*>(entry);
  }();
  return *found;
}

void take_mutexes() {
  meeting_place& here = place();
  if (here.holder.load() != std::this_thread::get_id()) {
    for (const int id : mutex_ids) sqlite3_mutex_enter(sqlite3_mutex_alloc(id));
    here.holder = std::this_thread::get_id();
  }
  ++here.handlers;
}

void give_mutexes() {
  meeting_place& here = place();
  if (--here.handlers != 0) return;
  here.holder = std::thread::id{};
  for (const int id : mutex_ids) sqlite3_mutex_leave(sqlite3_mutex_alloc(id));
}

}  // namespace

void prepare_sqlite_for_forks() {
  static const int registered = [] {
    place();  // Not in the midst of a fork.
    return core::at_fork(take_mutexes, give_mutexes, give_mutexes);
  }();
  static_cast<void>(registered);
}

}  // namespace tableq::inline v0::drivers
