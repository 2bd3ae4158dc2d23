#pragma once

/// @file
/// The connection string that ODBC takes, `Key=value;Key={value};`, as a thing of its own: it knows
/// no database and no driver.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/dialect.hpp>

namespace tableq::drivers::odbc {

/// A value as it stands behind `Key=`, in braces where anything in it could be read as syntax, and
/// then with each closing brace doubled. The caller has refused control characters.
std::string quoted(std::string_view value);

/// A value in a form that means the same to drivers that read a doubled brace as one and to those
/// that read it as two. Empty when there is no such form: `}` together with `;`, or with `{` at the
/// beginning.
std::optional<std::string> quoted_without_doubling(std::string_view value);

/// A connection string in the making.
class builder {
 public:
  /// Appends `Key=value;`. The value is quoted already, or known to hold no syntax.
  builder& add(std::string_view key, std::string_view value);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// One `Key=value` of a connection string.
struct attribute {
  std::string key;      ///< Upper case, without the blanks around it.
  std::string value;    ///< Without braces, doubled ones made one.
  std::string written;  ///< The value as it stands in the string.
};

/// Takes a connection string apart as driver managers do. Reads on past what is not well formed.
std::vector<attribute> parse(std::string_view connection_string);

/// A driver's sentence without the passwords of the connection string: each becomes `***`. Where
/// the stars would tell what they hide, because the password is short or a plain word, the whole
/// sentence is replaced.
std::string without_secrets(std::string sentence, std::string_view connection_string);

/// What follows `odbc://`, as it was given.
/// @throws error errc::invalid_argument when that is no connection string; never with a part of it.
std::string raw_connection_string(const connection_url& url);

/// The names of the drivers that the driver manager knows, in its order.
/// @throws error errc::connection_failed when there is no driver manager to ask.
std::vector<std::string> installed_drivers();

}  // namespace tableq::drivers::odbc
