#include "drivers/transport/sqlite_failure.hpp"

#include <soci/sqlite3/soci-sqlite3.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "drivers/transport/files.hpp"

namespace tableq::inline v0::drivers {
namespace {

// SOCI's header puts the C interface into this namespace.
using namespace sqlite_api;

/// The system's number of an error that SQLite calls an I/O error. SQLite keeps one for each file;
/// it keeps none for a commit in the session.
int system_number(sqlite3* handle) {
  int number = 0;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log != nullptr && log->pMethods != nullptr) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
  }
  if (number == 0) sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
  return number;
}

/// Only of a failed write: SQLite itself knows a full disk, but no quota.
std::string no_room(int number) {
  const full what = fullness_of(number);
  if (what == full::quota) return "the disk quota is used up; make room, then call again";
  if (what == full::size) {
    return "a file of the database has the size that the process (ulimit -f) or the file system "
           "allows; raise the limit or remove messages, then call again";
  }
  return {};
}

}  // namespace

std::string refused_writes(const std::string& file) {
  if (file.empty()) return {};
  std::error_code failed;
  const auto folder = std::filesystem::absolute(file, failed).parent_path().string();
  if (failed) return {};
  if (const write_refusal why = refusal_of_writes(folder); why != write_refusal::none) {
    return "the folder " + folder +
           (why == write_refusal::read_only_file_system ? " is on a read-only file system"
                                                        : " accepts no writes by this user") +
           ", and SQLite keeps files beside the database, also to read it";
  }
  if (refusal_of_writes(file) != write_refusal::none) {
    return "the file " + file + " accepts no writes by this user; look at its owner and mode";
  }
  return {};
}

native_failure sqlite_failure(sqlite3* handle, session_of whose) {
  native_error what{.number = sqlite3_extended_errcode(handle), .sentence = sqlite3_errmsg(handle)};
  constexpr int moved = 1032;  // SQLITE_READONLY_DBMOVED, which the dialect tells
  const int primary = what.number & 0xff;
  if (primary == SQLITE_FULL && whose == session_of::caller) {
    what.sentence += ", or the folder of its temporary files is (SQLITE_TMPDIR)";
  } else if (what.number == SQLITE_IOERR_GETTEMPPATH) {
    what.sentence =
        "SQLite found no folder for temporary files; set SQLITE_TMPDIR to one that takes writes, "
        "or "
        "keep them in memory in this session";
  } else if (what.number == SQLITE_IOERR_WRITE) {
    if (std::string full = no_room(system_number(handle)); !full.empty()) {
      what.sentence = std::move(full);
      return native_failure::judged_as({errc::storage_full, advice::never}, std::move(what));
    }
  } else if ((primary == SQLITE_READONLY && what.number != moved) || primary == SQLITE_CANTOPEN) {
    const char* file = sqlite3_db_filename(handle, "main");
    if (std::string refused = refused_writes(file == nullptr ? "" : file); !refused.empty()) {
      what.sentence = std::move(refused);
      return native_failure::judged_as({errc::read_only, advice::never}, std::move(what));
    }
  }
  return native_failure(std::move(what));
}

}  // namespace tableq::inline v0::drivers
