#include <tableq/receipts.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <boost/algorithm/hex.hpp>

#include <tableq/error.hpp>

namespace tableq::inline v0 {

namespace {

/// The text up to the next dot, which is read too.
std::string_view next_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('.'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

std::int64_t next_number(std::string_view& text) {
  const std::string_view part = next_part(text);
  std::int64_t out = 0;
  std::from_chars(part.data(), part.data() + part.size(), out);
  return out;
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
  constexpr std::size_t longest = 3 * 20 + 2;
  std::array<char, longest> text{};
  char* end = text.data();
  for (const std::int64_t each : {value.id.value, value.fence, value.queue}) {
    if (end != text.data()) *end++ = '.';
    end = std::to_chars(end, text.data() + text.size(), each).ptr;
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
  out.id.value = next_number(rest);
  out.fence = next_number(rest);
  out.queue = next_number(rest);
  if (!rest.empty()) out.key = next_key(rest);
  // Each receipt has one text: this finds all that was left out, too long, or written otherwise.
  if (to_string(out) != text.view()) {
    throw error(errc::invalid_argument, advice::never,
                "not a receipt: give its text unchanged, as a take or to_string gave it");
  }
  return out;
}

}  // namespace tableq::inline v0
