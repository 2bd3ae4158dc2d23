#pragma once

/// @file
/// Addresses in libpq's forms: its URI with its parameters, and `key=value key=value` after the
/// scheme. For the dialects on libpq.

#include <libpq-fe.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tableq/unstable/dialect.hpp>

#include "core/base/errors.hpp"
#include "core/input/connection_string.hpp"
#include "drivers/transport/forks.hpp"

namespace tableq::inline v0::drivers::libpq {

struct free_options {
  void operator()(PQconninfoOption* all) const noexcept { PQconninfoFree(all); }
};
using options = std::unique_ptr<PQconninfoOption, free_options>;

inline const PQconninfoOption* find(const options& parsed, std::string_view key) noexcept {
  for (const PQconninfoOption* one = parsed.get(); one != nullptr && one->keyword != nullptr;
       ++one) {
    if (key == one->keyword) return one;
  }
  return nullptr;
}

inline bool given(const options& parsed, std::string_view key) noexcept {
  const PQconninfoOption* found = find(parsed, key);
  return found != nullptr && found->val != nullptr;
}

inline void check_key(const options& known, std::string_view key) {
  // libpq reads JDBC's ssl=true as sslmode=require.
  if (key == "ssl" || find(known, key) != nullptr) return;
  core::refuse("unknown key " + core::shown(key) +
               "; known are libpq's, such as sslmode and connect_timeout, and pooling");
}

inline bool blank(char c) noexcept {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Whether the text begins with `key=`: libpq's other form.
inline bool in_key_value_form(std::string_view text) noexcept {
  const auto* const end = std::find_if_not(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || blank(c);
  });
  return end != text.begin() && end != text.end() && *end == '=';
}

/// The only key that tableq adds.
inline constexpr std::string_view pooling_key = "pooling";

/// @return whether a pooler gives each transaction another session.
inline bool pooled(std::string_view value) {
  if (value != "transaction" && value != "session")
    core::refuse("pooling takes session or transaction");
  return value == "transaction";
}

/// Checks the keys of `host=h password='a \'b'`, stepping over the values as libpq does, and takes
/// out `pooling=`. @return what it says; empty when it is not given.
inline std::optional<bool> check_key_value_form(const options& known, std::string& text) {
  std::optional<bool> pooling;
  std::size_t i = 0;
  const auto skip_blanks = [&] {
    while (i < text.size() && blank(text[i])) ++i;
  };
  for (skip_blanks(); i < text.size(); skip_blanks()) {
    const std::size_t start = i;
    while (i < text.size() && text[i] != '=' && !blank(text[i])) ++i;
    const std::string key = text.substr(start, i - start);
    skip_blanks();
    if (i == text.size() || text[i] != '=')
      core::refuse("a value without a key, or a key without one");
    const bool ours = key == pooling_key;
    if (!ours) check_key(known, key);
    ++i;
    skip_blanks();
    const bool quoted = i < text.size() && text[i] == '\'';
    if (quoted) ++i;
    const std::size_t value = i;
    for (; i < text.size() && (quoted ? text[i] != '\'' : !blank(text[i])); ++i) {
      if (text[i] == '\\') ++i;
    }
    i = std::min(i, text.size());
    const std::size_t end = quoted ? std::min(i + 1, text.size()) : i;
    if (ours) {
      pooling = pooled(std::string_view(text).substr(value, i - value));
      text.erase(start, end - start);
    }
    i = ours ? start : end;
  }
  return pooling;
}

/// Takes `pooling=` out of a URI's keys. @return what it says; empty when it is not given.
inline std::optional<bool> take_pooling(const connection_url& url, std::string& text) {
  const auto given = url.settings.find(std::string(pooling_key));
  const std::size_t query = text.find('?');
  if (given == url.settings.end() || query == std::string::npos) return std::nullopt;
  std::string kept;
  std::string_view rest = std::string_view(text).substr(query + 1);
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one.starts_with(pooling_key) && one.substr(pooling_key.size()).starts_with('=')) continue;
    kept.append(kept.empty() ? "?" : "&").append(one);
  }
  text.replace(query, text.size() - query, kept);
  return pooled(given->second);
}

inline std::string encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.') {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4U];
      out += digits[byte & 0xfU];
    }
  }
  return out;
}

/// Reads either form as libpq does. libpq's messages may quote the password, and are not shown.
/// @param pooling becomes what the key that tableq adds says.
inline options parse(const connection_url& url, std::optional<bool>& pooling) {
  const fork_guard guard;
  const options known(PQconndefaults());
  std::string text = url.raw.substr(url.raw.find("://") + 3);
  if (in_key_value_form(text)) {
    pooling = check_key_value_form(known, text);
  } else {
    if (!url.problem.empty()) core::refuse(url.problem);
    for (const auto& [key, value] : url.settings) {
      if (key != pooling_key) check_key(known, key);
    }
    pooling = take_pooling(url, text);
    text.insert(0, "postgresql://");
  }
  char* complaint = nullptr;
  options out(PQconninfoParse(text.c_str(), &complaint));
  PQfreemem(complaint);
  if (!out) {
    core::refuse(
        "libpq cannot read this address; write postgresql://user@host:5432/database?key=value, and "
        "characters such as / @ : ? % within a part as %2F %40 %3A %3F %25");
  }
  return out;
}

/// A special character in a password that was not encoded moves part of it into the host or the
/// port, which libpq's messages quote.
inline void check_place(const options& parsed) {
  const auto value = [&parsed](std::string_view key) {
    return given(parsed, key) ? std::string_view(find(parsed, key)->val) : std::string_view();
  };
  const std::string_view host = value("host");
  const bool spilled =
      host.find('@', 1) != std::string_view::npos && host.find(",@") == std::string_view::npos;
  if (spilled || value("port").find_first_not_of("0123456789,") != std::string_view::npos) {
    core::refuse(
        "a host or port with characters that none has; in a user's name or password write / @ : ? "
        "% "
        "as %2F %40 %3A %3F %25");
  }
}

inline bool several_hosts(const options& parsed) noexcept {
  const auto several = [&](std::string_view key) {
    return given(parsed, key) &&
           std::string_view(find(parsed, key)->val).find(',') != std::string_view::npos;
  };
  return several("host") || several("hostaddr");
}

/// The address for SOCI with its defaults, and whether it is that of a pooler.
struct address {
  std::string connect;
  bool pooled = false;
  bool told = false;  ///< The address says which mode a pooler has.
};

/// @throws error errc::invalid_argument naming an unknown key; never with a value.
inline address resolve_address(const connection_url& url) {
  std::optional<bool> pooling;
  const options wanted = parse(url, pooling);
  const bool is_pooled = pooling.value_or(false);
  check_place(wanted);
  const options defaults(PQconndefaults());
  // The address is written again with every special character encoded, because SOCI splits the text
  // at `=` and at blanks.
  std::string out = "postgresql://?";
  const auto add = [&out](std::string_view key, std::string_view value) {
    if (out.back() != '?') out += '&';
    out += key;
    out += '=';
    out += encoded(value);
  };
  for (const PQconninfoOption* one = wanted.get(); one->keyword != nullptr; ++one) {
    const bool replaced = is_pooled && one->keyword == std::string_view("client_encoding");
    if (one->val != nullptr && !replaced) add(one->keyword, one->val);
  }
  // Sent with the login, because poolers keep it for each client; they do not keep the set-up.
  if (is_pooled) add("client_encoding", "UTF8");
  const auto add_default = [&](std::string_view key, std::string_view value) {
    if (!given(wanted, key) && !given(defaults, key)) add(key, value);
  };
  // Without a limit an address that drops packets would block the caller for minutes.
  if (several_hosts(wanted)) {
    // The limits are for each host: another one may take writes.
    add_default("connect_timeout", "3");
    add_default("tcp_user_timeout", "4000");
    add_default("keepalives_idle", "2");
    add_default("keepalives_interval", "1");
    add_default("keepalives_count", "2");
    // libpq's own default, `any`, also takes a standby.
    const PQconninfoOption* const servers = find(defaults, "target_session_attrs");
    const bool any =
        servers != nullptr && servers->val != nullptr && std::string_view(servers->val) == "any";
    if (any && !given(wanted, "target_session_attrs")) add("target_session_attrs", "read-write");
  } else {
    add_default("connect_timeout", "10");
  }
  if (!given(wanted, "fallback_application_name")) add("fallback_application_name", "tableq");
  return {.connect = std::move(out), .pooled = is_pooled, .told = pooling.has_value()};
}

}  // namespace tableq::inline v0::drivers::libpq
