#include "support/tds_tokens.hpp"

#include <limits>
#include <stdexcept>

namespace tableq_test {
namespace {

using namespace std::string_view_literals;

// SQL_Latin1_General_CP1_CI_AS
constexpr std::string_view latin_collation = "\x09\x04\xD0\x00\x34"sv;
constexpr std::uint16_t no_length = 0xFFFF;
constexpr std::uint16_t nullable = 1;

constexpr std::uint8_t integer_code = 0x26;
constexpr std::uint8_t nvarchar_code = 0xE7;
constexpr std::uint8_t varbinary_code = 0xA5;

enum class change : std::uint8_t {
  database = 1,
  packet_size = 4,
  collation = 7,
  begun = 8,
  committed = 9,
  rolled_back = 10,
};

std::uint8_t width_of(tds_type type) {
  return type == tds_type::integer ? 4 : 8;
}

/// Of a column of limited size, in bytes.
std::uint16_t longest_in(const tds_column& column) {
  if (column.size == 0) return 8000;
  return static_cast<std::uint16_t>(column.type == tds_type::nvarchar ? column.size * 2
                                                                      : column.size);
}

void write_type(tds_writer& to, const tds_column& column) {
  switch (column.type) {
    case tds_type::integer:
    case tds_type::bigint:
      to.number(integer_code).number(width_of(column.type));
      return;
    case tds_type::nvarchar:
      to.number(nvarchar_code).number(longest_in(column)).bytes(latin_collation);
      return;
    case tds_type::nvarchar_max:
      to.number(nvarchar_code).number(no_length).bytes(latin_collation);
      return;
    case tds_type::varbinary:
      to.number(varbinary_code).number(longest_in(column));
      return;
    case tds_type::varbinary_max:
      to.number(varbinary_code).number(no_length);
      return;
  }
}

void write_integer(tds_writer& to, tds_type type, const tds_value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr) {
    to.number(std::uint8_t{0});
    return;
  }
  to.number(width_of(type));
  if (type == tds_type::bigint) {
    to.number(*number);
  } else {
    to.number(static_cast<std::int32_t>(*number));
  }
}

void write_short(tds_writer& to, std::size_t longest, const std::string* raw) {
  if (raw == nullptr) {
    to.number(no_length);
    return;
  }
  if (raw->size() > longest) throw std::length_error("tds: a value longer than its column");
  to.number(static_cast<std::uint16_t>(raw->size())).bytes(*raw);
}

/// In chunks of different sizes, as servers may send them.
void write_chunks(tds_writer& to, const std::string* raw) {
  if (raw == nullptr) {
    to.number(std::numeric_limits<std::uint64_t>::max());
    return;
  }
  to.number(std::uint64_t{raw->size()});
  std::string_view rest = *raw;
  std::size_t size = 8040;
  while (!rest.empty()) {
    const std::string_view chunk = rest.substr(0, size);
    to.number(static_cast<std::uint32_t>(chunk.size())).bytes(chunk);
    rest.remove_prefix(chunk.size());
    size = size % 100'000U + 7;
  }
  to.number(std::uint32_t{0});
}

void write_value(tds_writer& to, const tds_column& column, const tds_value& value) {
  const tds_type type = column.type;
  if (type == tds_type::integer || type == tds_type::bigint) {
    write_integer(to, type, value);
    return;
  }
  const auto* raw = std::get_if<std::string>(&value);
  const bool is_text = type == tds_type::nvarchar || type == tds_type::nvarchar_max;
  const std::string units = raw != nullptr && is_text ? utf16_of(*raw) : std::string();
  if (raw != nullptr && is_text) raw = &units;
  if (type == tds_type::nvarchar || type == tds_type::varbinary) {
    write_short(to, longest_in(column), raw);
  } else {
    write_chunks(to, raw);
  }
}

void write_change(tds_writer& to, change what, const tds_writer& values) {
  tds_writer inner;
  inner.number(static_cast<std::uint8_t>(what)).bytes(values.all());
  to.number(std::uint8_t{0xE3}).sized(inner);
}

}  // namespace

void write_end(tds_writer& to, tds_end which, std::uint16_t bits, std::int64_t rows) {
  to.number(static_cast<std::uint8_t>(which)).number(bits).number(std::uint16_t{0}).number(rows);
}

void write_columns(tds_writer& to, const std::vector<tds_column>& columns) {
  to.number(std::uint8_t{0x81}).number(static_cast<std::uint16_t>(columns.size()));
  for (const tds_column& each : columns) {
    to.number(std::uint32_t{0}).number(nullable);
    write_type(to, each);
    to.short_text(each.name);
  }
}

void write_row(tds_writer& to, const std::vector<tds_column>& columns,
               const std::vector<tds_value>& values) {
  to.number(std::uint8_t{0xD1});
  for (std::size_t i = 0; i < columns.size(); ++i) write_value(to, columns[i], values.at(i));
}

void write_message(tds_writer& to, const tds_step::message& message) {
  tds_writer inner;
  inner.number(message.number)
      .number(message.state)
      .number(message.severity)
      .long_text(message.text)
      .short_text("scripted")
      .short_text("")
      .number(std::uint32_t{1});
  to.number(static_cast<std::uint8_t>(message.error ? 0xAA : 0xAB)).sized(inner);
}

void write_status(tds_writer& to, std::int32_t status) {
  to.number(std::uint8_t{0x79}).number(status);
}

void write_handle(tds_writer& to, std::int32_t handle) {
  to.number(std::uint8_t{0xAC})
      .number(std::uint16_t{0})
      .short_text("")
      .number(std::uint8_t{1})
      .number(std::uint32_t{0})
      .number(nullable)
      .number(integer_code)
      .number(std::uint8_t{4})
      .number(std::uint8_t{4})
      .number(handle);
}

void write_prelogin(tds_writer& to) {
  // Version 15.0, no encryption, the default instance, no thread, one result at a time; each with
  // its place and length, the high byte first.
  to.bytes(
      "\x00\x00\x1A\x00\x06"
      "\x01\x00\x20\x00\x01"
      "\x02\x00\x21\x00\x01"
      "\x03\x00\x22\x00\x00"
      "\x04\x00\x22\x00\x01"
      "\xFF"
      "\x0F\x00\x07\xD0\x00\x00"
      "\x02"
      "\x00"
      "\x00"sv);
}

void write_welcome(tds_writer& to, const tds_login& login, std::uint32_t packet_size) {
  tds_writer database;
  write_change(to, change::database, database.short_text(login.database).short_text("master"));
  tds_writer collated;
  write_change(to, change::collation,
               collated.number(static_cast<std::uint8_t>(latin_collation.size()))
                   .bytes(latin_collation)
                   .number(std::uint8_t{0}));
  tds_writer inner;
  inner.number(std::uint8_t{1})
      .bytes("\x74\x00\x00\x04"sv)
      .short_text("Microsoft SQL Server")
      .bytes("\x0F\x00\x07\xD0"sv);
  to.number(std::uint8_t{0xAD}).sized(inner);
  tds_writer size;
  write_change(to, change::packet_size,
               size.short_text(std::to_string(packet_size)).short_text("4096"));
}

void write_transaction(tds_writer& to, tds_change change_of, std::uint64_t number) {
  tds_writer values;
  const std::uint8_t size = sizeof number;
  if (change_of == tds_change::begun) {
    values.number(size).number(number).number(std::uint8_t{0});
    write_change(to, change::begun, values);
  } else {
    values.number(std::uint8_t{0}).number(size).number(number);
    write_change(to, change_of == tds_change::committed ? change::committed : change::rolled_back,
                 values);
  }
}

}  // namespace tableq_test
