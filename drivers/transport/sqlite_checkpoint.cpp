#include "drivers/transport/sqlite_checkpoint.hpp"

#include <soci/sqlite3/soci-sqlite3.h>

#include "drivers/transport/checkpoint_pace.hpp"
#include "drivers/transport/files.hpp"

namespace tableq::inline v0::drivers {
namespace {

// SOCI's header puts the C interface into this namespace.
using namespace sqlite_api;

/// The write lock of a file in WAL mode, for a session without a transaction. In a transaction
/// SQLite copies nothing, so the lock is not one of SQLite's statements, but that of the file:
/// the first of its locks, as https://sqlite.org/walformat.html gives them.
class write_lock {
 public:
  /// Does not wait: see `held`.
  write_lock(sqlite3* handle, const char* schema) noexcept {
    sqlite3_file* found = nullptr;
    sqlite3_file_control(handle, schema, SQLITE_FCNTL_FILE_POINTER, &found);
    constexpr int with_shared_memory = 2;
    if (found == nullptr || found->pMethods == nullptr ||
        found->pMethods->iVersion < with_shared_memory || found->pMethods->xShmLock == nullptr) {
      return;
    }
    if (lock(found, SQLITE_SHM_LOCK) == SQLITE_OK) file_ = found;
  }
  write_lock(const write_lock&) = delete;
  write_lock& operator=(const write_lock&) = delete;
  ~write_lock() {
    if (file_ != nullptr) lock(file_, SQLITE_SHM_UNLOCK);
  }

  [[nodiscard]] bool held() const noexcept { return file_ != nullptr; }

 private:
  static int lock(sqlite3_file* file, int what) noexcept {
    constexpr int place = 0;
    return file->pMethods->xShmLock(file, place, 1, what | SQLITE_SHM_EXCLUSIVE);
  }

  sqlite3_file* file_ = nullptr;
};

}  // namespace

int copy_log(void* pace, sqlite3* handle, const char* schema, int pages) {
  using clock = checkpoint_pace::clock;
  auto& when = *static_cast<checkpoint_pace*>(pace);
  const auto began = clock::now();
  const auto room = [&] {
    const char* const file = sqlite3_db_filename(handle, schema);
    return room_for(file == nullptr ? "" : file);
  };
  if (!when.due(pages, began, room)) return SQLITE_OK;
  // Another session writes: its commit, or the next one here, copies.
  const write_lock lock(handle, schema);
  if (!lock.held()) return SQLITE_OK;
  int logged = 0;
  int copied = 0;
  // After a failure the next commit tries again.
  sqlite3_wal_checkpoint_v2(handle, schema, SQLITE_CHECKPOINT_PASSIVE, &logged, &copied);
  when.tried(logged, copied, began, clock::now());
  return SQLITE_OK;
}

void empty_log(sqlite3* handle) noexcept {
  const char* const schema = "main";
  const write_lock lock(handle, schema);
  if (!lock.held()) return;
  sqlite3_wal_checkpoint_v2(handle, schema, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

}  // namespace tableq::inline v0::drivers
