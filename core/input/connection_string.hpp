#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::core {

/// Splits `scheme://rest?key=value&key=value` and decodes percent-encodings.
/// @throws error errc::invalid_argument; the message never quotes the string.
connection_url parse_connection_string(std::string_view url);

/// Reads `250ms`, `5s`, `2m`, `1h` or `7d`.
/// @throws error errc::invalid_argument naming the key and the range.
std::chrono::milliseconds parse_duration(std::string_view key, std::string_view text,
                                         std::chrono::milliseconds least,
                                         std::chrono::milliseconds most);

/// A key in a form for errors: quoted, cut at 40 characters, unsafe characters replaced.
std::string shown(std::string_view key);

}  // namespace tableq::inline v0::core
