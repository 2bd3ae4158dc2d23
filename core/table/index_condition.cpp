#include "core/table/index_condition.hpp"

#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/table/layout.hpp"

namespace tableq::inline v0::core {
namespace {

struct token {
  enum class kind : std::uint8_t { word, name, number, text, sign, end };
  kind is = kind::end;
  std::string text = {};  ///< Of a name or a text: without its quotes.
};

bool letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Cuts a condition into tokens. A sign that no term has stays a sign, which no rule accepts.
class scanner {
 public:
  explicit scanner(std::string_view text) : left_(text) {}

  std::vector<token> all() {
    std::vector<token> out;
    for (;;) {
      while (!left_.empty() && std::isspace(static_cast<unsigned char>(left_.front())) != 0) {
        left_.remove_prefix(1);
      }
      if (left_.empty()) break;
      out.push_back(next());
    }
    out.emplace_back();
    return out;
  }

 private:
  token next() {
    const char first = left_.front();
    if (first == '"' || first == '`') return {token::kind::name, quoted(first)};
    if (first == '[') return {token::kind::name, quoted(']')};
    if (first == '\'') return {token::kind::text, quoted('\'')};
    if (digit(first)) return {token::kind::number, run(digit)};
    if (letter(first))
      return {token::kind::word, run([](char c) { return letter(c) || digit(c); })};
    const bool two = left_.starts_with("::") || left_.starts_with("==");
    return {token::kind::sign, taken(two ? 2 : 1)};
  }

  std::string taken(std::size_t count) {
    std::string out(left_.substr(0, count));
    left_.remove_prefix(count);
    return out;
  }
  template <class Belongs>
  std::string run(Belongs belongs) {
    std::size_t count = 0;
    while (count < left_.size() && belongs(left_[count])) ++count;
    return taken(count);
  }
  /// A closing quote that stands twice is part of the name.
  std::string quoted(char close) {
    std::string out;
    left_.remove_prefix(1);
    while (!left_.empty()) {
      if (left_.front() == close) {
        left_.remove_prefix(1);
        if (left_.empty() || left_.front() != close) break;
      }
      out += taken(1);
    }
    return out;
  }

  std::string_view left_;
};

/// Reads `a = 0 AND (b IS NULL)` and the like. A rule that fails leaves the place where it began.
class condition_reader {
 public:
  condition_reader(std::vector<token> tokens, const std::vector<table_column>& columns)
      : tokens_(std::move(tokens)), columns_(columns) {}

  std::optional<std::set<std::string>> read() {
    if (!conjunction() || now().is != token::kind::end) return std::nullopt;
    return std::move(terms_);
  }

 private:
  /// Deeper conditions are not understood: each level may be read twice.
  static constexpr int deepest = 8;

  [[nodiscard]] const token& now() const { return tokens_[at_]; }
  bool sign(std::string_view text) {
    const bool here = now().is == token::kind::sign && now().text == text;
    if (here) ++at_;
    return here;
  }
  bool word(std::string_view text) {
    const bool here = is_word(now(), text);
    if (here) ++at_;
    return here;
  }
  static bool is_word(const token& one, std::string_view text) {
    if (one.is != token::kind::word || one.text.size() != text.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (std::tolower(static_cast<unsigned char>(one.text[i])) != text[i]) return false;
    }
    return true;
  }

  bool conjunction() {
    do {
      if (!term()) return false;
    } while (word("and"));
    return true;
  }

  bool term() {
    const std::size_t began = at_;
    const std::set<std::string> before = terms_;
    if (depth_ < deepest && sign("(")) {
      ++depth_;
      const bool inner = conjunction() && sign(")");
      --depth_;
      if (inner && ends()) return true;
      at_ = began;
      terms_ = before;
    }
    return comparison();
  }
  [[nodiscard]] bool ends() const {
    return now().is == token::kind::end || is_word(now(), "and") ||
           (now().is == token::kind::sign && now().text == ")");
  }

  bool comparison() {
    const bool negated = word("not");
    const std::optional<std::size_t> column = operand();
    if (!column) return false;
    const std::string name = std::to_string(*column);
    if (ends()) {
      if (columns_[*column].form != "boolean") return false;
      terms_.insert(name + (negated ? "=false" : "=true"));
      return true;
    }
    if (negated) return false;
    if (word("is")) {
      const bool filled = word("not");
      if (!word("null")) return false;
      terms_.insert(filled ? not_null_term(*column) : name + " is null");
      return true;
    }
    if (!sign("=") && !sign("==")) return false;
    const std::optional<std::string> literal = value();
    if (literal) terms_.insert(name + "=" + *literal);
    return literal.has_value();
  }

  std::optional<std::size_t> operand() {
    if (depth_ < deepest && sign("(")) {
      ++depth_;
      const std::optional<std::size_t> inner = operand();
      --depth_;
      return sign(")") ? inner : std::nullopt;
    }
    if (now().is != token::kind::name && now().is != token::kind::word) return std::nullopt;
    return find_column(columns_, tokens_[at_++].text);
  }

  std::optional<std::string> value() {
    std::optional<std::string> out;
    if (depth_ < deepest && sign("(")) {
      ++depth_;
      out = value();
      --depth_;
      if (!sign(")")) return std::nullopt;
    } else if (word("true")) {
      return "true";
    } else if (word("false")) {
      return "false";
    } else {
      out = number();
    }
    return cast() ? out : std::nullopt;
  }
  std::optional<std::string> number() {
    std::string text = sign("-") ? "-" : "";
    const bool alone = now().is == token::kind::text && text.empty();
    if (now().is != token::kind::number && !alone) return std::nullopt;
    text += tokens_[at_++].text;
    std::int64_t out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    // Without a cast, a text is not the number.
    if (alone && !(now().is == token::kind::sign && now().text == "::")) return std::nullopt;
    return std::to_string(out);
  }
  /// A cast to an integer, or none.
  bool cast() {
    if (!sign("::")) return true;
    return word("integer") || word("bigint") || word("smallint");
  }

  std::vector<token> tokens_;
  const std::vector<table_column>& columns_;
  std::set<std::string> terms_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string not_null_term(std::size_t column) {
  return std::to_string(column) + " is not null";
}

std::optional<std::set<std::string>> condition_terms(std::string_view text,
                                                     const std::vector<table_column>& columns) {
  return condition_reader(scanner(text).all(), columns).read();
}

}  // namespace tableq::inline v0::core
