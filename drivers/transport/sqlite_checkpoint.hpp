#pragma once

namespace sqlite_api {
struct sqlite3;
}

namespace tableq::inline v0::drivers {

/// Copies SQLite's log to the database file after a commit: replaces SQLite's own hook.
///
/// Holds the write lock meanwhile. SQLite's own checkpoints do not, and before 3.51.3 (but 3.50.7
/// and 3.44.6) one that is delayed can damage the file: another session begins the log anew, the
/// checkpoint counts the new frames as copied, and they are lost
/// (https://sqlite.org/wal.html#walresetbug). Only the holder of the write lock begins a log anew.
///
/// @param pace the session's checkpoint_pace.
int copy_log(void* pace, sqlite_api::sqlite3* handle, const char* schema, int pages);

/// The same when the disk is full: the log, which can grow no more, begins anew if the file has
/// room for its pages.
void empty_log(sqlite_api::sqlite3* handle) noexcept;

}  // namespace tableq::inline v0::drivers
