#include "access.hpp"

#include <algorithm>
#include <utility>

namespace tool::web {

namespace {

constexpr std::chrono::hours session_length{12};
constexpr std::size_t most_sessions = 1000;
constexpr std::size_t most_notices = 1000;

std::string_view cookie_of(const request& from, std::string_view cookie_name) {
  std::string_view all = from.header("cookie");
  while (!all.empty()) {
    const std::size_t end = all.find(';');
    std::string_view one = all.substr(0, end);
    all.remove_prefix(end == std::string_view::npos ? all.size() : end + 1);
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(cookie_name) && one.substr(cookie_name.size()).starts_with('=')) {
      return one.substr(cookie_name.size() + 1);
    }
  }
  return {};
}

/// `Bearer TOKEN`
std::string_view bearer_of(const request& from) {
  constexpr std::string_view scheme = "bearer ";
  const std::string_view all = from.header("authorization");
  const bool is_one = lower_case(all.substr(0, scheme.size())) == scheme;
  return is_one ? all.substr(scheme.size()) : std::string_view();
}

/// Removes what is over, and the one that ends first when there are too many.
template <class Map, class Time>
void tidy(Map& all, Time now, std::size_t most) {
  std::erase_if(all, [&](const auto& each) { return each.second.until <= now; });
  while (all.size() >= most) {
    all.erase(std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.second.until < b.second.until;
    }));
  }
}

}  // namespace

access::access(access_rules rules) : rules_(std::move(rules)) {}

std::optional<response> access::refuse_foreign(const request& from) const {
  const std::string host = lower_case(from.header("host"));
  if (!rules_.hosts.contains(host)) {
    return plain(403,
                 "This server does not answer for the name in the address. Start it with "
                 "--host NAME if the name is right.\n");
  }
  if (!from.posts) return std::nullopt;
  // Browsers send at least one of both with a POST. A program that sends neither has the form
  // token.
  const std::string_view origin = from.header("origin");
  const std::string_view site = from.header("sec-fetch-site");
  const bool own_origin = origin.empty() || origin == "https://" + host ||
                          (!rules_.behind_https && origin == "http://" + host);
  const bool own_site = site.empty() || site == "same-origin";
  if (own_origin && own_site) return std::nullopt;
  return plain(403, "A page of another site has sent this form. Nothing was changed.\n");
}

std::optional<visitor> access::admit(const request& from) {
  if (rules_.token.empty()) return visitor{.form_token = open_form_token_};
  const std::string_view bearer = bearer_of(from);
  if (!bearer.empty()) {
    if (!equal_in_constant_time(rules_.token, bearer)) return std::nullopt;
    return visitor{.form_token = open_form_token_};
  }
  const std::string_view cookie = cookie_of(from, rules_.cookie_name);
  if (cookie.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(cookie);
  if (found == sessions_.end() || found->second.until <= clock::now()) return std::nullopt;
  return visitor{.session = found->first, .form_token = found->second.form_token};
}

bool access::is_own_form(const visitor& by, const request& from) const {
  return equal_in_constant_time(by.form_token, from.given("form"));
}

std::optional<std::string> access::log_in(const request& from) {
  if (!equal_in_constant_time(open_form_token_, from.given("form"))) return std::nullopt;
  if (!equal_in_constant_time(rules_.token, from.given("token"))) return std::nullopt;
  const std::string name = random_text();
  const std::lock_guard lock(mutex_);
  const auto now = clock::now();
  tidy(sessions_, now, most_sessions);
  sessions_[name] = {.form_token = random_text(), .until = now + session_length};
  return cookie(name, session_length);
}

std::string access::log_out(const visitor& by) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(by.session);
  return cookie("", std::chrono::seconds{0});
}

std::string access::cookie(const std::string& value, std::chrono::seconds age) const {
  return rules_.cookie_name + "=" + value + "; Path=" + rules_.cookie_path +
         "; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(age.count()) +
         (rules_.behind_https ? "; Secure" : "");
}

std::string access::leave_notice(std::string sentence) {
  std::string name = random_text(8);
  const std::lock_guard lock(mutex_);
  const auto now = clock::now();
  tidy(notices_, now, most_notices);
  notices_[name] = {.sentence = std::move(sentence), .until = now + std::chrono::minutes{1}};
  return name;
}

std::string access::notice(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = notices_.find(name);
  return found == notices_.end() ? std::string() : found->second.sentence;
}

}  // namespace tool::web
