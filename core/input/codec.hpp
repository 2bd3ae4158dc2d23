#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/message.hpp>
#include <tableq/options.hpp>

namespace tableq::inline v0::core {

/// The length of the well-formed character at the front; 0 if there is none.
/// @param text not empty.
std::size_t character_length(std::string_view text) noexcept;

/// As columns are found by their names: only the case of ASCII letters may differ.
bool equal_but_for_case(std::string_view left, std::string_view right) noexcept;

/// Well-formed UTF-8 without NUL.
bool is_plain_utf8(std::string_view text) noexcept;

/// Makes a text that can be stored: invalid UTF-8 and NUL become U+FFFD. Cuts it to at most
/// `longest` bytes, at the end of a character.
std::string to_plain_utf8(std::string_view text, std::size_t longest = std::string_view::npos);

/// Entries of a message's history, and bytes of each.
inline constexpr std::size_t most_errors = 10;
inline constexpr std::size_t longest_error = 2000;
/// Bytes of what a handler says of its message, and of what it returns.
inline constexpr std::size_t longest_note = 500;
inline constexpr std::size_t longest_result = std::size_t{64} * 1024;

/// The JSON object that is stored. The headers must have been checked.
/// @param ascii other characters become escapes.
std::string encode_headers(const headers& values, bool ascii = false);

/// The same JSON with escapes in place of other characters.
/// @param json well-formed.
std::string in_ascii(std::string_view json);

/// An error as it is stored: to_plain_utf8, of at most `longest` bytes.
/// @param ascii other characters become `\uXXXX`, and stay so.
std::string encode_error(std::string_view text, bool ascii, std::size_t longest = longest_error);

/// Reads the headers that `encode_headers` or a foreign client wrote. Values other than strings are
/// returned as their JSON, numbers as written. Of two with the same name the last one is used.
/// Empty if the text is not a JSON object in UTF-8.
std::optional<headers> decode_headers(std::string_view text);

/// The same for a column that may be null: no headers.
inline std::optional<headers> to_headers(const std::optional<std::string>& json) {
  return json ? decode_headers(*json) : headers();
}

/// `{"after":[1000,2000],"jitter":20}`, for the texts of claim.fail.
std::string encode_retry(const retry_delays& retry);

/// Reads the end of a history with any content: an entry that tableq did not write is returned as
/// its text, at the time zero.
std::vector<failure_record> decode_errors(std::string_view text);

/// Reads a progress with any content: one that tableq did not write is returned as its text, at the
/// time zero.
message_progress decode_progress(std::string_view text);

}  // namespace tableq::inline v0::core
