#pragma once

/// @file
/// `scheme://user:password@host:port/database?key=value`, for databases whose ODBC drivers have no
/// such form.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/error.hpp>
#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::drivers::odbc {

/// The parts of an address before the question mark, each decoded. Missing parts are empty.
struct uri {
  std::string user;
  std::string password;
  std::string host;  ///< Without the brackets of IPv6. May hold a backslash and an instance.
  std::optional<std::uint16_t> port;
  std::string database;
};

/// Splits an address. Only ASCII is allowed: driver managers widen the bytes of a connection string
/// one by one, and the server would see other characters.
/// @throws error errc::invalid_argument in the name of `backend`; never with a part of the address.
uri parse_uri(const connection_url& url, std::string_view backend);

/// Refuses control characters, and characters other than ASCII, naming the part.
void check_characters(std::string_view backend, std::string_view part, std::string_view value);

/// Throws the error of an address.
[[noreturn]] void refuse(std::string_view backend, const std::string& sentence,
                         errc code = errc::invalid_argument);

}  // namespace tableq::inline v0::drivers::odbc
