#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <set>

#include "http.hpp"

namespace tool::web {

/// How the server was started.
struct settings {
  /// The `Host` headers that are answered, with the port as browsers send it, in lower case. Any
  /// other name may be that of a foreign site whose address was changed to this server's.
  std::set<std::string, std::less<>> hosts = {};
  std::string token = {};       ///< Empty: none is needed.
  bool allows_changes = false;  ///< Otherwise every POST but that of the login is refused.
  bool shows_payloads = false;  ///< Headers and results, too.
  bool behind_https = false;    ///< Cookies are sent by HTTPS only, and origins are of HTTPS.
  bool open_metrics = false;    ///< /metrics needs no token.
  std::string prefix = {};      ///< Of all paths, behind a proxy: `/tableq`, or empty.
  std::string cookie = {};      ///< Its name: browsers send a cookie to all ports of a host.
};

/// How a request has shown that it may see the pages.
struct visitor {
  std::string session = {};     ///< Of a login; empty: there was none.
  std::string form_token = {};  ///< Each form has it, each POST brings it back.
};

/// Texts by random names, for a time. Of too many the one that ends first is forgotten.
///
/// @par Thread safety
/// Shared objects: safe.
class kept_texts {
 public:
  explicit kept_texts(std::chrono::seconds age) : age_(age) {}

  /// @return the name.
  std::string keep(std::string text);
  /// Nothing: it was not kept, or is old.
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
  void forget(const std::string& name);

 private:
  using clock = std::chrono::steady_clock;
  const std::chrono::seconds age_;
  mutable std::mutex mutex_;
  std::map<std::string, std::pair<clock::time_point, std::string>, std::less<>>
      all_;  // guarded by mutex_
};

/// The guards that stand before every page.
///
/// Owns the sessions, in memory: after a restart people log in again.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class access {
 public:
  explicit access(settings given) : rules(std::move(given)) {}

  /// Refuses what comes from a foreign name or, for a POST, from a foreign page.
  /// @throws page_error
  void refuse_foreign(const request& from) const;
  /// The visitor; nothing if the token is missing or wrong.
  [[nodiscard]] std::optional<visitor> admit(const request& from);

  /// Compares the token of the login's form. @return the cookie to set; nothing if it is wrong.
  [[nodiscard]] std::optional<std::string> log_in(const request& from);
  /// Ends the session. @return the cookie to set.
  [[nodiscard]] std::string log_out(const visitor& by);

  const settings rules;
  /// Of the login page, and of visitors without a session.
  const std::string open_form_token = random_text();
  /// Sentences for the next page.
  kept_texts notices{std::chrono::minutes{1}};

 private:
  [[nodiscard]] std::string cookie(const std::string& value, std::chrono::seconds age) const;

  static constexpr std::chrono::hours session_length{12};
  kept_texts sessions_{session_length};  ///< Their form tokens.
};

}  // namespace tool::web
