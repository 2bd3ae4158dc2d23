#pragma once

/// @file
/// Addresses for the ODBC drivers that speak TDS: FreeTDS and Microsoft's. They take the same words
/// under different keys, and not all of them.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/dialect.hpp>

namespace tableq::drivers::odbc {

struct tds_address {
  std::string connect;  ///< The ODBC connection string. May hold a password.
  std::chrono::milliseconds statement_timeout;
};

/// Writes an address for the driver that it names, or else for the best of those installed. Asks
/// nobody.
///
/// There is no key for how long to wait for a connection: neither driver takes that from its
/// connection string in all releases that are about. Nor is there one for a failover partner, which
/// only Microsoft's driver on Windows knows; elsewhere it would be passed over.
/// @throws error in the name of `backend`: errc::connection_failed when no driver serves,
/// errc::invalid_argument naming what the address or the driver cannot do; never with a value.
tds_address resolve_tds(const connection_url& url, std::string_view backend,
                        const std::vector<std::string>& installed);

}  // namespace tableq::drivers::odbc
