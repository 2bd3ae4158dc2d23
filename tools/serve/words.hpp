#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdio>

#include "format.hpp"
#include "html.hpp"
#include "watched.hpp"

namespace tool::web {

/// Counts of a queue in the order of a message's life: those of its states, and of dead ones
/// elsewhere.
inline constexpr std::array figures_shown{"ready", "leased", "delayed",     "held",
                                          "done",  "dead",   "dead_letters"};

template <class... Values>
std::string formed(const char* form, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), form, values...);
  return text.data();
}

/// `12,345`
template <std::integral Count>
std::string number(Count count) {
  std::string digits = std::to_string(count);
  const std::size_t begin = digits.front() == '-' ? 1 : 0;
  for (std::size_t i = digits.size(); i > begin + 3;) digits.insert(i -= 3, ",");
  return digits;
}

/// For what is not known, or what the queue does not have.
inline constexpr const char* dash = "\xe2\x80\x93";

/// `12,345` or `10,000+`
inline std::string count_words(const figure& of) {
  return of.count ? number(*of.count) + (of.at_least ? "+" : "") : dash;
}

/// `0.4` or `12`
inline std::string rate_words(const std::optional<double>& rate) {
  if (!rate) return dash;
  if (std::abs(*rate) >= 9.95) return number(std::llround(*rate));
  if (std::abs(*rate) < 0.05) return "0";
  const std::string out = formed("%.1f", *rate);
  return out.ends_with(".0") ? out.substr(0, out.size() - 2) : out;
}

/// `45 s`, `3 min`, `2 h`, `5 days`.
inline std::string span_words(std::chrono::milliseconds span) {
  const auto seconds = span.count() / 1000;
  if (seconds < 1 && span.count() > 0) return "under 1 s";
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  if (seconds < 172800) return std::to_string(seconds / 3600) + " h";
  return number(seconds / 86400) + " days";
}

/// `2026-11-28 09:30:00 UTC`
inline std::string time_words(tableq::timestamp time) {
  std::string out = iso(time);
  out[out.find('T')] = ' ';
  return out.substr(0, out.find('.')) + " UTC";
}

/// Of a picture with this line; 1 if it is flat.
inline float highest(const history& past, float sample::*which) {
  float most = 0;
  // A value that is not known is less than none.
  for (const sample& each : past) most = std::max(most, each.*which);
  return most > 0 ? most : 1;
}

/// The points as an SVG path, upside down; a value that is not known is a gap. The newest is at the
/// right edge.
inline std::string path_of(const history& past, float sample::*which) {
  std::string out;
  bool drawing = false;
  for (std::size_t i = 0; i < past.size(); ++i) {
    const float value = past[i].*which;
    const bool known = !std::isnan(value);
    // A single point is a line without length, which round ends show.
    const char* const form = drawing ? "L%zu %g" : "M%zu %gh0";
    if (known) out += formed(form, most_samples - past.size() + i, -value);
    drawing = known;
  }
  return out;
}

inline constexpr std::size_t most_text = 64UL * 1024;
inline constexpr std::size_t most_hex = 4UL * 1024;
inline constexpr std::string_view blanks = " \t\r\n";

/// The form that fits: `json` if it is an object or a list, `text` if it is UTF-8, otherwise `hex`.
inline std::string fitting_form(std::string_view payload) {
  if (!is_text(payload)) return "hex";
  const std::size_t first = std::min(payload.find_first_not_of(blanks), payload.size());
  const bool begins =
      payload.substr(first).starts_with('{') || payload.substr(first).starts_with('[');
  return begins && payload.size() <= most_text && json::accept(payload) ? "json" : "text";
}

/// JSON with a line for each member. Numbers keep their digits, and members their order. Deeper
/// JSON than 64 levels stays as it is: each level indents its lines.
inline std::string indented(std::string_view valid) {
  constexpr std::size_t most_levels = 64;
  std::string out;
  std::size_t level = 0;
  bool in_string = false;
  const auto new_line = [&] { out += "\n" + std::string(2 * level, ' '); };
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    if (!in_string && blanks.find(c) != std::string_view::npos) continue;
    const bool ends = !in_string && (c == '}' || c == ']');
    const bool inside = out.ends_with('{') || out.ends_with('[');
    if (ends) --level;
    if (!in_string && ends != inside) new_line();
    out += c;
    if (in_string) {
      if (c == '\\') out += valid[++i];
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if ((c == '{' || c == '[') && ++level > most_levels) return std::string(valid);
    if (c == ',') new_line();
    if (c == ':') out += ' ';
  }
  return out;
}

/// `000000  68 65 6c 6c 6f                                   hello`
inline std::string hex_dump(std::string_view bytes) {
  constexpr std::size_t width = 16;
  std::string out;
  for (std::size_t line = 0; line < bytes.size(); line += width) {
    std::string hex;
    std::string readable;
    for (const char c : bytes.substr(line, width)) {
      const unsigned byte = static_cast<unsigned char>(c);
      hex += formed(" %02x", byte);
      readable += byte >= 0x20 && byte < 0x7f ? c : '.';
    }
    hex.resize(3 * width, ' ');
    out += formed("%06zx ", line) + hex + "  " + readable + "\n";
  }
  return out;
}

/// The most bytes of a payload that a page shows in this form.
inline std::size_t most_shown(std::string_view form) {
  return form == "hex" ? most_hex : most_text;
}

inline std::string payload_words(std::string_view payload, std::string_view form) {
  if (form == "hex") return hex_dump(payload);
  return form == "json" ? indented(payload) : std::string(payload);
}

}  // namespace tool::web
