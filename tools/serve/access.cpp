#include "access.hpp"

#include <algorithm>

namespace tool::web {

namespace {

constexpr std::size_t most_texts = 1000;

std::string cookie_of(const request& from, const std::string& name) {
  for (const std::string& each : split(from.headers["cookie"], ';')) {
    const std::string one = each.substr(std::min(each.find_first_not_of(' '), each.size()));
    if (one.starts_with(name + "=")) return one.substr(name.size() + 1);
  }
  return {};
}

/// `Bearer TOKEN`
std::string bearer_of(const request& from) {
  constexpr std::string_view scheme = "bearer ";
  const std::string& all = from.headers["authorization"];
  const bool is_one = lower_case(all.substr(0, scheme.size())) == scheme;
  return is_one ? all.substr(scheme.size()) : std::string();
}

}  // namespace

std::string kept_texts::keep(std::string text) {
  std::string name = random_text();
  const std::lock_guard lock(mutex_);
  const auto now = clock::now();
  std::erase_if(all_, [&](const auto& each) { return each.second.first <= now; });
  if (all_.size() >= most_texts) {
    all_.erase(
        std::ranges::min_element(all_, {}, [](const auto& each) { return each.second.first; }));
  }
  all_[name] = {now + age_, std::move(text)};
  return name;
}

std::optional<std::string> kept_texts::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(name);
  const bool fresh = found != all_.end() && clock::now() < found->second.first;
  return fresh ? std::optional(found->second.second) : std::nullopt;
}

void kept_texts::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  all_.erase(name);
}

void access::refuse_foreign(const request& from) const {
  const std::string host = lower_case(from.headers["host"]);
  if (!rules.hosts.contains(host)) {
    throw page_error(403,
                     "This server does not answer for the name in the address. Start it with "
                     "--host NAME if the name is right.");
  }
  if (!from.posts) return;
  // Browsers send at least one of both with a POST. A program that sends neither has the form
  // token.
  const std::string& origin = from.headers["origin"];
  const std::string& site = from.headers["sec-fetch-site"];
  const bool own_origin = origin.empty() || origin == "https://" + host ||
                          (!rules.behind_https && origin == "http://" + host);
  if (own_origin && (site.empty() || site == "same-origin")) return;
  throw page_error(403, "A page of another site has sent this form. Nothing was changed.");
}

std::optional<visitor> access::admit(const request& from) {
  if (rules.token.empty()) return visitor{.form_token = open_form_token};
  if (const std::string bearer = bearer_of(from); !bearer.empty()) {
    if (!equal_in_constant_time(rules.token, bearer)) return std::nullopt;
    return visitor{.form_token = open_form_token};
  }
  const std::string session = cookie_of(from, rules.cookie);
  const auto form_token = sessions_.find(session);
  if (!form_token) return std::nullopt;
  return visitor{.session = session, .form_token = *form_token};
}

std::optional<std::string> access::log_in(const request& from) {
  if (!equal_in_constant_time(open_form_token, from.form["form"])) return std::nullopt;
  if (!equal_in_constant_time(rules.token, from.form["token"])) return std::nullopt;
  return cookie(sessions_.keep(random_text()), session_length);
}

std::string access::log_out(const visitor& by) {
  sessions_.forget(by.session);
  return cookie("", std::chrono::seconds{0});
}

std::string access::cookie(const std::string& value, std::chrono::seconds age) const {
  return rules.cookie + "=" + value + "; Path=" + rules.prefix +
         "/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(age.count()) +
         (rules.behind_https ? "; Secure" : "");
}

}  // namespace tool::web
