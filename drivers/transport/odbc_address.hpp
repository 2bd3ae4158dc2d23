#pragma once

/// @file
/// ODBC's connection strings, `Key=value;Key={value};`, and addresses as
/// `scheme://user:password@host:port/database?key=value`, for databases whose ODBC drivers have no
/// such form.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::drivers::odbc {

/// The text of a value after `Key=`. A value with a character that could be read as syntax is put
/// in braces, and its closing braces are doubled. The caller has refused control characters.
std::string quoted(std::string_view value);

/// A value in a form with the same meaning for all drivers: some read a doubled brace as one,
/// others as two. Empty if there is no such form: `}` together with `;`, or with `{` at the
/// beginning.
std::optional<std::string> quoted_without_doubling(std::string_view value);

/// Builds a connection string.
class builder {
 public:
  /// Appends `Key=value;`. The caller has quoted the value, or it holds no syntax.
  builder& add(std::string_view key, std::string_view value);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// One `Key=value` of a connection string.
struct attribute {
  std::string key;      ///< Upper case, without the blanks around it.
  std::string value;    ///< Without braces; doubled braces become single.
  std::string written;  ///< The value as the string has it.
};

/// Splits a connection string as driver managers do. Skips malformed parts.
std::vector<attribute> parse(std::string_view connection_string);

/// A driver's message without the passwords of the connection string: each becomes `***`. If the
/// stars would reveal the password, because it is short or a plain word, the whole sentence is
/// replaced.
std::string without_secrets(std::string sentence, std::string_view connection_string);

/// The connection string, with a key that no driver knows and a value that no other call returns. A
/// driver manager that pools sessions compares whole strings.
std::string unshared(std::string_view connection_string);

/// The text after `odbc://`, unchanged.
/// @throws error errc::invalid_argument when it is not a connection string; the error never quotes
///   it.
std::string raw_connection_string(const connection_url& url);

/// The names of the driver manager's drivers, in its order.
/// @throws error errc::connection_failed when there is no driver manager.
std::vector<std::string> installed_drivers();

/// `installed are: A, B`, and how to get others.
std::string listed_drivers();

/// No data source, or no driver, of the name.
inline constexpr std::string_view no_such_source = "IM002";
/// Whether, by a failed connect's SQLSTATE, the driver or its library is missing.
bool missing_driver(std::string_view sqlstate) noexcept;
/// False if, by the same, the driver is missing or cannot be loaded.
bool loads_driver(std::string_view sqlstate) noexcept;

/// The end of the sentence of a failed connect: what to check or to install. May be empty.
std::string advice_for_connect(std::string_view sqlstate);

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
