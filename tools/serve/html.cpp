#include "html.hpp"

#include <array>

#include <boost/locale/utf.hpp>

namespace tool::web {

namespace {

/// Calls `each` with every character; false for a byte that is not UTF-8, and for control
/// characters but tab, newline and return.
template <class Each>
void walk(std::string_view text, const Each& each) {
  namespace utf = boost::locale::utf;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* next = at;
    const utf::code_point point = utf::utf_traits<char>::decode(next, end);
    const bool known = utf::is_valid_codepoint(point);
    if (!known) next = at + 1;
    const bool control = (point < 0x20 && point != '\t' && point != '\n' && point != '\r') ||
                         (point >= 0x7f && point < 0xa0);
    each(std::string_view(at, static_cast<std::size_t>(next - at)), known && !control);
    at = next;
  }
}

}  // namespace

void html::add_escaped(std::string_view value) {
  constexpr std::string_view special = "&<>\"'";
  constexpr std::array<std::string_view, 5> escaped{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  for (const char c : shown_text(value)) {
    const std::size_t at = special.find(c);
    text_ += at == std::string_view::npos ? std::string_view(&c, 1) : escaped[at];
  }
}

std::string shown_text(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t count = 0;
  walk(text, [&](std::string_view one, bool known) {
    if (count++ < most) out += known ? one : "\xef\xbf\xbd";
  });
  if (count > most) out += "\xe2\x80\xa6";
  return out;
}

bool is_text(std::string_view bytes) {
  bool out = true;
  walk(bytes, [&](std::string_view, bool known) { out = out && known; });
  return out;
}

}  // namespace tool::web
