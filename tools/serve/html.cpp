#include "html.hpp"

#include <cstdint>

namespace tool::web {

namespace {

/// The length of the UTF-8 character at the beginning; 0 if there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool too_long = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) > 0x9f;
    return !too_long && !surrogate && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool too_long = first == 0xf0 && byte(1) < 0x90;
    const bool too_high = first == 0xf4 && byte(1) > 0x8f;
    return !too_long && !too_high && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// C0, DEL and C1.
bool is_control(std::string_view one) {
  if (one.size() == 1) {
    const auto byte = static_cast<unsigned char>(one[0]);
    return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
  }
  return one.size() == 2 && one[0] == '\xc2' && static_cast<unsigned char>(one[1]) < 0xa0;
}

}  // namespace

void html::append(std::string_view value) {
  for (const char c : shown_text(value)) {
    switch (c) {
      case '&':
        text_ += "&amp;";
        break;
      case '<':
        text_ += "&lt;";
        break;
      case '>':
        text_ += "&gt;";
        break;
      case '"':
        text_ += "&quot;";
        break;
      case '\'':
        text_ += "&#39;";
        break;
      default:
        text_ += c;
    }
  }
}

std::string shown_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = character(text);
    const std::string_view one = text.substr(0, size == 0 ? 1 : size);
    if (size == 0 || is_control(one)) {
      out += "\xef\xbf\xbd";
    } else {
      out += one;
    }
    text.remove_prefix(one.size());
  }
  return out;
}

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t size = character(bytes);
    if (size == 0 || is_control(bytes.substr(0, size))) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

}  // namespace tool::web
