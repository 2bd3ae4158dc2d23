#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tableq::inline v0::core {

/// The length of the well-formed character at the front; 0 if there is none.
/// @param text not empty.
std::size_t character_length(std::string_view text) noexcept;

/// Well-formed UTF-8 without NUL.
bool is_plain_utf8(std::string_view text) noexcept;

/// Makes a text that can be stored: invalid UTF-8 and NUL become U+FFFD. Cuts it to at most
/// `longest` bytes, at the end of a character.
std::string to_plain_utf8(std::string_view text, std::size_t longest = std::string_view::npos);

}  // namespace tableq::inline v0::core
