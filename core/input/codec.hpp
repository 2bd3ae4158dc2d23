#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tableq/message.hpp>
#include <tableq/options.hpp>

namespace tableq::core {

/// The JSON object that stands in the table. The headers must have been checked.
std::string encode_headers(const headers& values);

/// Reads what `encode_headers` or a foreign client wrote. Values that are no strings come as their
/// JSON.
/// @throws error errc::schema_mismatch when it is no JSON object.
headers decode_headers(std::string_view text);

/// `{"after":[1000,2000],"jitter":20}`: what the texts of claim.fail read.
std::string encode_retry(const retry_delays& retry);

/// @throws error errc::schema_mismatch when it is no JSON array of failures.
std::vector<failure_record> decode_errors(std::string_view text);

/// Well-formed UTF-8 without NUL.
bool is_plain_utf8(std::string_view text) noexcept;

/// Makes text fit to be stored as text: what is not UTF-8, and NUL, becomes U+FFFD; cut to at most
/// `longest` bytes at a character's border.
std::string to_plain_utf8(std::string_view text, std::size_t longest);

}  // namespace tableq::core
