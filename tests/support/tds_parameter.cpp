#include "support/tds_parameter.hpp"

#include <limits>
#include <stdexcept>

namespace tableq_test {
namespace {

constexpr std::size_t collation_size = 5;

/// The layout of a type's values.
enum class layout : std::uint8_t { integer, raw, text, raw_long, text_long };

struct type_family {
  const char* name;
  std::uint8_t code;
  layout form;
  bool collated;
};

/// The types whose values have a length of two bytes, or are `(max)` and come in chunks.
constexpr type_family sized_types[] = {
    {"varbinary", 0xA5, layout::raw, false}, {"binary", 0xAD, layout::raw, false},
    {"varchar", 0xA7, layout::raw, true},    {"char", 0xAF, layout::raw, true},
    {"nvarchar", 0xE7, layout::text, true},  {"nchar", 0xEF, layout::text, true},
};
/// The old types, with lengths of four bytes.
constexpr type_family long_types[] = {
    {"image", 0x22, layout::raw_long, false},
    {"text", 0x23, layout::raw_long, true},
    {"ntext", 0x63, layout::text_long, true},
};

const char* integer_name(std::size_t size) {
  switch (size) {
    case 1:
      return "tinyint";
    case 2:
      return "smallint";
    case 4:
      return "int";
    case 8:
      return "bigint";
    default:
      throw std::runtime_error("tds: an integer of a size that does not exist");
  }
}

std::int64_t integer_of(std::string_view raw) {
  tds_reader from(raw);
  switch (raw.size()) {
    case 1:
      return from.number<std::uint8_t>();
    case 2:
      return from.number<std::int16_t>();
    case 4:
      return from.number<std::int32_t>();
    default:
      return from.number<std::int64_t>();
  }
}

tds_value value_of(layout form, std::string_view raw) {
  const bool units = form == layout::text || form == layout::text_long;
  return units ? utf8_of(raw) : std::string(raw);
}

tds_value read_chunks(tds_reader& from, layout form) {
  if (from.number<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max()) return nullptr;
  std::string whole;
  while (const auto size = from.number<std::uint32_t>()) whole += from.bytes(size);
  return value_of(form, whole);
}

void read_sized(tds_reader& from, const type_family& type, tds_parameter& into) {
  const auto declared = from.number<std::uint16_t>();
  if (type.collated) from.bytes(collation_size);
  if (declared == 0xFFFFU) {
    into.type = std::string(type.name) + "(max)";
    into.value = read_chunks(from, type.form);
    return;
  }
  const int unit = type.form == layout::text ? 2 : 1;
  into.type = std::string(type.name) + "(" + std::to_string(declared / unit) + ")";
  const auto size = from.number<std::uint16_t>();
  if (size != 0xFFFFU) into.value = value_of(type.form, from.bytes(size));
}

void read_long(tds_reader& from, const type_family& type, tds_parameter& into) {
  from.number<std::uint32_t>();
  if (type.collated) from.bytes(collation_size);
  into.type = type.name;
  const auto size = from.number<std::int32_t>();
  if (size >= 0) into.value = value_of(type.form, from.bytes(static_cast<std::size_t>(size)));
}

/// Types with a length of one byte before the value, where zero means NULL.
void read_short(tds_reader& from, std::uint8_t code, tds_parameter& into) {
  std::uint8_t declared = 0;
  bool integer = false;
  switch (code) {
    case 0x26:
      declared = from.number<std::uint8_t>();
      into.type = integer_name(declared);
      integer = true;
      break;
    case 0x68:
      from.number<std::uint8_t>();
      into.type = "bit";
      integer = true;
      break;
    case 0x6D:
      from.number<std::uint8_t>();
      into.type = "float";
      break;
    case 0x6F:
      from.number<std::uint8_t>();
      into.type = "datetime";
      break;
    case 0x6A:
    case 0x6C:
      from.bytes(3);
      into.type = "numeric";
      break;
    case 0x24:
      from.number<std::uint8_t>();
      into.type = "uniqueidentifier";
      break;
    case 0x28:
      into.type = "date";
      break;
    case 0x29:
    case 0x2A:
    case 0x2B:
      from.number<std::uint8_t>();
      into.type = code == 0x29 ? "time" : code == 0x2A ? "datetime2" : "datetimeoffset";
      break;
    default:
      throw std::runtime_error("tds: a parameter of type " + std::to_string(code));
  }
  const auto size = from.number<std::uint8_t>();
  const std::string_view raw = from.bytes(size);
  if (size == 0) return;
  into.value = integer ? tds_value(integer_of(raw)) : tds_value(std::string(raw));
}

/// Types of one size, which have no NULL.
bool read_fixed(tds_reader& from, std::uint8_t code, tds_parameter& into) {
  const auto take = [&](std::size_t size) {
    into.type = integer_name(size);
    into.value = integer_of(from.bytes(size));
    return true;
  };
  switch (code) {
    case 0x30:
      return take(1);
    case 0x34:
      return take(2);
    case 0x38:
      return take(4);
    case 0x7F:
      return take(8);
    default:
      return false;
  }
}

}  // namespace

tds_parameter read_parameter(tds_reader& from) {
  tds_parameter out;
  out.name = from.short_text();
  from.number<std::uint8_t>();
  const auto code = from.number<std::uint8_t>();
  for (const type_family& type : sized_types) {
    if (type.code == code) {
      read_sized(from, type, out);
      return out;
    }
  }
  for (const type_family& type : long_types) {
    if (type.code == code) {
      read_long(from, type, out);
      return out;
    }
  }
  if (!read_fixed(from, code, out)) read_short(from, code, out);
  return out;
}

}  // namespace tableq_test
