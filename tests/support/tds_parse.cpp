#include <stdexcept>

#include "support/tds_bytes.hpp"
#include "support/tds_request.hpp"

namespace tableq_test {
namespace {

[[noreturn]] void unknown(const char* what, int number) {
  throw std::runtime_error("tds: " + std::string(what) + " " + std::to_string(number));
}

void skip_headers(tds_reader& from) {
  const auto total = from.number<std::uint32_t>();
  from.bytes(total - sizeof total);
}

tds_value integer_of(tds_reader& from, std::size_t size) {
  if (size == 0) return nullptr;
  if (size == 8) return from.number<std::int64_t>();
  return std::int64_t{from.number<std::int32_t>()};
}

/// Bytes with a length before them, or in chunks.
tds_value bytes_of(tds_reader& from, bool in_chunks, bool text) {
  std::string raw;
  if (in_chunks) {
    if (from.number<std::uint64_t>() == ~std::uint64_t{0}) return nullptr;
    while (const auto size = from.number<std::uint32_t>()) raw += from.bytes(size);
  } else {
    const auto size = from.number<std::uint16_t>();
    if (size == no_tds_length) return nullptr;
    raw = from.bytes(size);
  }
  return text ? utf8_of(raw) : raw;
}

tds_parameter read_parameter(tds_reader& from) {
  from.bytes(from.number<std::uint8_t>() * std::size_t{2});  // its name
  from.number<std::uint8_t>();
  const auto code = from.number<std::uint8_t>();
  if (code == 0x38) return {"int", integer_of(from, 4)};
  if (code == 0x26) {
    const bool big = from.number<std::uint8_t>() == 8;
    return {big ? "bigint" : "int", integer_of(from, from.number<std::uint8_t>())};
  }
  if (code == 0x22 || code == 0x63) {  // the old long types
    from.bytes(code == 0x63 ? 9 : 4);  // their declared length, and the collation
    const auto size = from.number<std::int32_t>();
    if (size < 0) return {"long", nullptr};
    const std::string_view raw = from.bytes(static_cast<std::size_t>(size));
    return {"long", code == 0x63 ? utf8_of(raw) : std::string(raw)};
  }
  const bool text = code == 0xE7;
  if (!text && code != 0xA5) unknown("a parameter of type", code);
  const auto declared = from.number<std::uint16_t>();
  if (text) from.bytes(5);  // the collation
  const bool in_chunks = declared == no_tds_length;
  const std::string size = in_chunks ? "max" : std::to_string(text ? declared / 2 : declared);
  return {(text ? "nvarchar(" : "varbinary(") + size + ")", bytes_of(from, in_chunks, text)};
}

tds_value shift(tds_request& out) {
  tds_value first = std::move(out.parameters.at(0).value);
  out.parameters.erase(out.parameters.begin());
  return first;
}

std::string text_of(const tds_value& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

tds_request parse_call(tds_reader from) {
  tds_request out{.kind = tds_kind::call};
  skip_headers(from);
  const auto length = from.number<std::uint16_t>();
  if (length != no_tds_length) {
    out.procedure = utf8_of(from.bytes(length * std::size_t{2}));
  } else if (const auto number = from.number<std::uint16_t>(); number == 10) {
    out.procedure = "sp_executesql";
  } else {
    unknown("procedure", number);
  }
  from.number<std::uint16_t>();
  while (from.left() > 0) out.parameters.push_back(read_parameter(from));
  out.text = text_of(shift(out));
  if (!out.parameters.empty()) out.declaration = text_of(shift(out));
  return out;
}

tds_request parse_transaction(tds_reader from) {
  skip_headers(from);
  const auto type = from.number<std::uint16_t>();
  if (type != 5 && type != 7 && type != 8) unknown("transaction request", type);
  return {.kind = tds_kind::transaction,
          .procedure = type == 5   ? "begin"
                       : type == 7 ? "commit"
                                   : "rollback"};
}

/// Decodes a client's obfuscated password.
std::string plain(std::string_view hidden) {
  std::string units;
  for (const char each : hidden) {
    const unsigned mixed = static_cast<unsigned char>(each) ^ 0xA5U;
    units += static_cast<char>(((mixed << 4U) | (mixed >> 4U)) & 255U);
  }
  return units;
}

tds_request parse_login(std::string_view body) {
  const auto from = [&](std::size_t place) {
    tds_reader out(body);
    out.bytes(place);
    return out;
  };
  const auto at = [&](std::size_t place) {
    tds_reader where = from(place);
    const auto offset = where.number<std::uint16_t>();
    return from(offset).bytes(where.number<std::uint16_t>() * std::size_t{2});
  };
  tds_request out{.kind = tds_kind::login};
  out.login.user = utf8_of(at(40));
  out.login.password = utf8_of(plain(at(44)));
  out.login.database = utf8_of(at(68));
  if ((from(27).number<std::uint8_t>() & 0x10U) == 0) return out;
  const auto extension = from(56).number<std::uint16_t>();
  tds_reader features = from(from(extension).number<std::uint32_t>());
  while (true) {
    const int feature = features.number<std::uint8_t>();
    if (feature == 255) return out;
    out.login.features.insert(feature);
    features.bytes(features.number<std::uint32_t>());
  }
}

}  // namespace

tds_request parse(tds_packet type, std::string_view body) {
  switch (type) {
    case tds_packet::batch: {
      tds_reader from(body);
      skip_headers(from);
      return {.kind = tds_kind::batch, .text = utf8_of(from.bytes(from.left()))};
    }
    case tds_packet::call:
      return parse_call(tds_reader(body));
    case tds_packet::transaction:
      return parse_transaction(tds_reader(body));
    case tds_packet::login:
      return parse_login(body);
    case tds_packet::attention:
      return {.kind = tds_kind::attention};
    default:
      unknown("a message of type", static_cast<int>(type));
  }
}

}  // namespace tableq_test
