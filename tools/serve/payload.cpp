#include "payload.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "format.hpp"
#include "words.hpp"

namespace tool::web {

namespace {

constexpr std::size_t most_text = 64UL * 1024;
constexpr std::size_t most_hex = 4UL * 1024;
/// Deeper JSON is shown as it is: a parser needs room for each level.
constexpr int most_levels = 64;

/// A fast look, without parsing: whether it is an object or a list, and not too deep.
bool looks_like_json(std::string_view payload) {
  const std::size_t first = payload.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || payload.size() > most_text) return false;
  if (payload[first] != '{' && payload[first] != '[') return false;
  int level = 0;
  for (const char c : payload) {
    if (c == '{' || c == '[') ++level;
    if (c == '}' || c == ']') --level;
    if (level > most_levels) return false;
  }
  return is_text(payload) && json::accept(payload);
}

/// JSON with a line for each member. Numbers keep their digits, and members their order.
std::string indented(std::string_view valid) {
  std::string out;
  std::size_t level = 0;
  bool in_string = false;
  const auto new_line = [&] { out += "\n" + std::string(2 * level, ' '); };
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    if (in_string) {
      out += c;
      if (c == '\\') out += valid[++i];
      in_string = c != '"';
    } else if (c == '{' || c == '[') {
      out += c;
      const std::size_t next = valid.find_first_not_of(" \t\r\n", i + 1);
      if (valid[next] == '}' || valid[next] == ']') {
        out += valid[i = next];
      } else {
        ++level;
        new_line();
      }
    } else if (c == '}' || c == ']') {
      --level;
      new_line();
      out += c;
    } else if (c == ',') {
      out += c;
      new_line();
    } else if (c == ':') {
      out += ": ";
    } else if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) {
      out += c;
      in_string = c == '"';
    }
  }
  return out;
}

/// `0000  68 65 6c 6c 6f                                   hello`
std::string hex_dump(std::string_view bytes) {
  constexpr std::size_t width = 16;
  std::string out;
  for (std::size_t line = 0; line < bytes.size(); line += width) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%06zx ", line);
    out += text.data();
    std::string readable;
    for (std::size_t i = line; i < line + width; ++i) {
      if (i >= bytes.size()) {
        out += "   ";
        continue;
      }
      const auto byte = static_cast<unsigned char>(bytes[i]);
      std::snprintf(text.data(), text.size(), " %02x", byte);
      out += text.data();
      readable += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
    }
    out += "  " + readable + "\n";
  }
  return out;
}

}  // namespace

payload_form fitting_form(std::string_view payload) {
  if (looks_like_json(payload)) return payload_form::json;
  return is_text(payload) ? payload_form::text : payload_form::hex;
}

html payload_block(std::string_view payload, payload_form form, literal label) {
  if (form == payload_form::json && !looks_like_json(payload)) form = payload_form::text;
  const std::size_t most = form == payload_form::hex ? most_hex : most_text;
  const std::string_view shown = payload.substr(0, most);
  std::string text;
  switch (form) {
    case payload_form::json:
      text = indented(shown);
      break;
    case payload_form::text:
      text = shown;
      break;
    case payload_form::hex:
      text = hex_dump(shown);
      break;
  }
  html out(R"(<pre class="payload" tabindex="0" role="region" aria-label="{}"><bdi>{}</bdi></pre>)",
           label, text);
  if (shown.size() < payload.size()) {
    out.put(R"(<p class="quiet">The first {} of {} bytes. `tableq get` prints all.</p>)",
            number(shown.size()), number(payload.size()));
  }
  return out;
}

}  // namespace tool::web
