#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/tds_client.hpp"
#include "support/tds_server.hpp"

namespace tableq_test {

using fields = std::vector<std::optional<std::string>>;
using table = std::vector<fields>;

/// The same answer to every statement.
inline tds_server answering(const tds_answer& answer) {
  return tds_server([answer](const tds_request&) { return answer; });
}

inline tds_answer two_rows() {
  return tds_answer()
      .columns({{"id", tds_type::bigint}, {"note", tds_type::nvarchar, 10}})
      .row({7, "seven"})
      .row({8, "eight"});
}

/// The native number of the first error; 0 without one.
inline std::int32_t error_of(const odbc_outcome& outcome) {
  return outcome.errors.empty() ? 0 : outcome.errors.front().native;
}

}  // namespace tableq_test
