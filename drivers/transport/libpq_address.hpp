#pragma once

/// @file
/// Addresses as libpq takes them: its URI with its parameters, and `key=value key=value` behind the
/// scheme. For the dialects that ride on libpq.

#include <libpq-fe.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>

#include <tableq/dialect.hpp>
#include <tableq/error.hpp>

#include "core/connection_string.hpp"

namespace tableq::drivers::libpq {

struct free_options {
  void operator()(PQconninfoOption* all) const noexcept { PQconninfoFree(all); }
};
using options = std::unique_ptr<PQconninfoOption, free_options>;

[[noreturn]] inline void refuse(const std::string& sentence) {
  throw error(errc::invalid_argument, advice::never, sentence, {.operation = "connect"});
}

inline const PQconninfoOption* find(const options& in, std::string_view key) noexcept {
  for (const PQconninfoOption* one = in.get(); one != nullptr && one->keyword != nullptr; ++one) {
    if (key == one->keyword) return one;
  }
  return nullptr;
}

inline bool given(const options& in, std::string_view key) noexcept {
  const PQconninfoOption* found = find(in, key);
  return found != nullptr && found->val != nullptr;
}

inline void check_key(const options& known, std::string_view key) {
  // libpq reads ssl=true, as JDBC writes it, as sslmode=require.
  if (key == "ssl" || find(known, key) != nullptr) return;
  refuse("unknown key " + core::shown(key) +
         "; known are libpq's, such as sslmode and connect_timeout");
}

inline bool blank(char c) noexcept {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Whether the text begins as `key=`, and so is in libpq's other form.
inline bool in_key_value_form(std::string_view text) noexcept {
  const auto* const end = std::find_if_not(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || blank(c);
  });
  return end != text.begin() && end != text.end() && *end == '=';
}

/// Checks the keys of `host=h password='a \'b'`, stepping over the values as libpq does.
inline void check_key_value_form(const options& known, std::string_view text) {
  std::size_t i = 0;
  const auto skip_blanks = [&] {
    while (i < text.size() && blank(text[i])) ++i;
  };
  for (skip_blanks(); i < text.size(); skip_blanks()) {
    const std::size_t start = i;
    while (i < text.size() && text[i] != '=' && !blank(text[i])) ++i;
    const std::string_view key = text.substr(start, i - start);
    skip_blanks();
    if (i == text.size() || text[i] != '=') refuse("a value without a key, or a key without one");
    check_key(known, key);
    ++i;
    skip_blanks();
    const bool quoted = i < text.size() && text[i] == '\'';
    if (quoted) ++i;
    for (; i < text.size() && (quoted ? text[i] != '\'' : !blank(text[i])); ++i) {
      if (text[i] == '\\') ++i;
    }
    if (quoted) ++i;
  }
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

/// Reads either form as libpq does. Its own messages may quote the password: they are not shown.
inline options parse(const connection_url& url) {
  const options known(PQconndefaults());
  std::string text = url.raw.substr(url.raw.find("://") + 3);
  if (in_key_value_form(text)) {
    check_key_value_form(known, text);
  } else {
    if (!url.problem.empty()) refuse(url.problem);
    for (const auto& [key, value] : url.settings) check_key(known, key);
    text.insert(0, "postgresql://");
  }
  char* complaint = nullptr;
  options out(PQconninfoParse(text.c_str(), &complaint));
  PQfreemem(complaint);
  if (!out) {
    refuse(
        "libpq cannot read this address; write postgresql://user@host:5432/database?key=value, and "
        "characters such as / @ : ? % within a part as %2F %40 %3A %3F %25");
  }
  return out;
}

/// A special character of a password that was not encoded moves part of it into the host or the
/// port, which libpq's messages quote.
inline void check_place(const options& in) {
  const auto value = [&in](std::string_view key) {
    return given(in, key) ? std::string_view(find(in, key)->val) : std::string_view();
  };
  const std::string_view host = value("host");
  const bool spilled =
      host.find('@', 1) != std::string_view::npos && host.find(",@") == std::string_view::npos;
  if (spilled || value("port").find_first_not_of("0123456789,") != std::string_view::npos) {
    refuse(
        "a host or port with characters that none has; in a user's name or password write / @ : ? "
        "% "
        "as %2F %40 %3A %3F %25");
  }
}

/// The address for SOCI to connect with, defaults filled in.
/// @throws error errc::invalid_argument naming an unknown key; never with a value.
inline std::string connect_string(const connection_url& url) {
  const options wanted = parse(url);
  check_place(wanted);
  const options defaults(PQconndefaults());
  // Written anew with every special character encoded: SOCI takes the text apart at `=` and at
  // blanks.
  std::string out = "postgresql://?";
  const auto add = [&out](std::string_view key, std::string_view value) {
    if (out.back() != '?') out += '&';
    out += key;
    out += '=';
    out += encoded(value);
  };
  for (const PQconninfoOption* one = wanted.get(); one->keyword != nullptr; ++one) {
    if (one->val != nullptr) add(one->keyword, one->val);
  }
  // Without it an address that drops packets would hold up the caller for minutes.
  if (!given(wanted, "connect_timeout") && !given(defaults, "connect_timeout")) {
    add("connect_timeout", "10");
  }
  if (!given(wanted, "fallback_application_name")) add("fallback_application_name", "tableq");
  return out;
}

}  // namespace tableq::drivers::libpq
