#include "core/input/connection_string.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

/// Decodes percent-encodings. Sets `problem` and stops at the first malformed one.
std::string decode(std::string_view text, std::string& problem) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned byte = 0;
    const char* first = text.data() + std::min(i + 1, text.size());
    const char* last = text.data() + std::min(i + 3, text.size());
    const auto [end, failed] = std::from_chars(first, last, byte, 16);
    if (failed != std::errc() || end - first != 2 || byte == 0) {
      problem =
          "a percent sign in the connection string is not followed by two hexadecimal digits other "
          "than 00";
      return out;
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

void read_setting(std::string_view setting, connection_url& url) {
  const std::size_t equals = setting.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    url.problem = "after the question mark a connection string reads key=value&key=value";
    return;
  }
  const std::string key = decode(setting.substr(0, equals), url.problem);
  if (!url.settings.emplace(key, decode(setting.substr(equals + 1), url.problem)).second) {
    url.problem = "the key " + shown(key) + " is given twice";
  }
}

constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};

/// In the largest unit that gives a whole number.
std::string in_units(std::chrono::milliseconds time) {
  std::string out;
  for (const auto& [name, length] : units) {
    if (time.count() % length == 0) out = std::to_string(time.count() / length).append(name);
    if (time.count() == 0) break;
  }
  return out;
}

}  // namespace

connection_url parse_connection_string(std::string_view url) {
  const std::size_t colon = url.find("://");
  if (colon == 0 || colon == std::string_view::npos) {
    refuse(
        "a connection string begins with the scheme of a database, then ://; docs/connecting.md "
        "lists all");
  }
  if (url.find('\0') != std::string_view::npos) refuse("the connection string holds a NUL");
  connection_url out;
  out.raw = url;
  for (const char c : url.substr(0, colon)) {
    out.scheme += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::string_view rest = url.substr(colon + 3);
  const std::size_t question = rest.find('?');
  out.rest = decode(rest.substr(0, question), out.problem);
  rest.remove_prefix(question == std::string_view::npos ? rest.size() : question + 1);
  while (!rest.empty() && out.problem.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    read_setting(rest.substr(0, end), out);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::chrono::milliseconds parse_duration(std::string_view key, std::string_view text,
                                         std::chrono::milliseconds least,
                                         std::chrono::milliseconds most) {
  std::int64_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed == std::errc()) {
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const auto& [name, length] : units) {
      if (unit != name || count < 0 || count > most.count() / length) continue;
      const std::chrono::milliseconds out{count * length};
      if (out >= least) return out;
    }
  }
  refuse(shown(key) + " takes a number with its unit (ms, s, m, h or d), from " + in_units(least) +
         " to " + in_units(most));
}

std::string shown(std::string_view key) {
  constexpr std::size_t longest = 40;
  std::string out = "`";
  for (const char c : key.substr(0, longest)) {
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '?';
  }
  return out + (key.size() > longest ? "...`" : "`");
}

}  // namespace tableq::inline v0::core
