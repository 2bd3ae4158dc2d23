#include "http.hpp"

#include <charconv>
#include <iterator>
#include <locale>
#include <system_error>

#include <boost/algorithm/hex.hpp>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace tool::web {

namespace {

std::string unescaped(std::string_view text, bool plus_is_blank = true) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = plus_is_blank && text[i] == '+' ? ' ' : text[i];
    if (c == '%') {
      const std::string_view digits = text.substr(i + 1, 2);
      unsigned char byte = 0;
      const auto [end, wrong] =
          std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (wrong != std::errc() || end != digits.data() + 2) {
        throw page_error(400, "A % in the address or the form begins no escape.");
      }
      c = static_cast<char>(byte);
      i += 2;
    }
    if (c == '\0') throw page_error(400, "The address or the form has a NUL character.");
    out += c;
  }
  return out;
}

}  // namespace

const std::string& fields::operator[](std::string_view name) const {
  static const std::string nothing;
  const auto at = find(name);
  return at == end() ? nothing : at->second;
}

response see_other(const std::string& target) {
  response out = plain(303, "See " + target + "\n");
  out.headers.emplace_back("Location", target);
  return out;
}

response plain(unsigned status, std::string body) {
  return {.status = status, .type = "text/plain; charset=utf-8", .body = std::move(body)};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  return boost::algorithm::split(out, text, [&](char each) { return each == separator; });
}

fields read_form(const std::string& text) {
  fields out;
  for (const std::string& pair : split(text, '&')) {
    if (pair.empty()) continue;
    const std::size_t middle = std::min(pair.find('='), pair.size());
    out.emplace(unescaped(pair.substr(0, middle)),
                unescaped(pair.substr(std::min(middle + 1, pair.size()))));
  }
  return out;
}

void read_target(std::string_view target, std::string_view prefix, request& into) {
  into.target = target;
  if (!target.starts_with('/')) throw page_error(400, "The target of the request is not a path.");
  const std::size_t mark = std::min(target.find('?'), target.size());
  if (mark < target.size()) into.query = read_form(std::string(target.substr(mark + 1)));
  for (const std::string& each : split(target.substr(1, mark - 1), '/')) {
    into.path.push_back(unescaped(each, false));
  }
  if (prefix.empty()) return;
  if ("/" + into.path[0] != prefix) throw page_error(404, "There is no such page.");
  into.path.erase(into.path.begin());
  if (into.path.empty()) into.path.emplace_back();
}

std::string escaped(std::string_view text) {
  constexpr std::string_view plain_characters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string out;
  for (const char c : text) {
    if (plain_characters.find(c) != std::string_view::npos) {
      out += c;
    } else {
      boost::algorithm::hex(std::string_view(&c, 1), std::back_inserter(out += '%'));
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

std::string random_text() {
  return to_string(boost::uuids::random_generator_pure()());
}

}  // namespace tool::web
