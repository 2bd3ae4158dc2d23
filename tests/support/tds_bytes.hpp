#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace tableq_test {

/// Text in TDS's form: UTF-16, the low byte first. Invalid UTF-8 is refused.
std::string utf16_of(std::string_view utf8);
/// The reverse; half of a pair becomes U+FFFD.
std::string utf8_of(std::string_view utf16);

/// Parses a message. A read beyond its end throws.
class tds_reader {
 public:
  explicit tds_reader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  std::string_view bytes(std::size_t count);
  template <std::integral Integer>
  Integer number() {
    const std::string_view raw = bytes(sizeof(Integer));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(raw[i])} << (8U * i);
    }
    return static_cast<Integer>(static_cast<std::make_unsigned_t<Integer>>(value));
  }
  /// As UTF-8.
  std::string text(std::size_t units) { return utf8_of(bytes(units * 2)); }
  /// With its length in one byte before it.
  std::string short_text() { return text(number<std::uint8_t>()); }

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
    const auto raw = static_cast<std::make_unsigned_t<Integer>>(value);
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      out_ += static_cast<char>((std::uint64_t{raw} >> (8U * i)) & 255U);
    }
    return *this;
  }
  /// UTF-8 as UTF-16 with its length in units before it, in one byte or two.
  tds_writer& short_text(std::string_view utf8);
  tds_writer& long_text(std::string_view utf8);
  /// `inner` with its length in bytes before it, in two bytes.
  tds_writer& sized(const tds_writer& inner);

  [[nodiscard]] const std::string& all() const { return out_; }
  void clear() { out_.clear(); }

 private:
  std::string out_;
};

}  // namespace tableq_test
