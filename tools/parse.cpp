#include "parse.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include <tableq/row_value.hpp>
#include <tableq/text.hpp>

#include "exit_status.hpp"
#include "format.hpp"

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

/// Of the forms that the library reads the one with all parts, in UTC.
std::optional<tableq::timestamp> iso_time(std::string_view text) {
  constexpr std::size_t shortest = std::string_view("2025-01-31T12:00:00Z").size();
  constexpr std::size_t longest = shortest + std::string_view(".123").size();
  const bool whole = text.size() >= shortest && text.size() <= longest;
  if (!whole || text[10] != 'T' || !text.ends_with('Z')) return {};
  return tableq::parse_timestamp(text);
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
    throw usage_error(option + " must be at least " + brief(least));
  }
  return value;
}

tableq::retry_delays parse_delays(const std::string& option, const std::string& text) {
  tableq::retry_delays times;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    times.after.push_back(parse_duration(option, one));
  }
  if (times.after.empty() || text.back() == ',')
    throw usage_error(option + " takes times such as 1s,10s,1m");
  return times;
}

tableq::lifetime parse_lifetime(const std::string& option, const std::string& text) {
  if (text == "none") return tableq::lifetime::forever();
  return {parse_duration(option, text, milliseconds{1})};
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

tableq::message_state parse_state(const std::string& option, const std::string& text) {
  using enum tableq::message_state;
  for (const tableq::message_state each : {ready, leased, delayed, done, dead, held}) {
    if (text == to_string(each)) return each;
  }
  throw usage_error(option + " is ready, delayed, leased, held, done or dead");
}

std::pair<std::string, std::string> parse_assignment(const std::string& option,
                                                     const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw usage_error(option + " takes NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace tool
