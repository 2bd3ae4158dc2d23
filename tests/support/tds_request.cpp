#include "support/tds_request.hpp"

namespace tableq_test {

std::string described(const tds_request& asked) {
  const std::string where = "connection " + std::to_string(asked.connection) + ": ";
  switch (asked.kind) {
    case tds_kind::login:
      return where + "login of " + asked.login.user;
    case tds_kind::batch:
      return where + "batch: " + asked.text;
    case tds_kind::call:
      return where + asked.procedure + ": " + asked.text + " (" + asked.declaration + ")";
    case tds_kind::transaction:
      return where + asked.procedure + " transaction";
    case tds_kind::attention:
      break;
  }
  return where + "attention";
}

}  // namespace tableq_test
