#include <array>
#include <charconv>
#include <system_error>

#include <tableq/row_value.hpp>

#include "core/base/errors.hpp"

namespace tableq::inline v0 {
namespace {

template <class Number>
std::string shortest_text(Number value) {
  std::array<char, 64> out{};
  const auto end = std::to_chars(out.data(), out.data() + out.size(), value);
  return {out.data(), end.ptr};
}

/// Digits with at most one point among them, a sign and an exponent. Or no number and infinity, as
/// databases print them.
bool is_decimal(std::string_view text) noexcept {
  double ignored = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), ignored);
  return read.ec != std::errc::invalid_argument && read.ptr == text.data() + text.size();
}

}  // namespace

std::string_view to_string(column_type type) noexcept {
  switch (type) {
    case column_type::integer:
      return "an integer";
    case column_type::boolean:
      return "a boolean";
    case column_type::number:
      return "a number";
    case column_type::text:
      return "text";
    case column_type::bytes:
      return "bytes";
    case column_type::time:
      return "a time";
  }
  return "of an unknown type";
}

row_value::row_value(double value) : type_(column_type::number), cell_(shortest_text(value)) {}

row_value::row_value(float value) : type_(column_type::number), cell_(shortest_text(value)) {}

row_value::row_value(column_type type, row_cell cell) : type_(type), cell_(std::move(cell)) {
  if (!row_field({}, type_, cell_).is_stored_well()) {
    core::refuse("the value of a row that is " + std::string(to_string(type_)) +
                 " is not stored as such; see tableq::row_cell");
  }
}

row_value row_value::decimal(text_view digits) {
  if (!is_decimal(digits.view())) {
    core::refuse("a text that was given for a number is no decimal number");
  }
  return {column_type::number, std::string(digits.view())};
}

void row_value::refuse_large() {
  core::refuse(
      "an integer that was given for a row is greater than a signed 64-bit integer can be");
}

std::string row_value::copied(std::span<const std::byte> value) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): char may look at any object
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

bool row_field::is_stored_well() const noexcept {
  if (is_null()) return true;
  switch (type_) {
    case column_type::integer:
    case column_type::time:
      return std::holds_alternative<std::int64_t>(*cell_);
    case column_type::boolean: {
      const auto* found = std::get_if<std::int64_t>(cell_);
      return found != nullptr && (*found == 0 || *found == 1);
    }
    case column_type::number:
    case column_type::text:
    case column_type::bytes:
      return std::holds_alternative<std::string>(*cell_);
  }
  return false;
}

std::string row_field::subject() const {
  return column_.empty() ? "the value" : "column \"" + std::string(column_) + "\"";
}

void row_field::refuse(std::string_view why) const {
  core::refuse(subject() + " is " + std::string(to_string(type_)) + " " + std::string(why));
}

void row_field::refuse(column_type wanted) const {
  refuse("and cannot be read as " + std::string(to_string(wanted)));
}

void row_field::refuse_range() const {
  refuse("out of the range of the integer type that it was to be read as");
}

void row_field::refuse_null() const {
  if (is_null()) core::refuse(subject() + " is NULL; read it as std::optional");
}

template <class Number>
Number row_field::parsed() const {
  refuse_null();
  if (type_ == column_type::integer) return static_cast<Number>(std::get<std::int64_t>(*cell_));
  if (type_ != column_type::number) refuse(column_type::number);
  const auto& text = std::get<std::string>(*cell_);
  Number out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  if (read.ec == std::errc::result_out_of_range) {
    refuse("out of the range of the floating-point type that it was to be read as");
  }
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    refuse("whose text is no decimal number; read it as std::string");
  }
  return out;
}

double row_field::number() const {
  return parsed<double>();
}

float row_field::short_number() const {
  return parsed<float>();
}

bool row_field::boolean() const {
  refuse_null();
  if (type_ != column_type::boolean && type_ != column_type::integer) refuse(column_type::boolean);
  const std::int64_t found = std::get<std::int64_t>(*cell_);
  if (found != 0 && found != 1) refuse("other than 0 and 1, and cannot be read as a boolean");
  return found == 1;
}

std::int64_t row_field::integer() const {
  refuse_null();
  if (type_ != column_type::boolean && type_ != column_type::integer) refuse(column_type::integer);
  return std::get<std::int64_t>(*cell_);
}

std::string row_field::text() const {
  refuse_null();
  const auto* found = std::get_if<std::string>(cell_);
  if (found == nullptr) refuse(column_type::text);
  return *found;
}

std::vector<std::byte> row_field::bytes() const {
  refuse_null();
  if (type_ != column_type::bytes) refuse(column_type::bytes);
  const auto found = std::as_bytes(std::span(std::get<std::string>(*cell_)));
  return {found.begin(), found.end()};
}

timestamp row_field::time() const {
  refuse_null();
  if (type_ == column_type::time) {
    return timestamp(std::chrono::milliseconds(std::get<std::int64_t>(*cell_)));
  }
  if (type_ != column_type::text) refuse(column_type::time);
  const auto found = parse_timestamp(std::get<std::string>(*cell_));
  if (!found) refuse("that cannot be read as a time: it is not in ISO 8601");
  return *found;
}

}  // namespace tableq::inline v0
