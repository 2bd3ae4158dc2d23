#include "support/tds_answer.hpp"

#include <stdexcept>
#include <utility>

#include "support/tds_bytes.hpp"

namespace tableq_test {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view collation = "\x09\x04\xD0\x00\x34"sv;  // SQL_Latin1_General_CP1_CI_AS
constexpr std::uint8_t end_of_batch = 0xFD;
constexpr std::uint8_t end_of_call = 0xFE;
constexpr std::uint8_t end_in_call = 0xFF;

bool is_number(const tds_column& column) {
  return column.type == tds_type::integer || column.type == tds_type::bigint;
}
bool is_text(const tds_column& column) {
  return column.type != tds_type::varbinary_max && !is_number(column);
}
/// In bytes.
std::uint16_t longest_in(const tds_column& column) {
  return column.type == tds_type::nvarchar ? 8000 : no_tds_length;
}

void write_column(tds_writer& to, const tds_column& column) {
  to.number(std::uint32_t{0}).number(std::uint16_t{1});  // may be NULL
  if (is_number(column)) {
    to.number(std::uint8_t{0x26})
        .number(static_cast<std::uint8_t>(column.type == tds_type::bigint ? 8 : 4));
  } else {
    to.number(static_cast<std::uint8_t>(is_text(column) ? 0xE7 : 0xA5));
    to.number(longest_in(column)).bytes(is_text(column) ? collation : ""sv);
  }
  to.text<std::uint8_t>(column.name);
}

/// In chunks of different sizes, as servers may send them.
void write_chunks(tds_writer& to, std::string_view rest) {
  to.number(std::uint64_t{rest.size()});
  for (std::size_t size = 8040; !rest.empty(); size = size % 100'000U + 7) {
    const std::string_view chunk = rest.substr(0, size);
    to.number(static_cast<std::uint32_t>(chunk.size())).bytes(chunk);
    rest.remove_prefix(chunk.size());
  }
  to.number(std::uint32_t{0});
}

void write_value(tds_writer& to, const tds_column& column, const tds_value& value) {
  const auto* const number = std::get_if<std::int64_t>(&value);
  const auto* const raw = std::get_if<std::string>(&value);
  const bool null = number == nullptr && raw == nullptr;
  if (!null && is_number(column) != (number != nullptr)) {
    throw std::logic_error("tds: a value of another type than column " + column.name);
  }
  if (is_number(column)) {
    if (null) {
      to.number(std::uint8_t{0});
    } else if (column.type == tds_type::bigint) {
      to.number(std::uint8_t{8}).number(*number);
    } else {
      to.number(std::uint8_t{4}).number(static_cast<std::int32_t>(*number));
    }
    return;
  }
  if (null) {
    column.type == tds_type::nvarchar ? to.number(no_tds_length) : to.number(~std::uint64_t{0});
    return;
  }
  const std::string bytes =
      is_text(column) && column.type != tds_type::utf16 ? utf16_of(*raw) : *raw;
  if (column.type != tds_type::nvarchar) return write_chunks(to, bytes);
  if (bytes.size() > longest_in(column)) throw std::length_error("tds: too long for its column");
  to.number(static_cast<std::uint16_t>(bytes.size())).bytes(bytes);
}

std::string row_of(const std::vector<tds_column>& columns, const std::vector<tds_value>& values) {
  if (values.size() != columns.size()) throw std::logic_error("tds: a row of another width");
  tds_writer out;
  out.number(std::uint8_t{0xD1});
  for (std::size_t i = 0; i < columns.size(); ++i) write_value(out, columns[i], values[i]);
  return out.all();
}

std::string flags_of(std::uint16_t bits, std::int64_t rows) {
  return tds_writer().number(bits).number(std::uint16_t{0}).number(rows).all();
}

}  // namespace

std::string tds_end(std::uint16_t flags) {
  return tds_writer().number(end_of_batch).bytes(flags_of(flags, 0)).all();
}

std::string tds_answer::flags(bool more) const {
  return flags_of(
      static_cast<std::uint16_t>((more ? 1U : 0U) | (failed_ ? 2U : 0U) | (counted_ ? 0x10U : 0U)),
      rows_);
}

tds_answer& tds_answer::add(std::string_view bytes, ending next) {
  out_ += bytes;
  ending_ = next;
  return *this;
}

void tds_answer::end_statement() {
  if (statement_) {
    ends_.push_back(out_.size());
    out_ += static_cast<char>(end_of_batch) + flags(true);
  }
  statement_ = counted_ = failed_ = false;
  rows_ = 0;
}

tds_answer& tds_answer::columns(std::vector<tds_column> of) {
  end_statement();
  statement_ = counted_ = true;
  columns_ = std::move(of);
  tds_writer out;
  out.number(std::uint8_t{0x81}).number(static_cast<std::uint16_t>(columns_.size()));
  for (const tds_column& each : columns_) write_column(out, each);
  return add(out.all());
}

tds_answer& tds_answer::row(const std::vector<tds_value>& values) {
  ++rows_;
  return add(row_of(columns_, values));
}

tds_answer& tds_answer::affected(std::int64_t rows) {
  end_statement();
  rows_ = rows;
  statement_ = counted_ = true;
  return *this;
}

tds_answer& tds_answer::message(std::uint8_t token, std::int32_t number, std::string_view text,
                                std::uint8_t severity) {
  tds_writer inner;
  inner.number(number).number(std::uint8_t{1}).number(severity).text<std::uint16_t>(text);
  inner.text<std::uint8_t>("scripted").text<std::uint8_t>("").number(std::uint32_t{1});
  return add(tds_writer().token(token, inner).all());
}

tds_answer& tds_answer::info(std::int32_t number, std::string_view text) {
  return message(0xAB, number, text, 0);
}

tds_answer& tds_answer::error(std::int32_t number, std::string_view text, std::uint8_t severity) {
  statement_ = failed_ = true;
  return message(0xAA, number, text, severity);
}

std::string tds_answer::bytes(bool call) const {
  std::string out = out_;
  for (const std::size_t place : ends_) {
    out[place] = static_cast<char>(call ? end_in_call : end_of_batch);
  }
  if (ending_ != ending::done) return out;
  if (!call) return out + static_cast<char>(end_of_batch) + flags(false);
  if (statement_ && counted_) out += static_cast<char>(end_in_call) + flags(true);
  out += "\x79\0\0\0\0"sv;  // what the procedure returns
  return out + static_cast<char>(end_of_call) + flags_of(failed_ ? 2 : 0, 0);
}

}  // namespace tableq_test
