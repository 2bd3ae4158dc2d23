#include <soci/postgresql/soci-postgresql.h>

#include "support/soci_sessions.hpp"

namespace tableq_test {

std::unique_ptr<soci::session> soci_postgresql_session(const std::string& connect) {
  return std::make_unique<soci::session>(soci::postgresql, connect);
}

void* postgresql_handle(soci::session& session) {
  auto* const open = static_cast<soci::postgresql_session_backend*>(session.get_backend());
  return open == nullptr ? nullptr : open->conn_;
}

}  // namespace tableq_test
