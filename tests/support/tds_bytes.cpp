#include "support/tds_bytes.hpp"

#include <limits>
#include <stdexcept>

namespace tableq_test {
namespace {

constexpr std::uint32_t replacement = 0xFFFD;

void append_unit(std::string& out, std::uint32_t unit) {
  out += static_cast<char>(unit & 255U);
  out += static_cast<char>((unit >> 8U) & 255U);
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | ((point >> shift) & 0x3FU));
  };
  if (point < 0x80U) {
    out += static_cast<char>(point);
  } else if (point < 0x800U) {
    out += static_cast<char>(0xC0U | (point >> 6U));
    tail(0);
  } else if (point < 0x10000U) {
    out += static_cast<char>(0xE0U | (point >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (point >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::size_t tail_of(unsigned char lead) {
  if (lead < 0x80U) return 0;
  if (lead >= 0xC2U && lead < 0xE0U) return 1;
  if (lead >= 0xE0U && lead < 0xF0U) return 2;
  if (lead >= 0xF0U && lead < 0xF5U) return 3;
  throw std::invalid_argument("tds: no UTF-8");
}

template <class Length>
Length length_of(std::size_t size) {
  if (size > std::numeric_limits<Length>::max()) throw std::length_error("tds: too long");
  return static_cast<Length>(size);
}

}  // namespace

std::string utf16_of(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size() * 2);
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const auto lead = static_cast<unsigned char>(utf8[at]);
    const std::size_t tail = tail_of(lead);
    if (tail > utf8.size() - at - 1) throw std::invalid_argument("tds: no UTF-8");
    std::uint32_t point = tail == 0 ? lead : lead & (0x3FU >> tail);
    for (std::size_t i = 0; i < tail; ++i) {
      const auto next = static_cast<unsigned char>(utf8[++at]);
      if ((next & 0xC0U) != 0x80U) throw std::invalid_argument("tds: no UTF-8");
      point = (point << 6U) | (next & 0x3FU);
    }
    if (point < 0x10000U) {
      append_unit(out, point);
    } else {
      append_unit(out, 0xD800U | ((point - 0x10000U) >> 10U));
      append_unit(out, 0xDC00U | ((point - 0x10000U) & 0x3FFU));
    }
  }
  return out;
}

std::string utf8_of(std::string_view utf16) {
  tds_reader units(utf16);
  std::string out;
  out.reserve(utf16.size());
  std::uint32_t high = 0;
  while (!units.at_end()) {
    const std::uint32_t unit = units.number<std::uint16_t>();
    const bool low = unit >= 0xDC00U && unit < 0xE000U;
    if (high != 0 && low) {
      append_utf8(out, 0x10000U + ((high & 0x3FFU) << 10U) + (unit & 0x3FFU));
      high = 0;
      continue;
    }
    if (high != 0) append_utf8(out, replacement);
    high = unit >= 0xD800U && unit < 0xDC00U ? unit : 0;
    if (high == 0) append_utf8(out, low ? replacement : unit);
  }
  if (high != 0) append_utf8(out, replacement);
  return out;
}

std::string_view tds_reader::bytes(std::size_t count) {
  if (count > rest_.size()) throw std::out_of_range("tds: the message is too short");
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

tds_writer& tds_writer::short_text(std::string_view utf8) {
  const std::string units = utf16_of(utf8);
  return number(length_of<std::uint8_t>(units.size() / 2)).bytes(units);
}

tds_writer& tds_writer::long_text(std::string_view utf8) {
  const std::string units = utf16_of(utf8);
  return number(length_of<std::uint16_t>(units.size() / 2)).bytes(units);
}

tds_writer& tds_writer::sized(const tds_writer& inner) {
  return number(length_of<std::uint16_t>(inner.all().size())).bytes(inner.all());
}

}  // namespace tableq_test
