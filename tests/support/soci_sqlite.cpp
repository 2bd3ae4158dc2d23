#include <soci/sqlite3/soci-sqlite3.h>

#include "support/soci_sessions.hpp"

namespace tableq_test {

std::unique_ptr<soci::session> soci_sqlite_session(const std::string& path) {
  return std::make_unique<soci::session>(soci::sqlite3, "dbname=" + path + " timeout=10");
}

void* sqlite_handle(soci::session& session) {
  auto* const open = static_cast<soci::sqlite3_session_backend*>(session.get_backend());
  return open == nullptr ? nullptr : open->conn_;
}

}  // namespace tableq_test
