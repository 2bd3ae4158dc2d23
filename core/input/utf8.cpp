#include "core/input/utf8.hpp"

#include <boost/locale/utf.hpp>

namespace tableq::inline v0::core {

std::size_t character_length(std::string_view text) noexcept {
  namespace utf = boost::locale::utf;
  const char* at = text.data();
  const utf::code_point found = utf::utf_traits<char>::decode(at, text.data() + text.size());
  return utf::is_valid_codepoint(found) ? static_cast<std::size_t>(at - text.data()) : 0;
}

bool is_plain_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0 || text.front() == '\0') return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_plain_utf8(std::string_view text, std::size_t longest) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string out;
  while (!text.empty()) {
    const std::size_t length = text.front() == '\0' ? 0 : character_length(text);
    const std::string_view next = length == 0 ? replacement : text.substr(0, length);
    if (next.size() > longest - out.size()) break;
    out += next;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace tableq::inline v0::core
