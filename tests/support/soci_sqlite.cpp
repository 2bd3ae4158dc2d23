#include <soci/sqlite3/soci-sqlite3.h>

#include "support/soci_sessions.hpp"

namespace tableq_test {

std::unique_ptr<soci::session> soci_sqlite_session(const std::string& path) {
  return std::make_unique<soci::session>(soci::sqlite3, "dbname=" + path + " timeout=10");
}

}  // namespace tableq_test
