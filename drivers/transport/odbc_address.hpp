#pragma once

/// @file
/// ODBC's connection strings, `Key=value;Key={value};`. Independent of databases and drivers.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// False if, by a failed connect's SQLSTATE, the driver is missing or cannot be loaded.
bool loads_driver(std::string_view sqlstate) noexcept;

/// The end of the sentence of a failed connect: what to check or to install. May be empty.
std::string advice_for_connect(std::string_view sqlstate);

}  // namespace tableq::inline v0::drivers::odbc
