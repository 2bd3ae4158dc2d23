#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <tableq/message.hpp>
#include <tableq/message_rules.hpp>

namespace tool {

/// Errors in a text are thrown as usage_error, which names the option.

/// `500ms`, `30s`, `5m`, `2h` or `7d`, from `least` to 3,650 days.
std::chrono::milliseconds parse_duration(const std::string& option, const std::string& text,
                                         std::chrono::milliseconds least = {});

/// Times with commas between them: `1s,10s,1m`.
tableq::retry_delays parse_delays(const std::string& option, const std::string& text);

/// A time from 1ms on, or `none`.
tableq::lifetime parse_lifetime(const std::string& option, const std::string& text);

/// A whole decimal number.
std::int64_t parse_number(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most);

/// `2025-01-31T12:00:00Z` with or without a fraction, or milliseconds since 1970.
tableq::timestamp parse_timestamp(const std::string& option, const std::string& text);

/// A state of a message by its name.
tableq::message_state parse_state(const std::string& option, const std::string& text);

/// `NAME=VALUE`, cut at the first `=`.
std::pair<std::string, std::string> parse_assignment(const std::string& option,
                                                     const std::string& text);

// For argument::store.

inline auto duration_from(std::chrono::milliseconds least) {
  return [least](const std::string& option, const std::string& text) {
    return parse_duration(option, text, least);
  };
}

template <class Number>
auto number_from(std::int64_t least, std::int64_t most) {
  return [least, most](const std::string& option, const std::string& text) {
    return static_cast<Number>(parse_number(option, text, least, most));
  };
}

}  // namespace tool
