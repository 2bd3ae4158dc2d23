#include "support/tds_parse.hpp"

#include <array>
#include <stdexcept>

#include "support/tds_bytes.hpp"
#include "support/tds_parameter.hpp"

namespace tableq_test {
namespace {

constexpr std::array procedures = {
    "",
    "sp_cursor",
    "sp_cursoropen",
    "sp_cursorprepare",
    "sp_cursorexecute",
    "sp_cursorprepexec",
    "sp_cursorunprepare",
    "sp_cursorfetch",
    "sp_cursoroption",
    "sp_cursorclose",
    "sp_executesql",
    "sp_prepare",
    "sp_execute",
    "sp_prepexec",
    "sp_prepexecrpc",
    "sp_unprepare",
};

/// Reads the headers before a request; @return the transaction that it belongs to.
std::uint64_t read_headers(tds_reader& from) {
  const auto total = from.number<std::uint32_t>();
  if (total < 4) throw std::runtime_error("tds: headers without a length");
  tds_reader headers(from.bytes(total - 4));
  std::uint64_t transaction = 0;
  while (!headers.at_end()) {
    const auto size = headers.number<std::uint32_t>();
    if (size < 6) throw std::runtime_error("tds: a header without a length");
    const auto type = headers.number<std::uint16_t>();
    tds_reader header(headers.bytes(size - 6));
    if (type == 2) transaction = header.number<std::uint64_t>();
  }
  return transaction;
}

std::string rest_as_text(tds_reader& from) {
  std::string units;
  while (!from.at_end()) units += from.bytes(2);
  return utf8_of(units);
}

tds_request parse_batch(std::string_view body) {
  tds_reader from(body);
  tds_request out{.kind = tds_kind::batch};
  out.transaction = read_headers(from);
  out.text = rest_as_text(from);
  return out;
}

std::string read_procedure(tds_reader& from) {
  const auto length = from.number<std::uint16_t>();
  if (length != 0xFFFFU) return from.text(length);
  const auto number = from.number<std::uint16_t>();
  if (number == 0 || number >= procedures.size()) {
    throw std::runtime_error("tds: procedure " + std::to_string(number));
  }
  return procedures[number];
}

/// Removes the first of the parameters.
tds_value shift(tds_request& out) {
  if (out.parameters.empty()) {
    throw std::runtime_error("tds: " + out.procedure + " with too few parameters");
  }
  tds_value first = std::move(out.parameters.front().value);
  out.parameters.erase(out.parameters.begin());
  return first;
}

std::string text_in(tds_value value) {
  auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : std::move(*text);
}

std::int32_t handle_in(const tds_value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? 0 : static_cast<std::int32_t>(*number);
}

/// Separates the parameters of the statement from those of the procedure that runs it.
void sort_out(tds_request& out) {
  if (out.procedure == "sp_executesql") {
    out.text = text_in(shift(out));
    if (!out.parameters.empty()) out.declaration = text_in(shift(out));
  } else if (out.procedure == "sp_prepare" || out.procedure == "sp_prepexec") {
    shift(out);
    out.declaration = text_in(shift(out));
    out.text = text_in(shift(out));
    if (out.procedure == "sp_prepare") out.parameters.clear();
  } else if (out.procedure == "sp_execute" || out.procedure == "sp_unprepare") {
    out.handle = handle_in(shift(out));
  }
}

/// Whether the byte that follows a parameter begins another call.
bool separates(std::uint8_t flag) {
  return flag == 0xFFU || flag == 0xFEU || flag == 0x80U;
}

/// @return whether another call follows.
bool read_call(tds_reader& from, tds_request& out) {
  out.kind = tds_kind::call;
  out.procedure = read_procedure(from);
  from.number<std::uint16_t>();
  bool another = false;
  while (!from.at_end() && !another) {
    tds_reader ahead = from;
    another = separates(ahead.number<std::uint8_t>());
    if (another) {
      from = ahead;
    } else {
      out.parameters.push_back(read_parameter(from));
    }
  }
  sort_out(out);
  return another && !from.at_end();
}

tds_request parse_call(std::string_view body) {
  tds_reader from(body);
  tds_request out;
  out.transaction = read_headers(from);
  bool another = read_call(from, out);
  while (another) {
    tds_request next{.transaction = out.transaction};
    another = read_call(from, next);
    out.further.push_back(std::move(next));
  }
  return out;
}

tds_request parse_transaction(std::string_view body) {
  tds_reader from(body);
  tds_request out{.kind = tds_kind::transaction};
  out.transaction = read_headers(from);
  const auto type = from.number<std::uint16_t>();
  switch (type) {
    case 5:
      out.procedure = "begin";
      return out;
    case 7:
    case 8:
      out.procedure = type == 7 ? "commit" : "rollback";
      from.short_text();
      out.begins_next = (from.number<std::uint8_t>() & 1U) != 0;
      return out;
    case 9:
      out.procedure = "save";
      return out;
    default:
      throw std::runtime_error("tds: transaction request " + std::to_string(type));
  }
}

/// Decodes a client's obfuscated password.
std::string plain_password(std::string_view hidden) {
  std::string units;
  for (const char each : hidden) {
    const unsigned mixed = static_cast<unsigned char>(each) ^ 0xA5U;
    units += static_cast<char>(((mixed << 4U) | (mixed >> 4U)) & 255U);
  }
  return utf8_of(units);
}

tds_request parse_login(std::string_view body) {
  const auto at = [&](std::size_t place) {
    tds_reader where(body);
    where.bytes(place);
    const auto offset = where.number<std::uint16_t>();
    const auto units = where.number<std::uint16_t>();
    tds_reader field(body);
    field.bytes(offset);
    return field.bytes(std::size_t{units} * 2);
  };
  tds_request out{.kind = tds_kind::login};
  tds_reader head(body);
  head.bytes(8);
  out.login.packet_size = head.number<std::uint32_t>();
  out.login.host = utf8_of(at(36));
  out.login.user = utf8_of(at(40));
  out.login.password = plain_password(at(44));
  out.login.application = utf8_of(at(48));
  out.login.database = utf8_of(at(68));
  return out;
}

}  // namespace

tds_request parse(const tds_message& message) {
  switch (message.type) {
    case tds_packet::batch:
      return parse_batch(message.body);
    case tds_packet::call:
      return parse_call(message.body);
    case tds_packet::transaction:
      return parse_transaction(message.body);
    case tds_packet::login:
      return parse_login(message.body);
    case tds_packet::attention:
      return {.kind = tds_kind::attention};
    default:
      throw std::runtime_error("tds: a message of type " +
                               std::to_string(static_cast<int>(message.type)));
  }
}

}  // namespace tableq_test
