#include "http.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <locale>
#include <system_error>

#include <boost/algorithm/string/case_conv.hpp>

namespace tool::web {

namespace {

const std::string nothing;

const std::string& value_in(const fields& in, std::string_view name) {
  const auto found = in.find(name);
  return found == in.end() ? nothing : found->second;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> unescaped(std::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += plus_is_blank && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = digit_of(text[i + 1]);
    const int low = digit_of(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (out.find('\0') != std::string::npos) return std::nullopt;
  return out;
}

}  // namespace

std::string_view request::header(std::string_view name) const {
  return value_in(headers, name);
}

const std::string& request::asked(std::string_view name) const {
  return value_in(query, name);
}

const std::string& request::given(std::string_view name) const {
  return value_in(form, name);
}

response see_other(const std::string& target) {
  response out = plain(303, "See " + target + "\n");
  out.headers.emplace_back("Location", target);
  return out;
}

response plain(unsigned status, std::string body) {
  return {.status = status, .type = "text/plain; charset=utf-8", .body = std::move(body)};
}

std::optional<fields> read_form(std::string_view text) {
  fields out;
  while (!text.empty()) {
    const std::size_t end = text.find('&');
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (pair.empty()) continue;
    const std::size_t middle = pair.find('=');
    auto name = unescaped(pair.substr(0, middle), true);
    auto value = unescaped(middle == std::string_view::npos ? "" : pair.substr(middle + 1), true);
    if (!name || !value) return std::nullopt;
    out.emplace(std::move(*name), std::move(*value));
  }
  return out;
}

bool read_target(std::string_view target, request& into) {
  into.target = target;
  if (target.empty() || target.front() != '/') return false;
  const std::size_t mark = target.find('?');
  if (mark != std::string_view::npos) {
    auto query = read_form(target.substr(mark + 1));
    if (!query) return false;
    into.query = std::move(*query);
    target = target.substr(0, mark);
  }
  if (target == "/") return true;
  while (!target.empty()) {
    target.remove_prefix(1);
    const std::size_t end = std::min(target.find('/'), target.size());
    auto segment = unescaped(target.substr(0, end), false);
    if (!segment) return false;
    into.path.push_back(std::move(*segment));
    target.remove_prefix(end);
  }
  return true;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain_character = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 (c >= '0' && c <= '9') ||
                                 std::string_view("-_.~").find(c) != std::string_view::npos;
    if (plain_character) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4U];
      out += digits[byte & 0xfU];
    }
  }
  return out;
}

std::string lower_case(std::string_view text) {
  return boost::algorithm::to_lower_copy(std::string(text), std::locale::classic());
}

bool equal_in_constant_time(std::string_view secret, std::string_view given) {
  unsigned differs = secret.size() == given.size() && !secret.empty() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = secret.empty() ? '\0' : secret[i % secret.size()];
    differs |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(other);
  }
  return differs == 0;
}

std::string random_text(std::size_t size) {
  std::array<unsigned char, 64> bytes{};
  size = std::min(size, bytes.size());
  // Up to 256 bytes come at once, and no signal interrupts it.
  if (::getrandom(bytes.data(), size, 0) != static_cast<ssize_t>(size)) {
    throw std::system_error(errno, std::generic_category(), "no random numbers");
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    out += digits[bytes[i] >> 4U];
    out += digits[bytes[i] & 0xfU];
  }
  return out;
}

}  // namespace tool::web
