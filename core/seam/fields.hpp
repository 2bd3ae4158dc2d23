#pragma once

/// @file
/// Turns typed requests and rows of statements into parameters and columns. A struct names its
/// fields once, with TABLEQ_FIELDS. The compiler derives the contract of a statement from it.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <boost/preprocessor/seq/enum.hpp>
#include <boost/preprocessor/seq/transform.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>

#include <tableq/message.hpp>

#include "core/seam/statement.hpp"
#include "core/seam/value.hpp"

namespace tableq::inline v0::core {

/// Bytes that are not text.
struct byte_view : std::string_view {
  using std::string_view::string_view;
  // NOLINTBEGIN(google-explicit-constructor): requests take any bytes as they are
  constexpr byte_view(std::string_view bytes) noexcept : std::string_view(bytes) {}
  byte_view(const std::string& bytes) noexcept : std::string_view(bytes) {}
  // NOLINTEND(google-explicit-constructor)
};
struct byte_string : std::string {};

/// One field of a request or a row.
template <class Owner, class Member>
struct described_field {
  std::string_view name;
  value_type type;
  Member Owner::*at;
};

template <class Value>
struct value_of_optional {
  using type = Value;
};
template <class Value>
struct value_of_optional<std::optional<Value>> {
  using type = Value;
};

template <class Owner, class Member>
constexpr auto field_of(std::string_view name, Member Owner::*at) {
  using held = typename value_of_optional<Member>::type;
  constexpr bool bytes = std::is_same_v<held, byte_view> || std::is_same_v<held, byte_string>;
  constexpr bool text = std::is_convertible_v<held, std::string_view>;
  return described_field<Owner, Member>{name,
                                        bytes  ? value_type::bytes
                                        : text ? value_type::text
                                               : value_type::integer,
                                        at};
}

#define TABLEQ_FIELD(unused, type, name) \
  ::tableq::core::field_of(BOOST_PP_STRINGIZE(name), &type::name)
#define TABLEQ_LIST(type, ...)  \
  std::tuple(BOOST_PP_SEQ_ENUM( \
      BOOST_PP_SEQ_TRANSFORM(TABLEQ_FIELD, type, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))))
/// Describes a struct: its name, then its members in the order of the contract.
#define TABLEQ_FIELDS(type, ...)           \
  static constexpr auto fields() {         \
    return TABLEQ_LIST(type, __VA_ARGS__); \
  }
/// The same for members after those of a base.
#define TABLEQ_MORE_FIELDS(type, base, ...)                                \
  static constexpr auto fields() {                                         \
    return std::tuple_cat(base::fields(), TABLEQ_LIST(type, __VA_ARGS__)); \
  }

/// For statements without parameters, or whose rows are ignored.
struct nothing {
  static constexpr auto fields() { return std::tuple(); }
};

/// The fields of a described struct. An id and a receipt are public types, and items too.
template <class Described>
constexpr auto members_of() {
  if constexpr (std::is_same_v<Described, message_id>) {
    return std::tuple(field_of("id", &message_id::value));
  } else if constexpr (std::is_same_v<Described, receipt>) {
    return std::tuple(field_of("id", &receipt::id), field_of("fence", &receipt::fence));
  } else {
    return Described::fields();
  }
}

template <class Described>
constexpr std::size_t field_count = std::tuple_size_v<decltype(members_of<Described>())>;

/// The names and types of a struct's fields, in their order.
template <class Described>
constexpr auto described = std::apply(
    [](const auto&... each) {
      return std::array<field, sizeof...(each)>{field{each.name, each.type}...};
    },
    members_of<Described>());

/// The position of a field. Does not compile for an unknown name.
template <class Described>
consteval std::size_t place_of(std::string_view name) {
  const auto& all = described<Described>;
  std::size_t at = 0;
  while (all.at(at).name != name) ++at;
  return at;
}

/// A row of a batch, with the number of its item.
template <class Row>
struct row_of_item : Row {
  std::size_t item = 0;
};

/// A row of a statement with such items; `nothing`: it has none.
template <class Row, class Item>
using row_for = std::conditional_t<std::is_same_v<Item, nothing>, Row, row_of_item<Row>>;

/// A statement with the types of its shared parameters, its items, and its rows.
template <class Shared, class Item, class Row>
struct typed_statement {
  using shared_type = Shared;
  statement id;
};

template <class Number>
requires(std::is_integral_v<Number> || std::is_enum_v<Number>) value to_value(Number number)
noexcept {
  return value(static_cast<std::int64_t>(number));
}
inline value to_value(std::string_view characters) noexcept {
  return value(characters);
}
/// Borrows the text: some requests are also rows, whose texts are strings.
inline value to_value(const std::string& characters) noexcept {
  return value(std::string_view(characters));
}
inline value to_value(std::chrono::milliseconds duration) noexcept {
  return value(std::int64_t{duration.count()});
}
inline value to_value(timestamp time) noexcept {
  return to_value(time.time_since_epoch());
}
inline value to_value(message_id id) noexcept {
  return value(id.value);
}
/// Borrows a text.
inline value to_value(const cell& source) noexcept {
  if (const auto* const number = std::get_if<std::int64_t>(&source)) return value(*number);
  const auto* const characters = std::get_if<std::string>(&source);
  return characters == nullptr ? value() : value(std::string_view(*characters));
}
template <class Value>
value to_value(const std::optional<Value>& maybe) noexcept {
  return maybe ? to_value(*maybe) : value();
}

/// Reads a number of a column that is never null. A value of another type, from plain SQL, reads as
/// zero.
inline std::int64_t number_of(const cell& source) noexcept {
  const auto* const found = std::get_if<std::int64_t>(&source);
  return found == nullptr ? 0 : *found;
}

/// Reads a field of a row.
inline void read(cell& source, std::string& target) {
  if (auto* const found = std::get_if<std::string>(&source)) target = std::move(*found);
}
inline void read(cell& source, message_id& target) {
  target.value = number_of(source);
}
inline void read(cell& source, timestamp& target) {
  target = timestamp(std::chrono::milliseconds(number_of(source)));
}
inline void read(cell& source, std::chrono::milliseconds& target) {
  target = std::chrono::milliseconds(number_of(source));
}
inline void read(cell& source, bool& target) {
  target = number_of(source) != 0;
}
inline void read(cell& source, message_state& target) {
  target = static_cast<message_state>(number_of(source));
}
/// The nearest value in range.
template <class Number>
requires(std::is_integral_v<Number>) void read(cell& source, Number& target) {
  using range = std::numeric_limits<Number>;
  const std::int64_t found = number_of(source);
  target = std::cmp_less(found, range::min())      ? range::min()
           : std::cmp_greater(found, range::max()) ? range::max()
                                                   : static_cast<Number>(found);
}
template <class Value>
void read(cell& source, std::optional<Value>& target) {
  if (!std::holds_alternative<std::monostate>(source)) read(source, target.emplace());
}

/// Writes the values of one request, in the contract's order.
template <class Described>
void write_values(const Described& source, value* target) noexcept {
  std::apply([&](const auto&... each) { ((*target++ = to_value(source.*each.at)), ...); },
             members_of<Described>());
}

template <class Described>
[[nodiscard]] auto values_of(const Described& source) noexcept {
  std::array<value, field_count<Described>> out;
  write_values(source, out.data());
  return out;
}

template <class Described>
[[nodiscard]] std::vector<value> values_of(std::span<const Described> items) {
  constexpr std::size_t width = field_count<Described>;
  std::vector<value> out(items.size() * width);
  for (std::size_t i = 0; i < items.size(); ++i) write_values(items[i], out.data() + i * width);
  return out;
}

/// Takes the rows of a statement out of a driver's result.
template <class Row, class Item = nothing>
[[nodiscard]] std::vector<row_for<Row, Item>> rows_of(row_set result) {
  constexpr std::size_t first = std::is_same_v<Item, nothing> ? 0 : 1;
  std::vector<row_for<Row, Item>> out(result.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if constexpr (first == 1) out[i].item = result.item(i);
    std::size_t column = first;
    std::apply([&](const auto&... each) { (read(result.at(i, column++), out[i].*each.at), ...); },
               Row::fields());
  }
  return out;
}

}  // namespace tableq::inline v0::core
