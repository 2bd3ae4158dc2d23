#pragma once

/// @file
/// How values become fields of results.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "result.hpp"

namespace tableq_c {

inline field null() noexcept {
  return {};
}
inline field integer(std::int64_t number) noexcept {
  return {.type = TQ_TYPE_INT, .number = number};
}
inline field count(std::size_t number) noexcept {
  return integer(static_cast<std::int64_t>(number));
}
inline field length(std::chrono::milliseconds value) noexcept {
  return integer(value.count());
}
inline field boolean(bool value) noexcept {
  return {.type = TQ_TYPE_BOOL, .number = value ? 1 : 0};
}
inline field time(tableq::timestamp value) noexcept {
  return {.type = TQ_TYPE_TIME, .number = value.time_since_epoch().count()};
}
inline field real(double value) noexcept {
  return {.type = TQ_TYPE_DOUBLE, .real = value};
}
inline field text(std::string_view value) noexcept {
  return {.type = TQ_TYPE_TEXT, .text = value};
}
inline field bytes(std::string_view value) noexcept {
  return {.type = TQ_TYPE_BYTES, .text = value};
}
inline field list(const result& value) noexcept {
  return {.type = TQ_TYPE_LIST, .list = value.get()};
}
/// A list that may be missing because it is empty.
inline field list_or(const result& value, const result& empty) noexcept {
  return list(value ? value : empty);
}
/// NULL if there is no value.
template <class Value, class Make>
field optional(const std::optional<Value>& value, Make make) noexcept {
  return value ? make(*value) : null();
}

/// A value as the field of its type.
template <class Value>
field as_field(const Value& value) noexcept {
  if constexpr (std::is_same_v<Value, bool>) {
    return boolean(value);
  } else if constexpr (std::is_integral_v<Value>) {
    return integer(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_floating_point_v<Value>) {
    return real(value);
  } else if constexpr (std::is_enum_v<Value>) {
    return text(to_string(value));
  } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
    return text(value);
  } else if constexpr (std::is_same_v<Value, tableq::timestamp>) {
    return time(value);
  } else if constexpr (std::is_same_v<Value, tableq::message_id>) {
    return integer(value.value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? as_field(*value) : null();
  } else {
    return length(value);
  }
}

/// A member of a row, of a member of it, and so on.
template <class Row, auto... Members>
constexpr column<Row> member(std::string_view name) noexcept {
  return {name, [](const Row& of) { return as_field((of.*....*Members)); }};
}
/// The same of a part of the row, which may be missing.
/// @tparam Part `(row)` gives a pointer, null: no value.
template <class Row, auto Part, auto... Members>
constexpr column<Row> part(std::string_view name) noexcept {
  return {name, [](const Row& of) {
            const auto* const found = Part(of);
            return found == nullptr ? null() : as_field((*found.*....*Members));
          }};
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
/// Empty, for every message without headers.
inline const result& no_headers() {
  static const result none = inner(made(std::vector<header>(), header_columns));
  return none;
}
/// At the start of the program or of dlopen: a getter must not need memory.
[[maybe_unused]] inline const result& no_headers_made = no_headers();
/// Null if there are none.
inline result list_of(const tableq::headers& headers) {
  if (headers.empty()) return nullptr;
  std::vector<header> out;
  out.reserve(headers.size());
  for (const auto& each : headers) out.push_back(&each);
  return inner(made(std::move(out), header_columns));
}

}  // namespace tableq_c
