#include <soci/postgresql/soci-postgresql.h>

#include "support/soci_sessions.hpp"

namespace tableq_test {

std::unique_ptr<soci::session> soci_postgresql_session(const std::string& connect) {
  return std::make_unique<soci::session>(soci::postgresql, connect);
}

}  // namespace tableq_test
