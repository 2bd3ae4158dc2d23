#pragma once

/// @file
/// Options of ODBC drivers with which messages would be stored wrong, or not at all. They may stand
/// in the address, in a data source or in the driver's defaults. For the transport odbc only.

#include <string>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "drivers/transport/odbc_api.hpp"

namespace tableq::inline v0::drivers::odbc {

/// @return the sentence that names such an option of the connection; empty if it has none.
std::string refused_option(SQLHDBC link);

/// The same for an address with which SOCI cannot open a session: it sends statements when it
/// connects. Opens a connection for that. Empty also if that fails.
std::string refused_option_of(const std::string& connect);

/// All records of a refused connection: SOCI keeps the first one, and the reason may be in another.
/// Tries to connect for that, for a second at most. Empty also if it succeeds.
std::vector<native_error> refusal_of(const std::string& connect);

/// Connects without SOCI, with the time-outs of the address, and ends the connection. All records
/// if it is refused, else none.
std::vector<native_error> refusal_in_full(const std::string& connect);

}  // namespace tableq::inline v0::drivers::odbc
