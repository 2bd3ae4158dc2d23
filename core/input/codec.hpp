#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/message.hpp>
#include <tableq/options.hpp>

namespace tableq::core {

/// Entries of a message's history, and bytes of each.
inline constexpr std::size_t most_errors = 10;
inline constexpr std::size_t longest_error = 2000;

/// The JSON object that stands in the table. The headers must have been checked.
std::string encode_headers(const headers& values);

/// Reads what `encode_headers` or a foreign client wrote. Values that are no strings come as their
/// JSON, numbers as they were written; of two with one name the last counts. Nothing where it is no
/// JSON object that can be told in UTF-8.
std::optional<headers> decode_headers(std::string_view text);

/// The same of a column that may be null: no headers.
inline std::optional<headers> to_headers(const std::optional<std::string>& json) {
  return json ? decode_headers(*json) : headers();
}

/// `{"after":[1000,2000],"jitter":20}`: what the texts of claim.fail read.
std::string encode_retry(const retry_delays& retry);

/// Reads the end of a history, whatever stands there: what is no entry of tableq's is told as its
/// text, at the time zero.
std::vector<failure_record> decode_errors(std::string_view text);

}  // namespace tableq::core
