#include "core/input/utf8.hpp"

namespace tableq::inline v0::core {

// Table 3-7 of the Unicode standard: no surrogates, no overlong forms, nothing above U+10FFFF.
std::size_t character_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return continues(1, low, high) && continues(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return continues(1, low, high) && continues(2, 0x80, 0xBF) && continues(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

void append_character(std::string& text, unsigned long character) {
  const auto put = [&](unsigned long byte) { text += static_cast<char>(byte); };
  const auto rest = [&](int shift) { put(0x80 | ((character >> shift) & 0x3F)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0 | (character >> 6));
    rest(0);
  } else if (character < 0x10000) {
    put(0xE0 | (character >> 12));
    rest(6);
    rest(0);
  } else {
    put(0xF0 | (character >> 18));
    rest(12);
    rest(6);
    rest(0);
  }
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
