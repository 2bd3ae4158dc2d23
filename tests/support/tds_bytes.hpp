#pragma once

#include <boost/locale/encoding_utf.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace tableq_test {

/// NULL, or in chunks.
inline constexpr std::uint16_t no_tds_length = 0xFFFF;

/// Text in TDS's form: UTF-16, the low byte first.
inline std::string utf16_of(std::string_view utf8) {
  const auto units =
      boost::locale::conv::utf_to_utf<char16_t>(utf8.data(), utf8.data() + utf8.size());
  return {reinterpret_cast<const char*>(units.data()), units.size() * sizeof(char16_t)};
}
inline std::string utf8_of(std::string_view utf16) {
  std::u16string units(utf16.size() / sizeof(char16_t), u'\0');
  std::memcpy(units.data(), utf16.data(), units.size() * sizeof(char16_t));
  return boost::locale::conv::utf_to_utf<char>(units);
}

/// Parses a message. A read beyond its end throws.
class tds_reader {
 public:
  explicit tds_reader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::size_t left() const { return rest_.size(); }
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) throw std::out_of_range("tds: the message is too short");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <std::integral Integer>
  Integer number() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char each : bytes(sizeof(Integer))) {
      value |= std::uint64_t{static_cast<unsigned char>(each)} << shift;
      shift += 8;
    }
    return static_cast<Integer>(static_cast<std::make_unsigned_t<Integer>>(value));
  }

 private:
  std::string_view rest_;
};

/// Builds a message.
class tds_writer {
 public:
  tds_writer& bytes(std::string_view raw) {
    out_ += raw;
    return *this;
  }
  template <std::integral Integer>
  tds_writer& number(Integer value) {
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      out_ += static_cast<char>((static_cast<std::uint64_t>(value) >> (8U * i)) & 255U);
    }
    return *this;
  }
  /// UTF-8 as UTF-16 with its length in units before it.
  template <std::integral Length>
  tds_writer& text(std::string_view utf8) {
    const std::string units = utf16_of(utf8);
    return number(static_cast<Length>(units.size() / 2)).bytes(units);
  }
  /// A token whose length stands behind its first byte.
  tds_writer& token(std::uint8_t which, const tds_writer& inner) {
    number(which).number(static_cast<std::uint16_t>(inner.out_.size()));
    return bytes(inner.out_);
  }

  [[nodiscard]] const std::string& all() const { return out_; }

 private:
  std::string out_;
};

}  // namespace tableq_test
