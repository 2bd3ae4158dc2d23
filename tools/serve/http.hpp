#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tool::web {

/// Names and values of a query or of a form; of several equal names the first.
using fields = std::map<std::string, std::string, std::less<>>;

/// A request, as the server hands it over: whole, within its limits, decoded.
struct request {
  bool posts = false;             ///< POST; otherwise GET or HEAD.
  std::string target;             ///< Path and query as sent.
  std::vector<std::string> path;  ///< Its segments, decoded: `/db/1` has two, `/` none.
  fields query;
  fields form;     ///< Of a POST.
  fields headers;  ///< By names in lower case.

  /// Empty without it.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  /// The value of the query; empty without it.
  [[nodiscard]] const std::string& asked(std::string_view name) const;
  /// The value of the form; empty without it.
  [[nodiscard]] const std::string& given(std::string_view name) const;
};

/// An answer to a request.
struct response {
  unsigned status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// To another page, after a POST.
response see_other(const std::string& target);
response plain(unsigned status, std::string body);

/// Fills in path and query. Nothing for a target that is not one: a wrong escape, a NUL.
[[nodiscard]] bool read_target(std::string_view target, request& into);

/// `a=1&b=2+3`. Nothing for a wrong escape.
std::optional<fields> read_form(std::string_view text);

/// For a part of a path or a query: everything but letters, digits, `-`, `_`, `.` and `~` is
/// escaped.
std::string escaped(std::string_view text);

/// ASCII letters in lower case.
std::string lower_case(std::string_view text);

/// Compares in a time that depends on the length of `given` only.
bool equal_in_constant_time(std::string_view secret, std::string_view given);

/// `size` random bytes of the system, in hexadecimal digits.
std::string random_text(std::size_t size = 16);

}  // namespace tool::web
