#include <soci/odbc/soci-odbc.h>

#include "support/soci_sessions.hpp"

namespace tableq_test {

std::unique_ptr<soci::session> soci_odbc_session(const std::string& connect) {
  soci::connection_parameters parameters(soci::odbc, connect);
  parameters.set_option(soci::odbc_option_driver_complete, "0");
  return std::make_unique<soci::session>(parameters);
}

}  // namespace tableq_test
