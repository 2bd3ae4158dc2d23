#pragma once

/// @file
/// What the ODBC drivers of SQL Server do otherwise than others: one table. For the transport odbc
/// only.

#include <chrono>
#include <string>
#include <string_view>

#include <tableq/unstable/dialect.hpp>

#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers::odbc {

/// The ways of a driver.
struct driver_ways {
  /// Whether it declares a parameter of a variable type and the size 0 as `varbinary(max)` or
  /// `nvarchar(max)`, also for NULL and nothing (SQL_SS_LENGTH_UNLIMITED). Such drivers would
  /// declare long types as `image` and `ntext`, and refuse their size 0 with HY104. FreeTDS would
  /// silently cut the value.
  bool unlimited = false;
  /// After a time-out the driver waits for the server's answer to its attention: two times this
  /// (SQL_ATTR_CONNECTION_TIMEOUT, which limits nothing else there), and two minutes if it is not
  /// set. Zero: it does not wait.
  std::chrono::seconds attention{0};
  /// Replaces a lost connection silently, and waits for that, unless `ConnectRetryCount=0`.
  bool recovers = false;
};

/// ASCII in small letters.
[[nodiscard]] std::string lowered(std::string_view text);

/// By the name of the driver's library (SQL_DRIVER_NAME) or its name in odbcinst.ini.
[[nodiscard]] const driver_ways& ways_of(std::string_view name);

/// The usual names in odbcinst.ini, the preferred one first.
inline constexpr std::string_view usual_drivers =
    "ODBC Driver 18 for SQL Server, ODBC Driver 17 for SQL Server, FreeTDS";
/// The rank of a driver by its name in odbcinst.ini, higher is better; 0: it is none for SQL
/// Server.
[[nodiscard]] int preference(std::string_view name);
/// The number in `ODBC Driver 18 for SQL Server`; 0 in other names.
[[nodiscard]] int microsoft_release(std::string_view name);
[[nodiscard]] bool is_freetds(std::string_view name);

/// A connection string that names its driver, with what the driver needs for tableq's sessions.
[[nodiscard]] std::string with_needs(std::string connect);

/// Whether the driver's first record gives no reason, so that another one may.
[[nodiscard]] bool gives_no_reason(const native_error& what);
/// The mistake in a connection string with which no login began: a driver or a data source that is
/// not there, no server, a wrong value. Empty: the connection failed for another reason.
[[nodiscard]] std::string mistake_in(const std::string& connect, const native_error& what);
/// Explains a refused connection: the reason, and the option that ends it. The dialect judges what
/// no row of the table explains.
/// @param limited the address has the key login_timeout, or could have it
[[nodiscard]] native_failure explained(native_error what, const std::string& connect, bool limited);

}  // namespace tableq::inline v0::drivers::odbc
