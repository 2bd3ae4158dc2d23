#pragma once

/// @file
/// Addresses for the ODBC drivers of the protocol TDS: FreeTDS and Microsoft's. They use different
/// keys for the same settings, and each lacks some.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::drivers::odbc {

struct tds_address {
  std::string connect;  ///< The ODBC connection string. May hold a password.
  std::chrono::milliseconds statement_timeout;
};

/// Writes the address for the driver that it names, or for the best installed driver. Makes no
/// connection.
///
/// There is no key for a failover partner: only Microsoft's driver on Windows has it, and others
/// would ignore it.
/// @throws error in the name of `backend`: errc::connection_failed when there is no suitable
///   driver, errc::invalid_argument naming an unsupported key of the address or the driver; never
///   with a value.
tds_address resolve_tds(const connection_url& url, std::string_view backend,
                        const std::vector<std::string>& installed);

}  // namespace tableq::inline v0::drivers::odbc
