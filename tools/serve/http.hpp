#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tool::web {

/// Names and values of a query or of a form; of several equal names the first.
struct fields : std::map<std::string, std::string, std::less<>> {
  /// The value; empty without it.
  const std::string& operator[](std::string_view name) const;
};

/// A request, as the server hands it over: whole, within its limits, decoded.
struct request {
  bool posts = false;       ///< POST; otherwise GET or HEAD.
  std::string target = {};  ///< Path and query as sent.
  /// Its segments below the prefix, decoded: `/db/1` has two, `/` an empty one.
  std::vector<std::string> path = {};
  fields query = {};
  fields form = {};     ///< Of a POST.
  fields headers = {};  ///< By names in lower case.
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

/// An answer other than the page: its sentence stands on a page of its own.
class page_error : public std::runtime_error {
 public:
  page_error(unsigned status, const std::string& sentence)
      : runtime_error(sentence), status_(status) {}
  [[nodiscard]] unsigned status() const { return status_; }

 private:
  unsigned status_;
};

/// Fills in the path below the prefix, and the query. @throws page_error for a target that is not
/// one: a wrong escape, a NUL, another prefix.
void read_target(std::string_view target, std::string_view prefix, request& into);

/// `a=1&b=2+3`. @throws page_error for a wrong escape.
fields read_form(const std::string& text);

/// The parts between the separators.
std::vector<std::string> split(std::string_view text, char separator);

/// For a part of a path or a query: everything but letters, digits, `-`, `_`, `.` and `~` is
/// escaped.
std::string escaped(std::string_view text);

/// ASCII letters in lower case.
std::string lower_case(std::string_view text);

/// Compares in a time that depends on the length of `given` only.
bool equal_in_constant_time(std::string_view secret, std::string_view given);

/// 122 random bits of the system.
std::string random_text();

}  // namespace tool::web
