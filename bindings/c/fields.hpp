#pragma once

/// @file
/// How values become fields of results.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "result.hpp"

namespace tableq_c {

inline field text(std::string_view value) noexcept {
  return {.type = TQ_TYPE_TEXT, .text = value};
}
/// NULL if it is empty.
inline field filled(std::string_view value) noexcept {
  return value.empty() ? field() : text(value);
}
inline field bytes(std::string_view value) noexcept {
  return {.type = TQ_TYPE_BYTES, .text = value};
}
inline field list(const result& value) noexcept {
  return value ? field{.type = TQ_TYPE_LIST, .list = value.get()} : field();
}

template <class Row, std::size_t Count>
result made(std::vector<Row> items, const std::array<column<Row>, Count>& columns) {
  return std::make_unique<rows<Row>>(std::move(items), columns);
}
template <class Row, std::size_t Count>
result made_of_one(Row item, const std::array<column<Row>, Count>& columns) {
  std::vector<Row> items;
  items.push_back(std::move(item));
  return made(std::move(items), columns);
}
/// One row, or none.
template <class Row>
std::vector<Row> listed_if(std::optional<Row> found) {
  std::vector<Row> out;
  if (found) out.push_back(*std::move(found));
  return out;
}

/// A result for the field of another one.
inline result inner(result list) {
  list->inside = true;
  return list;
}

/// Points into the headers of a message, whose nodes do not move.
using header = const tableq::headers::value_type*;
inline constexpr std::array header_columns = {
    column<header>{"name", [](const header& of) { return text(of->first); }},
    column<header>{"value", [](const header& of) { return text(of->second); }},
};
/// Of every message without headers. Made at the start of the program or of dlopen: a getter must
/// not need memory.
inline const result no_headers = inner(made(std::vector<header>(), header_columns));
inline headers_of listed_headers(const tableq::headers& headers) {
  if (headers.empty()) return {};
  std::vector<header> out;
  out.reserve(headers.size());
  for (const auto& each : headers) out.push_back(&each);
  return {inner(made(std::move(out), header_columns))};
}

/// The types of fields with those of columns that they stand for.
inline constexpr std::array<std::pair<int, tableq::column_type>, 8> column_types = {{
    {TQ_TYPE_INT, tableq::column_type::integer},
    {TQ_TYPE_BOOL, tableq::column_type::boolean},
    {TQ_TYPE_TIME, tableq::column_type::time},
    {TQ_TYPE_DECIMAL, tableq::column_type::number},
    {TQ_TYPE_DOUBLE, tableq::column_type::number},
    {TQ_TYPE_BYTES, tableq::column_type::bytes},
    {TQ_TYPE_TEXT, tableq::column_type::text},
    {0, tableq::column_type::text},
}};
/// @throws tableq::error errc::invalid_argument for a type that no column has.
inline tableq::column_type column_type_of(std::int64_t type) {
  for (const auto& [known, of] : column_types) {
    if (known == type) return of;
  }
  refuse("a NULL has the type of a column");
}
inline int type_of(tableq::column_type column) noexcept {
  for (const auto& [type, of] : column_types) {
    if (of == column) return type;
  }
  return TQ_TYPE_TEXT;
}

/// A value as the field of its type.
template <class Value>
field as_field(const Value& value) noexcept {
  if constexpr (std::is_same_v<Value, bool>) {
    return {.type = TQ_TYPE_BOOL, .number = value ? 1 : 0};
  } else if constexpr (std::is_integral_v<Value>) {
    return {.type = TQ_TYPE_INT, .number = static_cast<std::int64_t>(value)};
  } else if constexpr (std::is_floating_point_v<Value>) {
    return {.type = TQ_TYPE_DOUBLE, .real = value};
  } else if constexpr (std::is_enum_v<Value>) {
    return text(to_string(value));
  } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
    return text(value);
  } else if constexpr (std::is_same_v<Value, result>) {
    return list(value);
  } else if constexpr (std::is_same_v<Value, headers_of>) {
    return list(value.list ? value.list : no_headers);
  } else if constexpr (std::is_same_v<Value, tableq::timestamp>) {
    return {.type = TQ_TYPE_TIME, .number = value.time_since_epoch().count()};
  } else if constexpr (std::is_same_v<Value, tableq::message_id>) {
    return as_field(value.value);
  } else {
    return {.type = TQ_TYPE_INT, .number = std::chrono::milliseconds(value).count()};
  }
}

/// The field that `make` makes of the value at the end of a path of members. NULL if a part of the
/// path is missing.
template <class Make, class From, class... Path>
field found(Make make, const From& from, Path... path) noexcept {
  if constexpr (std::is_pointer_v<From> || requires { from.has_value(); }) {
    return from ? found(make, *from, path...) : field();
  } else if constexpr (sizeof...(path) == 0) {
    return make(from);
  } else {
    return [&](auto member, auto... more) noexcept {
      return found(make, std::invoke(member, from), more...);
    }(path...);
  }
}

/// A field of a Row: a member of it, a member of that, and so on.
template <class Row, auto... Path>
constexpr column<Row> member(std::string_view name) noexcept {
  return {name, [](const Row& of) {
            return found([](const auto& value) { return as_field(value); }, of, Path...);
          }};
}
/// The same by `Make`, such as `bytes`.
template <auto Make, class Row, auto... Path>
constexpr column<Row> member_as(std::string_view name) noexcept {
  return {name, [](const Row& of) { return found(Make, of, Path...); }};
}

}  // namespace tableq_c
