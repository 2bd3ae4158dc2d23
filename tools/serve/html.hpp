#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
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
  template <class Value>
  // NOLINTNEXTLINE(google-explicit-constructor): a value is its text
  html(const Value& value) {
    add(value);
  }

  html& raw(literal markup) {
    text_ += markup.view();
    return *this;
  }
  template <class Value>
  html& add(const Value& value) {
    if constexpr (std::is_base_of_v<html, Value>) {
      text_ += value.text_;
    } else if constexpr (std::integral<Value>) {
      text_ += std::to_string(value);
    } else {
      add_escaped(value);
    }
    return *this;
  }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string release() { return std::move(text_); }

 private:
  void add_escaped(std::string_view value);

  std::string text_;
};

/// A page before its frame.
struct page : html {
  std::string title = {};
  bool live = false;  ///< The script reads its figures again and again.
};

/// The text with every byte that is not UTF-8, and every control character but tab and newline,
/// replaced by U+FFFD; its first `most` characters, and an ellipsis if it has more.
std::string shown_text(std::string_view text, std::size_t most = std::string::npos);

/// Whether the bytes are UTF-8 without control characters but tab, newline and return.
bool is_text(std::string_view bytes);

}  // namespace tool::web
