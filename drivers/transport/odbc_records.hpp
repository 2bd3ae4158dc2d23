#pragma once

/// @file
/// The diagnostic records of an ODBC handle. For the transport odbc only.

#include <sql.h>

#include <string>
#include <string_view>
#include <vector>

#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::drivers::odbc {

/// One line of a driver's message, without the leading `[vendor][part]` and the driver's remarks
/// after it.
[[nodiscard]] std::string plain_sentence(std::string_view message);

/// The handle's records: what the server says before what the driver adds, warnings and remarks
/// last. Empty if it has none.
[[nodiscard]] std::vector<native_error> records_of(SQLSMALLINT kind, SQLHANDLE handle);

}  // namespace tableq::inline v0::drivers::odbc
