#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <functional>
#include <span>

#include "format.hpp"
#include "html.hpp"
#include "selection.hpp"
#include "serve_assets.hpp"
#include "site.hpp"
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

/// The queues of all databases that the address asks for: with a part of a name, in an order, from
/// a place in it.
struct overview {
  static constexpr std::size_t most = 200;  ///< Rows of a page.
  struct place {
    std::size_t database;
    const queue_view* queue;
  };

  explicit overview(const call& asked)
      : start(asked.site.link("/?find=")),
        part(asked.from.query["find"]),
        by(asked.from.query["by"].empty() ? "name" : asked.from.query["by"]) {
    for (const auto& each : asked.site.databases) {
      views.push_back(each->view());
      for (const queue_view& queue : views.back()->queues) {
        if (queue.name().find(part) != std::string::npos)
          rows.push_back({views.size() - 1, &queue});
      }
    }
    std::ranges::stable_sort(rows, std::ranges::greater(),
                             [&](const place& each) { return order_of(*each.queue); });
    const std::string& first = asked.from.query["from"];
    std::from_chars(first.data(), first.data() + first.size(), from);
    from = std::min(from, rows.size());
    shown = std::span(rows).subspan(from, std::min(most, rows.size() - from));
  }

  /// The count of a figure; of dead messages wherever they are.
  static figure count_of(const queue_view& of, std::string_view name) {
    figure out = of.find(name);
    if (name == "dead") add(out, of.find("dead_letters"));
    return out;
  }
  /// Of all rows together.
  [[nodiscard]] figure count(std::string_view name) const {
    figure out{"", 0};
    for (const place& each : rows) add(out, count_of(*each.queue, name));
    return out;
  }
  [[nodiscard]] double rate(std::optional<double> tableq::queue_rates::*which) const {
    double out = 0;
    for (const place& each : rows) out += (each.queue->rates.*which).value_or(0);
    return out;
  }
  /// The address of the same in this order, from this place.
  [[nodiscard]] std::string link(std::string_view order, std::size_t begin = 0) const {
    return start + escaped(part) + "&by=" + escaped(order) +
           (begin > 0 ? "&from=" + std::to_string(begin) : "");
  }

  const std::string start;  ///< Of its addresses.
  const std::string part;
  const std::string by;
  std::vector<std::shared_ptr<const database_view>> views = {};
  std::vector<place> rows = {};
  std::size_t from = 0;
  std::span<const place> shown = {};

 private:
  /// The largest comes first.
  [[nodiscard]] double order_of(const queue_view& of) const {
    if (by == "oldest") return of.oldest() ? static_cast<double>(of.oldest()->count()) : -1;
    if (by == "rate") return of.rates.enqueued.value_or(-1);
    // By their names they are in order; no figure has this name.
    return static_cast<double>(count_of(of, by).count.value_or(0));
  }
  /// Adds a count, which may be a lower bound; one that is not known adds nothing.
  static void add(figure& to, const figure& count) {
    if (count.count) to.count = to.count.value_or(0) + *count.count;
    to.at_least = to.at_least || count.at_least;
  }
};

/// A value with its name: a fact, a tile, or a cell of a table.
struct item {
  html name;
  html value;
  std::string_view style = {};
  std::string link = {};        ///< The tile's page; of a cell: to the table sorted by its column.
  std::string_view order = {};  ///< Of a cell: how the table is sorted by its column.
};
/// The first cell names the row.
struct row {
  std::vector<item> cells = {};
  std::string live = {};  ///< Names it for the script.
};

}  // namespace tool::web
