#include "words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "format.hpp"
#include "html.hpp"

namespace tool::web {

namespace {

constexpr const char* dash = "\xe2\x80\x93";

template <class... Values>
std::string formed(const char* form, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), form, values...);
  return text.data();
}

}  // namespace

std::string number(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t begin = digits.front() == '-' ? 1 : 0;
  for (std::size_t i = digits.size(); i > begin + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string count_words(const figure& of) {
  if (!of.count) return dash;
  return number(*of.count) + (of.at_least ? "+" : "");
}

std::string rate_words(const std::optional<double>& rate) {
  if (!rate) return dash;
  if (std::abs(*rate) >= 9.95) return number(std::llround(*rate));
  if (std::abs(*rate) < 0.05) return "0";
  std::string out = formed("%.1f", *rate);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out;
}

std::string span_words(std::chrono::milliseconds span) {
  const auto seconds = span.count() / 1000;
  if (seconds < 1 && span.count() > 0) return "under 1 s";
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  if (seconds < 172800) return std::to_string(seconds / 3600) + " h";
  return number(seconds / 86400) + " days";
}

std::string time_words(tableq::timestamp time) {
  std::string out = iso(time);
  out[out.find('T')] = ' ';
  return out.substr(0, out.find('.')) + " UTC";
}

std::string messages_words(std::size_t count) {
  return count == 1 ? "1 message" : number(count) + " messages";
}

std::string limit_words(const tableq::group_limits& of) {
  std::string out;
  const auto add = [&](const std::string& words) { out += (out.empty() ? "" : ", ") + words; };
  if (of.running) add(number(*of.running) + " at a time");
  if (of.rate) add(rate_words(*of.rate) + " starts a second");
  if (of.burst) add(number(*of.burst) + " at once");
  if (of.weight) add("weight " + number(*of.weight));
  return out;
}

std::string label(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '_', ' ');
  out[0] = static_cast<char>(out[0] - (out[0] >= 'a' && out[0] <= 'z' ? 'a' - 'A' : 0));
  return out;
}

float highest(const history& past, float sample::*which) {
  float most = 0;
  for (const sample& each : past) {
    if (!std::isnan(each.*which)) most = std::max(most, each.*which);
  }
  return most;
}

std::string path_of(const history& past, float sample::*which, float most, float width,
                    float height) {
  std::string out;
  bool drawing = false;
  for (std::size_t i = 0; i < past.size(); ++i) {
    const float value = past[i].*which;
    const bool known = !std::isnan(value);
    if (known) {
      const float x = width * static_cast<float>(most_samples - past.size() + i) /
                      static_cast<float>(most_samples - 1);
      const float y = height - 1 - (most > 0 ? value / most : 0) * (height - 2);
      out += formed("%c%.1f %.1f", drawing ? 'L' : 'M', static_cast<double>(x),
                    static_cast<double>(y));
      // A single point is a line without length, which round ends show.
      if (!drawing) out += "h0";
    }
    drawing = known;
  }
  return out;
}

namespace {

constexpr std::size_t most_text = 64UL * 1024;
constexpr std::size_t most_hex = 4UL * 1024;
/// Deeper JSON is shown as it is: each level indents its lines.
constexpr int most_levels = 64;
constexpr std::string_view blanks = " \t\r\n";

/// A fast look, without parsing: whether it is an object or a list, and not too deep.
bool looks_like_json(std::string_view payload) {
  const std::size_t first = payload.find_first_not_of(blanks);
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
    if (!in_string && blanks.find(c) != std::string_view::npos) continue;
    const bool ends = !in_string && (c == '}' || c == ']');
    const bool empty = ends && (out.back() == '{' || out.back() == '[');
    const bool begun = !in_string && !ends && (out.ends_with('{') || out.ends_with('['));
    if (ends) --level;
    if ((ends && !empty) || (begun && level > 0)) new_line();
    out += c;
    if (in_string) {
      if (c == '\\') out += valid[++i];
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '{' || c == '[') ++level;
    if (c == ',') new_line();
    if (c == ':') out += ' ';
  }
  return out;
}

/// `0000  68 65 6c 6c 6f                                   hello`
std::string hex_dump(std::string_view bytes) {
  constexpr std::size_t width = 16;
  std::string out;
  for (std::size_t line = 0; line < bytes.size(); line += width) {
    out += formed("%06zx ", line);
    std::string readable;
    for (std::size_t i = line; i < line + width; ++i) {
      const bool there = i < bytes.size();
      const unsigned byte = there ? static_cast<unsigned char>(bytes[i]) : 0U;
      out += there ? formed(" %02x", byte) : "   ";
      if (there) readable += byte >= 0x20 && byte < 0x7f ? bytes[i] : '.';
    }
    out += "  " + readable + "\n";
  }
  return out;
}

}  // namespace

std::string fitting_form(std::string_view payload) {
  if (looks_like_json(payload)) return "json";
  return is_text(payload) ? "text" : "hex";
}

std::size_t most_shown(std::string_view form) {
  return form == "hex" ? most_hex : most_text;
}

std::string payload_words(std::string_view payload, std::string_view form) {
  if (form == "hex") return hex_dump(payload);
  return form == "json" ? indented(payload) : std::string(payload);
}

}  // namespace tool::web
