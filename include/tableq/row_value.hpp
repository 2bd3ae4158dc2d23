#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tableq/export.hpp>
#include <tableq/text_view.hpp>
#include <tableq/timestamp.hpp>

namespace tableq::inline v0 {

/// The type of a column of an application's own table, as `row` tells types apart.
enum class column_type {
  integer,  ///< At most 64 bits, signed.
  boolean,  ///< True or false.
  number,   ///< Floating point and decimals: exact, as decimal text.
  text,     ///< UTF-8.
  bytes,    ///< Any bytes.
  time,     ///< UTC, in milliseconds.
};

/// In plain words, as errors say it: `an integer`, `a boolean`, `a number`, `text`, `bytes`, `a
/// time`.
TABLEQ_EXPORT std::string_view to_string(column_type type) noexcept;

/// A value as it is stored: nothing for NULL; an integer also for a boolean (0 or 1) and for a time
/// (milliseconds since 1970); a string for text, for bytes and for the decimal text of a number.
using row_cell = std::variant<std::monostate, std::int64_t, std::string>;

/// Reads ISO 8601: `2024-02-29`, `2024-02-29 23:59:58.123`, with `T` for the blank, and `Z`,
/// `+02:00`, `+0200` or `+02` at the end. Without such an end it is UTC. Digits after the
/// millisecond are dropped. Seconds may be left out.
/// @returns nothing if it is written otherwise, or if there is no such day or time.
TABLEQ_EXPORT std::optional<timestamp> parse_timestamp(std::string_view text) noexcept;

/// Types that a value of a row can be read as, and made of: no character types, which are neither
/// clearly numbers nor clearly text.
template <class T>
concept row_integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                      !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                      !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// An optional of another type.
template <class T>
concept row_optional = requires {
  typename T::value_type;
  requires std::same_as<T, std::optional<typename T::value_type>>;
};

/// One field of a row, to be read by `row::get` and `row_value::get`.
///
/// Borrows everything until the call returns. Its errors are errc::invalid_argument, name the
/// column and the types, and never the value.
class TABLEQ_EXPORT row_field {
 public:
  /// @param column its name; empty for a value that belongs to no row.
  row_field(std::string_view column, column_type type, const row_cell& cell) noexcept
      : column_(column), type_(type), cell_(&cell) {}

  /// The value as a T, by the rules of `row_value::get`.
  template <class T>
  [[nodiscard]] T get() const {
    if constexpr (row_optional<T>) {
      if (is_null()) return std::nullopt;
      return get<typename T::value_type>();
    } else if constexpr (std::same_as<T, bool>) {
      return boolean();
    } else if constexpr (row_integer<T>) {
      const std::int64_t found = integer();
      if (!std::in_range<T>(found)) refuse_range();
      return static_cast<T>(found);
    } else if constexpr (std::same_as<T, double>) {
      return number();
    } else if constexpr (std::same_as<T, float>) {
      return short_number();
    } else if constexpr (std::same_as<T, std::string>) {
      return text();
    } else if constexpr (std::same_as<T, std::vector<std::byte>>) {
      return bytes();
    } else {
      static_assert(std::same_as<T, timestamp>,
                    "a value of a tableq row is read as bool, an integer type, double, float, "
                    "std::string, std::vector<std::byte>, tableq::timestamp, or a std::optional of "
                    "one of these; convert from one of them");
      return time();
    }
  }
  /// True: the cell is one that its type may have; see row_cell.
  [[nodiscard]] bool is_stored_well() const noexcept;

 private:
  [[nodiscard]] bool is_null() const noexcept {
    return std::holds_alternative<std::monostate>(*cell_);
  }
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] float short_number() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<std::byte> bytes() const;
  [[nodiscard]] timestamp time() const;
  [[noreturn]] void refuse_range() const;

  [[nodiscard]] std::string subject() const;
  [[noreturn]] void refuse(column_type wanted) const;
  [[noreturn]] void refuse(std::string_view why) const;
  void refuse_null() const;
  template <class Number>
  [[nodiscard]] Number parsed() const;

  std::string_view column_;
  column_type type_;
  const row_cell* cell_;
};

/// One value of an application's own table, with its type; it may be NULL.
///
/// A value: owns its text or bytes. It is made without a cast of what a member of a struct may be:
/// a bool, integer, float, double, text, bytes, a time, an optional of these, or std::nullopt.
class TABLEQ_EXPORT row_value {
 public:
  /// NULL, of type text.
  row_value() noexcept = default;
  // NOLINTBEGIN(google-explicit-constructor): values are written as they are in a list
  /// NULL, of type text. For a NULL of another type give an empty std::optional.
  row_value(std::nullopt_t) noexcept {}
  /// The same.
  row_value(std::nullptr_t) noexcept {}
  /// A boolean.
  template <std::same_as<bool> Boolean>
  row_value(Boolean value) noexcept : type_(column_type::boolean), cell_(std::int64_t{value}) {}
  /// An integer.
  /// @throws error errc::invalid_argument when it is greater than a signed 64-bit integer can be.
  template <row_integer Integer>
  row_value(Integer value) : type_(column_type::integer), cell_(checked(value)) {}
  /// A number: the shortest decimal text that reads as the same one.
  row_value(double value);
  /// The same.
  row_value(float value);
  /// Text, from any string type.
  /// @throws error errc::invalid_argument for a null pointer.
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view> row_value(const Text& value)
      : cell_(std::string(text_view(value).view())) {}
  /// Text, without a copy.
  row_value(std::string&& value) noexcept : cell_(std::move(value)) {}
  /// Bytes: a vector, array or span of std::byte.
  template <class Bytes>
  requires std::convertible_to<const Bytes&, std::span<const std::byte>> row_value(
      const Bytes& value)
      : type_(column_type::bytes), cell_(copied(value)) {}
  /// A time. Parts of a millisecond are dropped.
  template <class Duration>
  row_value(std::chrono::sys_time<Duration> value)
      : type_(column_type::time),
        cell_(std::int64_t{
            std::chrono::floor<std::chrono::milliseconds>(value).time_since_epoch().count()}) {}
  /// The value, or a NULL of its type.
  template <class Value>
  requires std::convertible_to<const Value&, row_value> row_value(const std::optional<Value>& value)
      : row_value(value ? row_value(*value) : null(row_value(Value()).type())) {}
  // NOLINTEND(google-explicit-constructor)
  /// A value as it is stored. For tableq and for tests.
  /// @throws error errc::invalid_argument when a value of the type is not stored so.
  row_value(column_type type, row_cell cell);

  /// A NULL of a type.
  static row_value null(column_type type) { return {type, row_cell()}; }
  /// A number from its decimal text, such as `12.50`, which is kept as it is.
  /// @throws error errc::invalid_argument when it is no decimal number.
  static row_value decimal(text_view digits);

  /// The type; a NULL has one, too.
  [[nodiscard]] column_type type() const noexcept { return type_; }
  /// True: the value is NULL.
  [[nodiscard]] bool is_null() const noexcept {
    return std::holds_alternative<std::monostate>(cell_);
  }
  /// The value as it is stored.
  [[nodiscard]] const row_cell& cell() const& noexcept { return cell_; }
  /// The same, moved out.
  [[nodiscard]] row_cell cell() && noexcept { return std::move(cell_); }

  /// The value as a T:
  /// - bool: of a boolean, or of an integer that is 0 or 1
  /// - an integer type: of an integer or boolean that is in its range
  /// - double, float: of a number or integer, rounded to the nearest
  /// - std::string: of text, of bytes, of a number (its decimal text)
  /// - std::vector<std::byte>: of bytes
  /// - timestamp: of a time, or of text that `parse_timestamp` reads
  /// - std::optional of one of these: empty for NULL.
  /// @throws error errc::invalid_argument when it is of another type, out of range, or NULL and T
  ///   is no std::optional. The error never holds the value.
  template <class T>
  [[nodiscard]] T get() const {
    return row_field({}, type_, cell_).get<T>();
  }

  /// Equal types and values. Numbers are compared as they are written: 1.0 is not 1.00.
  friend bool operator==(const row_value&, const row_value&) = default;

 private:
  template <class Integer>
  static std::int64_t checked(Integer value) {
    if (!std::in_range<std::int64_t>(value)) refuse_large();
    return static_cast<std::int64_t>(value);
  }
  [[noreturn]] static void refuse_large();
  static std::string copied(std::span<const std::byte> value);

  column_type type_ = column_type::text;
  row_cell cell_;
};

}  // namespace tableq::inline v0
