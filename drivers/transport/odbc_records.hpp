#pragma once

/// @file
/// An ODBC handle's diagnostic records, and the declared types of parameters, by the driver. For
/// the transport odbc only.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "drivers/transport/odbc_api.hpp"

namespace tableq::inline v0::drivers::odbc {

/// The type and the size with which a parameter is bound.
struct declared_type {
  SQLSMALLINT type = 0;
  SQLULEN size = 0;
};

/// An answer of the driver about itself or the database; empty if it has none.
[[nodiscard]] inline std::string information(SQLHDBC link, SQLUSMALLINT what) {
  std::array<SQLCHAR, 4096> name{};
  SQLSMALLINT length = 0;
  const SQLRETURN result =
      SQLGetInfo(link, what, name.data(), static_cast<SQLSMALLINT>(name.size()), &length);
  return SQL_SUCCEEDED(result) ? reinterpret_cast<const char*>(name.data()) : std::string();
}

/// Of bytes.
/// @param unlimited driver_ways::unlimited. Other drivers get a long type with a size above 0,
/// which they take for any value.
[[nodiscard]] constexpr declared_type type_of_bytes(bool unlimited, std::size_t length) noexcept {
  if (unlimited) return {SQL_VARBINARY, 0};
  return {SQL_LONGVARBINARY, std::max<std::size_t>(length, 1)};
}

/// Of text, by its number of units: a short one has the same declared size always, so that a server
/// keeps one plan for a statement.
[[nodiscard]] constexpr declared_type type_of_text(bool unlimited, std::size_t length) noexcept {
  constexpr std::size_t short_text = 4000;
  if (length <= short_text) return {SQL_WVARCHAR, short_text};
  if (unlimited) return {SQL_WVARCHAR, 0};
  return {SQL_WLONGVARCHAR, length};
}

/// One line of a driver's message, without the leading `[vendor][part]` and the driver's remarks
/// after it.
[[nodiscard]] std::string plain_sentence(std::string_view message);

/// The handle's records: what the server says before what the driver adds, warnings and remarks
/// last. Empty if it has none.
[[nodiscard]] std::vector<native_error> records_of(SQLSMALLINT kind, SQLHANDLE handle);

}  // namespace tableq::inline v0::drivers::odbc
