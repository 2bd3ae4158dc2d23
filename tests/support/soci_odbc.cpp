#include <soci/odbc/soci-odbc.h>

#include "support/soci_sessions.hpp"

namespace tableq_test {

std::unique_ptr<soci::session> soci_odbc_session(const std::string& connect) {
  soci::connection_parameters parameters(soci::odbc, connect);
  parameters.set_option(soci::odbc_option_driver_complete, "0");
  return std::make_unique<soci::session>(parameters);
}

void* odbc_handle(soci::session& session) {
  auto* const open = static_cast<soci::odbc_session_backend*>(session.get_backend());
  return open == nullptr ? nullptr : open->hdbc_;
}

}  // namespace tableq_test
