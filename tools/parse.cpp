#include "parse.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "exit_status.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_duration = std::chrono::days{3650};

/// Empty if it is not a number, or is too large.
std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

std::optional<std::int64_t> unit_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
  for (const auto& [name, factor] : units) {
    if (text == name) return factor;
  }
  return {};
}

/// Exactly `width` digits and then `end`, if any.
std::optional<int> take_digits(std::string_view& text, std::size_t width, char end) {
  if (text.size() < width) return {};
  int value = 0;
  for (const char c : text.substr(0, width)) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(width);
  if (end == '\0') return value;
  if (text.empty() || text.front() != end) return {};
  text.remove_prefix(1);
  return value;
}

/// `.5` to `.500`, or nothing; the caller refuses fractions below a millisecond.
std::optional<int> take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return 0;
  text.remove_prefix(1);
  int value = 0;
  int scale = 1000;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9' && scale > 1) {
    value = value * 10 + (text.front() - '0');
    scale /= 10;
    text.remove_prefix(1);
  }
  if (scale == 1000) return {};
  return value * scale;
}

std::optional<tableq::timestamp> iso_time(std::string_view text) {
  const auto year = take_digits(text, 4, '-');
  const auto month = year ? take_digits(text, 2, '-') : std::nullopt;
  const auto day = month ? take_digits(text, 2, 'T') : std::nullopt;
  const auto hour = day ? take_digits(text, 2, ':') : std::nullopt;
  const auto minute = hour ? take_digits(text, 2, ':') : std::nullopt;
  const auto second = minute ? take_digits(text, 2, '\0') : std::nullopt;
  const auto fraction = second ? take_fraction(text) : std::nullopt;
  if (!fraction || text != "Z" || *hour > 23 || *minute > 59 || *second > 59) return {};
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return {};
  return std::chrono::sys_days{date} + std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
         std::chrono::seconds{*second} + milliseconds{*fraction};
}

}  // namespace

milliseconds parse_duration(const std::string& option, const std::string& text,
                            milliseconds least) {
  if (text.starts_with('-')) throw usage_error(option + " must not be negative");
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto unit = unit_of(std::string_view(text).substr(digits));
  if (digits == 0 || !unit) {
    throw usage_error(option + " takes a time such as 500ms, 30s, 5m, 2h or 7d");
  }
  const auto number = whole_number(std::string_view(text).substr(0, digits));
  if (!number || *number > longest_duration.count() / *unit) {
    throw usage_error(option + " must be at most 3650d");
  }
  const milliseconds value{*number * *unit};
  if (value < least) {
    throw usage_error(option + " must be at least " + std::to_string(least.count()) + "ms");
  }
  return value;
}

std::vector<std::chrono::milliseconds> parse_delays(const std::string& text) {
  std::vector<std::chrono::milliseconds> times;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    times.push_back(parse_duration("--retry", one));
  }
  if (times.empty()) throw usage_error("--retry takes times such as 1s,10s,1m");
  return times;
}

std::int64_t parse_number(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most) {
  const auto value = whole_number(text);
  if (!value || *value < least || *value > most) {
    throw usage_error(option + " takes a whole number from " + std::to_string(least) + " to " +
                      std::to_string(most));
  }
  return *value;
}

tableq::timestamp parse_timestamp(const std::string& option, const std::string& text) {
  if (const auto time = iso_time(text)) return *time;
  const auto since_1970 = whole_number(text);
  constexpr std::int64_t year_10000 = 253'402'300'800'000;
  if (since_1970 && *since_1970 >= 0 && *since_1970 < year_10000) {
    return tableq::timestamp{milliseconds{*since_1970}};
  }
  throw usage_error(option +
                    " takes a time such as 2025-01-31T12:00:00Z, or milliseconds since 1970");
}

std::pair<std::string, std::string> parse_assignment(const std::string& option,
                                                     const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw usage_error(option + " takes NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

milliseconds duration_or(const argument& given, const std::string& option, milliseconds otherwise,
                         milliseconds least) {
  return given.given() ? parse_duration(option, given.text(), least) : otherwise;
}

std::size_t count_or(const argument& given, const std::string& option, std::size_t otherwise,
                     std::size_t most) {
  if (!given.given()) return otherwise;
  return static_cast<std::size_t>(
      parse_number(option, given.text(), 1, static_cast<std::int64_t>(most)));
}

}  // namespace tool
