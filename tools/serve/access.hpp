#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http.hpp"

namespace tool::web {

/// The rights of clients.
struct access_rules {
  /// The `Host` headers that are answered, with the port as browsers send it, in lower case. Any
  /// other name may be that of a foreign site whose address was changed to this server's.
  std::set<std::string, std::less<>> hosts = {};
  std::string token = {};       ///< Empty: none is needed.
  bool allows_changes = false;  ///< Otherwise every POST but that of the login is refused.
  bool behind_https = false;    ///< Cookies are sent by HTTPS only, and origins are of HTTPS.
  bool open_metrics = false;    ///< /metrics needs no token.
  /// Of the cookie: browsers send one to all ports of a host.
  std::string cookie_name = "tableq";
  std::string cookie_path = "/";
};

/// How a request has shown that it may see the pages.
struct visitor {
  std::string session = {};     ///< Of a login; empty: there was none.
  std::string form_token = {};  ///< Each form has it, each POST brings it back.
};

/// The guards that stand before every page.
///
/// Owns the sessions, in memory: after a restart people log in again.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class access {
 public:
  explicit access(access_rules rules);

  [[nodiscard]] const access_rules& rules() const { return rules_; }

  /// A refusal of what comes from a foreign name or, for a POST, from a foreign page.
  [[nodiscard]] std::optional<response> refuse_foreign(const request& from) const;
  /// The visitor; nothing if the token is missing or wrong.
  [[nodiscard]] std::optional<visitor> admit(const request& from);
  /// Whether the form of a POST came from a page of this visitor.
  [[nodiscard]] bool is_own_form(const visitor& by, const request& from) const;

  /// Compares the token of the login's form. @return the cookie to set; nothing if it is wrong.
  [[nodiscard]] std::optional<std::string> log_in(const request& from);
  /// Ends the session. @return the cookie to set.
  [[nodiscard]] std::string log_out(const visitor& by);
  /// The form token of the login page.
  [[nodiscard]] const std::string& open_form_token() const { return open_form_token_; }

  /// Keeps a sentence for the next page. @return the name by which `notice` finds it.
  std::string leave_notice(std::string sentence);
  /// The sentence; empty if it was not left, or is old.
  [[nodiscard]] std::string notice(std::string_view name);

 private:
  using clock = std::chrono::steady_clock;
  struct session {
    std::string form_token;
    clock::time_point until;
  };
  struct left_notice {
    std::string sentence;
    clock::time_point until;
  };
  [[nodiscard]] std::string cookie(const std::string& value, std::chrono::seconds age) const;

  access_rules rules_;
  std::string open_form_token_ = random_text();
  std::mutex mutex_;
  std::map<std::string, session, std::less<>> sessions_;     // guarded by mutex_
  std::map<std::string, left_notice, std::less<>> notices_;  // guarded by mutex_
};

}  // namespace tool::web
