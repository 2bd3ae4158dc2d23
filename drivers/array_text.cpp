#include "drivers/array_text.hpp"

#include <string_view>

namespace tableq::inline v0::drivers {
namespace {

void put_bytes(std::string& out, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += R"("\\x)";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4U];
    out += digits[byte & 0xfU];
  }
  out += '"';
}

void put_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void put(std::string& out, const core::value& one, core::value_type type) {
  if (one.is == core::value::shape::null) {
    out += "NULL";
  } else if (one.is == core::value::shape::integer) {
    out += std::to_string(one.number);
  } else if (type == core::value_type::bytes) {
    put_bytes(out, one.data);
  } else {
    put_text(out, one.data);
  }
}

}  // namespace

array_texts::array_texts(std::span<const core::value> items, std::span<const core::field> fields) {
  const std::size_t width = fields.size();
  texts_.reserve(width);
  for (std::size_t column = 0; column < width; ++column) {
    std::size_t size = 2;
    for (std::size_t i = column; i < items.size(); i += width) {
      size += 24 + 2 * items[i].data.size();
    }
    std::string& text = texts_.emplace_back();
    text.reserve(size);
    text += '{';
    for (std::size_t i = column; i < items.size(); i += width) {
      if (i != column) text += ',';
      put(text, items[i], fields[column].type);
    }
    text += '}';
    values_.emplace_back(std::string_view(text));
  }
}

}  // namespace tableq::inline v0::drivers
