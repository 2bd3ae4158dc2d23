#include "drivers/dialects.hpp"

namespace tableq::inline v0::drivers {
namespace {

// The primary result codes, from https://www.sqlite.org/rescode.html; an extended one keeps its
// primary code in the lowest byte.
enum primary : int {
  error_code = 1,
  perm = 3,
  busy = 5,
  locked = 6,
  nomem = 7,
  readonly = 8,
  interrupt = 9,
  io_error = 10,
  corrupt = 11,
  full = 13,
  cantopen = 14,
  schema = 17,
  toobig = 18,
  constraint = 19,
  auth = 23,
  notadb = 26,
};

}  // namespace

verdict classify_sqlite(const native_error& failure) {
  // The snapshot is too old for writing. Only a new transaction gets a new one.
  constexpr int busy_snapshot = 517;
  if (failure.number == busy_snapshot) return {errc::conflict, advice::transaction};
  // READONLY_DBMOVED: before it wrote a journal, SQLite found that the file had been moved.
  constexpr int moved = 1032;
  if (failure.number == moved) {
    return {errc::not_found, advice::never,
            "the file was deleted, moved or replaced while it was in use; open the database anew"};
  }
  // IOERR_SHMSIZE: a side file of WAL could not grow, on a disk that is full to the last byte.
  constexpr int side_file_cannot_grow = 4874;
  if (failure.number == side_file_cannot_grow) return {errc::storage_full, advice::never};
  // IOERR_FSYNC, IOERR_DIR_FSYNC, or an I/O error without a finer code, as libsqliteodbc tells it:
  // a session that opens the file again may find what was written, as after a lost session.
  constexpr int fsync = 1034;
  constexpr int dir_fsync = 1290;
  if (failure.number == fsync || failure.number == dir_fsync || failure.number == io_error) {
    return {errc::connection_lost, advice::session, "disk I/O error; a write may be lost"};
  }
  switch (failure.number & 0xff) {
    case busy:
      return {errc::busy, advice::statement,
              "database is locked by another connection; end its transaction or set busy_timeout"};
    case locked:
      return {errc::busy, advice::statement};
    case nomem:
      return {errc::busy, advice::transaction};
    case schema:
      return {errc::conflict, advice::statement};
    case readonly:
      return {errc::read_only, advice::never};
    case perm:
    case auth:
      return {errc::permission_denied, advice::never};
    case interrupt:
      return {errc::cancelled, advice::statement};
    case io_error:
      return {errc::storage_failed, advice::never};
    case corrupt:
    case notadb:
      return {errc::not_a_database, advice::never,
              "the file is no SQLite database, or is damaged; look at its name or restore it"};
    case full:
      return {errc::storage_full, advice::never};
    case cantopen:
      return {errc::connection_failed, advice::never};
    case toobig:
      return {errc::too_large, advice::never};
    case constraint:
      return {errc::constraint_violated, advice::never};
    case error_code:
      // SQLite has no finer code for a missing table.
      if (failure.sentence.starts_with("no such table")) return {errc::not_found, advice::never};
      return {errc::internal, advice::never};
    default:
      return {errc::internal, advice::never};
  }
}

}  // namespace tableq::inline v0::drivers
