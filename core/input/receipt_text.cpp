#include <tableq/receipts.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "core/seam/named.hpp"

namespace tableq::inline v0 {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

[[noreturn]] void refuse_receipt() {
  core::refuse("the text is no receipt: give it as tableq returned it");
}

/// The number at the beginning of the text, which loses it.
std::int64_t number_of(std::string_view& text) {
  std::int64_t out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc()) refuse_receipt();
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return out;
}
void dot_of(std::string_view& text) {
  if (!text.starts_with('.')) refuse_receipt();
  text.remove_prefix(1);
}

char half_byte(char digit) {
  const auto at = digits.find(digit);
  if (at == std::string_view::npos) refuse_receipt();
  return static_cast<char>(at);
}

}  // namespace

std::string to_string(const receipt& value) {
  constexpr std::size_t longest = 3 * 20 + 2;
  std::array<char, longest> text{};
  char* end = text.data();
  for (const std::int64_t each : {value.queue, value.id.value, value.fence}) {
    if (end != text.data()) *end++ = '.';
    end = std::to_chars(end, text.data() + text.size(), each).ptr;
  }
  std::string out(text.data(), end);
  if (value.key.empty()) return out;
  out += '.';
  for (const char each : value.key) {
    const auto byte = static_cast<unsigned char>(each);
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out;
}

receipt parse_receipt(text_view text) {
  std::string_view rest = text.view();
  receipt out;
  out.queue = number_of(rest);
  dot_of(rest);
  out.id.value = number_of(rest);
  dot_of(rest);
  out.fence = number_of(rest);
  if (rest.empty()) return out;
  dot_of(rest);
  if (rest.empty()) refuse_receipt();
  if (rest.size() % 2 != 0) refuse_receipt();
  for (std::size_t i = 0; i < rest.size(); i += 2) {
    out.key += static_cast<char>((half_byte(rest[i]) << 4U) | half_byte(rest[i + 1]));
  }
  return out;
}

}  // namespace tableq::inline v0
