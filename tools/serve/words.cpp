#include "words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "watched.hpp"

namespace tool::web {

namespace {

constexpr const char* dash = "\xe2\x80\x93";

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
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", *rate);
  std::string out = text.data();
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

html when(tableq::timestamp time, tableq::timestamp now) {
  const std::string exact = iso(time);
  if (time > now) {
    return html(R"(<time datetime="{}" title="{}">in {}</time>)", exact, time_words(time),
                span_words(between(now, time)));
  }
  return html(R"(<time datetime="{}" title="{}">{} ago</time>)", exact, time_words(time),
              span_words(between(time, now)));
}

html progress_words(const tableq::message_progress& of, tableq::timestamp now) {
  // Plain SQL wrote it: only the text is known.
  if (of.at == tableq::timestamp()) return foreign(of.note);
  html out("{}%", std::lround(std::clamp(of.done, 0.0, 1.0) * 100));
  if (!of.note.empty()) out.put(": {}", foreign(of.note));
  out.put(", {}", when(of.at, now));
  return out;
}

html foreign(std::string_view text) {
  return html("<bdi>{}</bdi>", text);
}

html foreign_start(std::string_view text, std::size_t most) {
  const std::string clean = shown_text(text.substr(0, 4 * most));
  std::size_t end = 0;
  std::size_t characters = 0;
  while (end < clean.size() && characters < most) {
    ++end;
    while (end < clean.size() && (static_cast<unsigned char>(clean[end]) & 0xc0U) == 0x80U) ++end;
    ++characters;
  }
  if (end == clean.size() && text.size() <= 4 * most) return foreign(clean);
  return html("<bdi>{}</bdi>\xe2\x80\xa6", clean.substr(0, end));
}

std::string messages_words(std::size_t count) {
  return count == 1 ? "1 message" : number(count) + " messages";
}

}  // namespace tool::web
