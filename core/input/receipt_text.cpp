#include <tableq/receipts.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <boost/algorithm/hex.hpp>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"

namespace tableq::inline v0 {

namespace {

constexpr std::uint8_t base = 16;

/// The value of each digit that to_string writes; base of all other characters.
constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> out{};
  out.fill(base);
  for (std::uint8_t value = 0; value < base; ++value) {
    out.at(static_cast<unsigned char>("0123456789abcdef"[value])) = value;
  }
  return out;
}();

/// Reads a number and the dot after it. By hand: thrice as fast as from_chars.
/// @return whether it is written as to_string writes it.
bool next_number(std::string_view& text, std::int64_t& out) {
  std::uint64_t number = 0;
  std::size_t digits = 0;
  for (; digits < text.size(); ++digits) {
    const std::uint8_t value = digit_values[static_cast<unsigned char>(text[digits])];
    if (value == base) break;
    number = number * base + value;
  }
  out = static_cast<std::int64_t>(number);
  const bool shortest = digits == 1 || (digits != 0 && digits <= 16 && text.front() != '0');
  text.remove_prefix(digits);
  if (text.starts_with('.')) text.remove_prefix(1);
  return shortest;
}

std::string key_of(std::string_view digits) {
  std::string out;
  try {
    boost::algorithm::unhex(digits, std::back_inserter(out));
  } catch (const boost::algorithm::hex_decode_error&) {
    out.clear();
  }
  return out;
}

}  // namespace

std::string to_string(const receipt& value) {
  constexpr std::size_t longest = 3 * 16 + 2;
  std::array<char, longest> text{};
  char* end = text.data();
  for (const std::int64_t each : {value.id.value, value.fence, value.queue}) {
    if (end != text.data()) *end++ = '.';
    const auto number = static_cast<std::uint64_t>(each);
    end = std::to_chars(end, text.data() + text.size(), number, base).ptr;
  }
  std::string out(text.data(), end);
  if (!value.key.empty()) {
    out += '.';
    boost::algorithm::hex_lower(value.key, std::back_inserter(out));
  }
  return out;
}

receipt parse_receipt(text_view text) {
  std::string_view rest = text.view();
  receipt out;
  // Each receipt has one text: parts that are left out, too many or written otherwise are refused.
  const bool numbers = next_number(rest, out.id.value) && next_number(rest, out.fence) &&
                       next_number(rest, out.queue);
  const bool has_key = !rest.empty();
  if (has_key) out.key = key_of(rest);
  const bool same = has_key ? to_string(out) == text.view() : !text.view().ends_with('.');
  if (!numbers || !same) {
    core::refuse("not a receipt: give its text unchanged, as the take gave it");
  }
  return out;
}

}  // namespace tableq::inline v0
