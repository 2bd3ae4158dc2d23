#pragma once

#include "support/tds_bytes.hpp"
#include "support/tds_request.hpp"

namespace tableq_test {

/// Reads one parameter of a call: name, flags, type and value. Throws for an unknown type.
tds_parameter read_parameter(tds_reader& from);

}  // namespace tableq_test
