#include <tableq/receipts.hpp>

#include <algorithm>
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

constexpr std::uint64_t base = 16;

/// @return base if it is none that to_string writes.
constexpr std::uint64_t value_of(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint64_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint64_t>(digit - 'a' + 10);
  return base;
}

/// The text up to the next dot, which is read too.
std::string_view next_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('.'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// @return whether it is written as to_string writes it. By hand: twice as fast as from_chars.
bool next_number(std::string_view& text, std::int64_t& out) {
  const std::string_view part = next_part(text);
  std::uint64_t number = 0;
  for (const char each : part) {
    const std::uint64_t digit = value_of(each);
    if (digit == base) return false;
    number = number * base + digit;
  }
  out = static_cast<std::int64_t>(number);
  return !part.empty() && part.size() <= 16 && (part.front() != '0' || part == "0");
}

std::string next_key(std::string_view& text) {
  const std::string_view part = next_part(text);
  std::string out;
  try {
    boost::algorithm::unhex(part, std::back_inserter(out));
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
  if (has_key) out.key = next_key(rest);
  const bool same = has_key ? to_string(out) == text.view() : !text.view().ends_with('.');
  if (!numbers || !same) {
    core::refuse("not a receipt: give its text unchanged, as the take gave it");
  }
  return out;
}

}  // namespace tableq::inline v0
