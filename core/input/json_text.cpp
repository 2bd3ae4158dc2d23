#include "core/input/json_text.hpp"

#include <cstddef>

#include "core/input/utf8.hpp"

namespace tableq::inline v0::core {
namespace {

/// Walks along a JSON text. Each function returns whether the text was well-formed so far.
class json_walk {
 public:
  explicit json_walk(std::string_view text) noexcept : rest_(text) {}

  /// Skips blanks, then this character if it is next.
  bool pass(char wanted) {
    skip_blanks();
    if (next() != wanted || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

  /// A string, decoded.
  bool read_string(std::string& text) {
    skip_blanks();
    return next() == '"' && read_string(nullptr, &text);
  }

  bool read_value(json_value& out) {
    skip_blanks();
    out.is_string = next() == '"';
    if (out.is_string) return read_string(nullptr, &out.text);
    return copy_value(out.text) && is_plain_utf8(out.text);
  }

  /// One value of any kind as written, without blanks. Bytes that are no UTF-8 are copied.
  bool copy_value(std::string& out) {
    std::string closing;  // brackets that close the open arrays and objects
    for (;;) {
      skip_blanks();
      bool complete = true;
      const char first = next();
      if (first == '[' || first == '{') {
        copy(out, 1);
        closing += first == '[' ? ']' : '}';
        skip_blanks();
        complete = next() == closing.back();
      } else if (first == '"' ? !read_string(&out, nullptr) : !copy_word(out)) {
        return false;
      }
      while (complete && !closing.empty()) {
        skip_blanks();
        if (next() == closing.back()) {
          closing.pop_back();
        } else if (next() == ',') {
          complete = false;
        } else {
          return false;
        }
        copy(out, 1);
      }
      if (closing.empty()) return true;
      if (closing.back() == '}' && !copy_name(out)) return false;
    }
  }

 private:
  [[nodiscard]] char next() const noexcept { return rest_.empty() ? '\0' : rest_.front(); }
  void skip_blanks() noexcept {
    const std::size_t begin = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(begin == std::string_view::npos ? rest_.size() : begin);
  }
  void copy(std::string& out, std::size_t length) {
    out += rest_.substr(0, length);
    rest_.remove_prefix(length);
  }

  bool copy_name(std::string& out) {
    skip_blanks();
    if (next() != '"' || !read_string(&out, nullptr)) return false;
    skip_blanks();
    if (next() != ':') return false;
    copy(out, 1);
    return true;
  }

  /// A number, `true`, `false` or `null`.
  bool copy_word(std::string& out) {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (rest_.starts_with(word)) {
        copy(out, word.size());
        return true;
      }
    }
    std::size_t at = next() == '-' ? 1 : 0;
    const auto is = [&](char c) { return at < rest_.size() && rest_[at] == c; };
    const auto pass_digits = [&] {
      const std::size_t begin = at;
      while (at < rest_.size() && rest_[at] >= '0' && rest_[at] <= '9') ++at;
      return at > begin;
    };
    const std::size_t whole = at;
    if (!pass_digits() || (rest_[whole] == '0' && at > whole + 1)) return false;
    if (is('.')) {
      ++at;
      if (!pass_digits()) return false;
    }
    if (is('e') || is('E')) {
      ++at;
      if (is('+') || is('-')) ++at;
      if (!pass_digits()) return false;
    }
    copy(out, at);
    return true;
  }

  /// @param raw gets the string as written; may be null.
  /// @param text gets its content in UTF-8; null: the content is not checked.
  bool read_string(std::string* raw, std::string* text) {
    const std::string_view begin = rest_;
    rest_.remove_prefix(1);
    while (next() != '"') {
      if (static_cast<unsigned char>(next()) < 0x20) return false;  // also at the end
      if (next() == '\\') {
        if (!read_escape(text)) return false;
        continue;
      }
      const std::size_t length = text == nullptr ? 1 : character_length(rest_);
      if (length == 0) return false;
      if (text != nullptr) *text += rest_.substr(0, length);
      rest_.remove_prefix(length);
    }
    rest_.remove_prefix(1);
    if (raw != nullptr) *raw += begin.substr(0, begin.size() - rest_.size());
    return true;
  }

  bool read_escape(std::string* text) {
    rest_.remove_prefix(1);
    if (next() == 'u') return read_code(text);
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    const std::size_t which = rest_.empty() ? std::string_view::npos : names.find(next());
    if (which == std::string_view::npos) return false;
    if (text != nullptr) *text += meant[which];
    rest_.remove_prefix(1);
    return true;
  }

  /// `u` and four digits; if `text` is given, also the second half of a surrogate pair.
  bool read_code(std::string* text) {
    unsigned long code = 0;
    if (!read_digits(code)) return false;
    if (text == nullptr) return true;
    constexpr unsigned long high = 0xD800;
    constexpr unsigned long low = 0xDC00;
    constexpr unsigned long behind = 0xE000;
    if (code >= high && code < behind) {
      unsigned long second = 0;
      if (code >= low || !rest_.starts_with("\\u")) return false;
      rest_.remove_prefix(1);
      if (!read_digits(second) || second < low || second >= behind) return false;
      code = 0x10000 + ((code - high) << 10U) + (second - low);
    }
    append_character(*text, code);
    return true;
  }

  bool read_digits(unsigned long& code) {
    constexpr std::size_t length = 5;  // with the `u`
    if (rest_.size() < length) return false;
    for (const char c : rest_.substr(1, length - 1)) {
      const bool digit = c >= '0' && c <= '9';
      const bool lower = c >= 'a' && c <= 'f';
      if (!digit && !lower && !(c >= 'A' && c <= 'F')) return false;
      code = code * 16 + static_cast<unsigned long>(digit ? c - '0' : c - (lower ? 'a' : 'A') + 10);
    }
    rest_.remove_prefix(length);
    return true;
  }

  std::string_view rest_;
};

/// Reads the text between two brackets, with commas between the values.
template <class Read>
bool read_list(std::string_view json, char open, char close, Read read) {
  json_walk walk(json);
  if (!walk.pass(open)) return false;
  if (!walk.pass(close)) {
    do {
      if (!read(walk)) return false;
    } while (walk.pass(','));
    if (!walk.pass(close)) return false;
  }
  return walk.at_end();
}

}  // namespace

std::optional<json_members> members_of(std::string_view json) {
  json_members out;
  const bool good = read_list(json, '{', '}', [&](json_walk& walk) {
    auto& [name, value] = out.emplace_back();
    return walk.read_string(name) && walk.pass(':') && walk.read_value(value);
  });
  return good ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::vector<std::string>> elements_of(std::string_view json) {
  std::vector<std::string> out;
  const bool good = read_list(json, '[', ']',
                              [&](json_walk& walk) { return walk.copy_value(out.emplace_back()); });
  return good ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace tableq::inline v0::core
