#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <span>
#include <system_error>

#include <tableq/row.hpp>
#include <tableq/row_value.hpp>

#include "core/base/errors.hpp"
#include "core/input/codec.hpp"

namespace tableq::inline v0 {
namespace {

/// Takes a text of this form off the front: each `0` is a digit.
/// @param numbers of the digits between other characters.
bool take(std::string_view& text, std::string_view form,
          std::initializer_list<int*> numbers) noexcept {
  if (text.size() < form.size()) return false;
  auto number = numbers.begin();
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == '0' ? !digit : text[i] != form[i]) return false;
    if (!digit && i != 0) ++number;
    if (digit) **number = **number * 10 + (text[i] - '0');
  }
  text.remove_prefix(form.size());
  return true;
}

/// Takes a fraction of a second of at least one digit, and its point.
/// @return its milliseconds; -1: there is none.
int take_fraction(std::string_view& text) noexcept {
  const std::string_view digits =
      text.substr(1, std::min(text.find_first_not_of("0123456789", 1), text.size()) - 1);
  text.remove_prefix(1 + digits.size());
  int out = digits.empty() ? -1 : 0;
  for (std::size_t i = 0; i < 3 && out >= 0; ++i)
    out = out * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return out;
}

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

/// The result of a search by name.
struct column_search {
  std::size_t position;  ///< The number of columns: there is none.
  bool several;          ///< There are several that differ in case.
};

column_search search_column(std::span<const row_column> columns, std::string_view name) noexcept {
  const auto exact = std::ranges::find(columns, name, &row_column::name);
  if (exact != columns.end()) return {static_cast<std::size_t>(exact - columns.begin()), false};
  column_search out{columns.size(), false};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!core::equal_but_for_case(columns[i].name, name)) continue;
    if (out.position != columns.size()) return {columns.size(), true};
    out.position = i;
  }
  return out;
}

std::string list_of_names(std::span<const row_column> columns) {
  std::string out;
  for (const row_column& each : columns) {
    out += (out.empty() ? "\"" : ", \"") + each.name + "\"";
  }
  return out.empty() ? "no columns" : out;
}

std::span<const row_column> columns_of(const std::shared_ptr<const row_columns>& columns) noexcept {
  return columns ? std::span<const row_column>(*columns) : std::span<const row_column>();
}

}  // namespace

std::optional<timestamp> parse_timestamp(std::string_view text) noexcept {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!take(text, "0000-00-00", {&year, &month, &day})) return {};
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return {};
  if (text.empty()) return std::chrono::sys_days(date);
  const char between = text.front();
  text.remove_prefix(1);
  int hour = 0;
  int minute = 0;
  int second = 0;
  int fraction = 0;
  if ((between != 'T' && between != ' ') || !take(text, "00:00", {&hour, &minute})) return {};
  if (take(text, ":00", {&second}) && text.starts_with('.')) fraction = take_fraction(text);
  // The distance from UTC.
  if (text.starts_with(' ')) text.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  const bool west = text.starts_with('-');
  if (text == "Z") {
    text = {};
  } else if (!text.empty()) {
    if (!take(text, west ? "-00" : "+00", {&hours})) return {};
    if (!text.empty() && !take(text, ":00", {&minutes}) && !take(text, "00", {&minutes})) return {};
  }
  if (!text.empty() || hour > 23 || minute > 59 || second > 59 || fraction < 0 || hours > 23 ||
      minutes > 59) {
    return {};
  }
  const std::chrono::minutes distance(hours * 60 + minutes);
  return timestamp(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second) +
         std::chrono::milliseconds(fraction) + (west ? distance : -distance);
}

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

row::row(std::initializer_list<std::pair<std::string, row_value>> columns) {
  row_columns names;
  names.reserve(columns.size());
  cells_.reserve(columns.size());
  for (const auto& [name, value] : columns) {
    if (std::ranges::find(names, name, &row_column::name) != names.end()) {
      core::refuse("a row was made with two columns \"" + name + "\"");
    }
    names.push_back({name, value.type()});
    cells_.push_back(value.cell());
  }
  columns_ = std::make_shared<const row_columns>(std::move(names));
}

row::row(std::shared_ptr<const row_columns> columns, std::vector<row_cell> cells)
    : columns_(std::move(columns)), cells_(std::move(cells)) {
  const auto known = columns_of(columns_);
  if (known.size() != cells_.size())
    core::refuse("a row was made with more or fewer values than columns");
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!row_field(known[i].name, known[i].type, cells_[i]).is_stored_well()) {
      core::refuse("the value of column \"" + known[i].name + "\" is not stored as " +
                   std::string(to_string(known[i].type)) + " is; see tableq::row_cell");
    }
  }
}

row_value row::value(text_view column) const {
  const std::size_t position = find(column.view());
  return {(*columns_)[position].type, cells_[position]};
}

bool row::is_null(text_view column) const {
  return std::holds_alternative<std::monostate>(cells_[find(column.view())]);
}

bool row::contains(text_view column) const {
  return search_column(columns_of(columns_), column.view()).position != size();
}

const std::string& row::name(std::size_t position) const {
  return at(position).name;
}

column_type row::type(std::size_t position) const {
  return at(position).type;
}

const row_column& row::at(std::size_t position) const {
  if (position >= size()) {
    core::refuse("the row has no column at position " + std::to_string(position) + "; it has " +
                 std::to_string(size()) + ", from position 0");
  }
  return (*columns_)[position];
}

std::size_t row::find(std::string_view column) const {
  const auto columns = columns_of(columns_);
  const column_search found = search_column(columns, column);
  if (found.position != columns.size()) return found.position;
  core::refuse((found.several
                    ? "several columns differ from \"" + std::string(column) +
                          "\" in case only, and none is exactly that; the row has "
                    : "there is no column \"" + std::string(column) + "\"; the row has ") +
               list_of_names(columns));
}

void row::set(text_view column, row_value value) {
  const std::string_view name = column.view();
  const auto columns = columns_of(columns_);
  const std::size_t position = search_column(columns, name).position;
  if (position == columns.size() || columns[position].type != value.type()) {
    auto changed = std::make_shared<row_columns>(columns.begin(), columns.end());
    if (position == columns.size()) {
      cells_.reserve(columns.size() + 1);
      changed->push_back({std::string(name), value.type()});
      cells_.emplace_back();
    } else {
      (*changed)[position].type = value.type();
    }
    columns_ = std::move(changed);
  }
  cells_[position] = std::move(value).cell();
}

bool operator==(const row& left, const row& right) {
  return left.cells_ == right.cells_ &&
         (left.columns_ == right.columns_ ||
          std::ranges::equal(columns_of(left.columns_), columns_of(right.columns_)));
}

}  // namespace tableq::inline v0
