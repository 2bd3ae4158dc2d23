#pragma once

#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tool::web {

/// Markup that stands in the source: nothing that a message, a queue or a client has sent can
/// become one.
class literal {
 public:
  template <std::size_t Size>
  // NOLINTNEXTLINE(google-explicit-constructor): a literal in the source is one
  consteval literal(const char (&text)[Size]) : text_(text, Size - 1) {}

  [[nodiscard]] constexpr std::string_view view() const { return text_; }

 private:
  std::string_view text_;
};

/// HTML that grows. Every value is escaped, in text and between quotes of an attribute; only
/// literals and other html are not.
class html {
 public:
  html() = default;
  template <class... Values>
  explicit html(literal form, const Values&... values) {
    put(form, values...);
  }

  /// Appends the form, with the values in the places of `{}`.
  template <class... Values>
  html& put(literal form, const Values&... values) {
    std::string_view rest = form.view();
    (put_until(rest, values), ...);
    if (rest.find("{}") != std::string_view::npos)
      throw std::logic_error("a place without a value");
    text_ += rest;
    return *this;
  }
  html& operator+=(const html& other) {
    text_ += other.text_;
    return *this;
  }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string release() { return std::move(text_); }

 private:
  template <class Value>
  void put_until(std::string_view& rest, const Value& value) {
    const std::size_t place = rest.find("{}");
    if (place == std::string_view::npos) throw std::logic_error("a value without a place");
    text_ += rest.substr(0, place);
    rest.remove_prefix(place + 2);
    append(value);
  }
  void append(const html& part) { text_ += part.text_; }
  void append(literal part) { text_ += part.view(); }
  void append(std::string_view value);
  void append(const char* value) { append(std::string_view(value)); }
  template <std::integral Number>
  void append(Number number) {
    text_ += std::to_string(number);
  }

  std::string text_;
};

/// The text with every byte that is not UTF-8, and every control character but tab and newline,
/// replaced by U+FFFD; its first `most` characters, and an ellipsis if it has more.
std::string shown_text(std::string_view text, std::size_t most = std::string::npos);

/// Whether the bytes are UTF-8 without control characters but tab, newline and return.
bool is_text(std::string_view bytes);

}  // namespace tool::web
