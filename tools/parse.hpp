#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tableq/message.hpp>

#include "arguments.hpp"

namespace tool {

/// Errors in a text are thrown as usage_error, which names the option.

/// `500ms`, `30s`, `5m`, `2h` or `7d`, from `least` to 3,650 days.
std::chrono::milliseconds parse_duration(const std::string& option, const std::string& text,
                                         std::chrono::milliseconds least = {});

/// Times with commas between them, of --retry: `1s,10s,1m`.
std::vector<std::chrono::milliseconds> parse_delays(const std::string& text);

/// A whole decimal number.
std::int64_t parse_number(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most);

/// `2025-01-31T12:00:00Z` with or without a fraction, or milliseconds since 1970.
tableq::timestamp parse_timestamp(const std::string& option, const std::string& text);

/// `NAME=VALUE`, cut at the first `=`.
std::pair<std::string, std::string> parse_assignment(const std::string& option,
                                                     const std::string& text);

/// A duration option, or `otherwise` when it was not given.
std::chrono::milliseconds duration_or(const argument& given, const std::string& option,
                                      std::chrono::milliseconds otherwise,
                                      std::chrono::milliseconds least = {});

/// A number of messages from 1 to `most`, or `otherwise` when it was not given.
std::size_t count_or(const argument& given, const std::string& option, std::size_t otherwise,
                     std::size_t most);

}  // namespace tool
