#include "core/table/row_key.hpp"

#include <charconv>
#include <cstdint>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

[[noreturn]] void refuse_key() {
  refuse("the receipt's key is not one that this table has given");
}

/// Takes a number and the sign after it from the beginning of a text.
template <class Number>
Number number_before(std::string_view& text, char sign) {
  Number out{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (failure != std::errc() || length >= text.size() || text[length] != sign) refuse_key();
  text.remove_prefix(length + 1);
  return out;
}

}  // namespace

bool append_key(std::string& key, const cell& column) {
  if (const auto* number = std::get_if<std::int64_t>(&column)) {
    key.append("i").append(std::to_string(*number)).append(";");
    return true;
  }
  const auto* text = std::get_if<std::string>(&column);
  if (text == nullptr) return false;
  key.append("t").append(std::to_string(text->size())).append(":").append(*text);
  return true;
}

std::vector<value> read_key(std::string_view key, std::size_t columns) {
  std::vector<value> out;
  while (!key.empty()) {
    const char sort = key.front();
    key.remove_prefix(1);
    if (sort == 'i') {
      out.emplace_back(number_before<std::int64_t>(key, ';'));
    } else if (sort == 't') {
      const auto length = number_before<std::size_t>(key, ':');
      if (length > key.size()) refuse_key();
      out.emplace_back(key.substr(0, length));
      key.remove_prefix(length);
    } else {
      refuse_key();
    }
  }
  if (out.size() != columns) refuse_key();
  return out;
}

}  // namespace tableq::inline v0::core
