#pragma once

/// @file
/// For applications that use SOCI: rows become the objects that they read with SOCI already. No
/// header of SOCI is included; the application includes `<soci/soci.h>`.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <tableq/export.hpp>
#include <tableq/row.hpp>

namespace soci {
class values;
template <typename T, typename Enable>
struct type_conversion;
}  // namespace soci

namespace tableq::inline v0 {

/// Gives rows to the from_base of one type, as SOCI's own rows, and remembers the column types that
/// it asks for. For soci_row_traits.
///
/// Owns what it remembers.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class TABLEQ_EXPORT soci_row_reader {
 public:
  /// Remembers nothing yet.
  soci_row_reader();
  soci_row_reader(const soci_row_reader&) = delete;
  soci_row_reader& operator=(const soci_row_reader&) = delete;
  /// Forgets it.
  ~soci_row_reader();

  /// Calls `from_base` with the row, until it has got each column in the type that it asks for.
  /// @throws error errc::invalid_argument when the row has not what it asks for.
  void read(const row& source, const std::function<void(const soci::values&)>& from_base);

 private:
  class memory;
  std::unique_ptr<memory> known_;
};

/// Makes a row of what a `to_base` sets. For soci_row_traits.
/// @param names all columns that it may set.
/// @throws error errc::invalid_argument when it sets others, or a value that no row can hold.
TABLEQ_EXPORT row soci_row(const std::function<void(soci::values&)>& to_base,
                           std::span<const std::string_view> names);

/// The name of a column, as an argument of soci_row_traits: a string literal.
template <std::size_t Size>
struct soci_column {
  std::array<char, Size> name{};  ///< With the zero at its end.

  /// From a literal.
  // NOLINTNEXTLINE(google-explicit-constructor,modernize-avoid-c-arrays): written as a literal
  consteval soci_column(const char (&literal)[Size]) { std::ranges::copy(literal, name.begin()); }
};

/// Row traits by the `soci::type_conversion` that the application has for T, with the base type
/// `soci::values`. One line after that conversion:
///
///     template <>
///     struct tableq::row_traits<email> : tableq::soci_row_traits<email> {};
///
/// from_base sees a row as SOCI reads one: by name, by position or with `>>`; `get_indicator`,
/// defaults for NULL, optionals, enumerations and other conversions of single fields work. Beyond
/// that, names may differ in the case of ASCII letters.
///
/// The rows of SOCI hold std::string, int, long long, unsigned long long, double and std::tm, and
/// give a value only as the type that they hold. tableq finds out which type from_base asks for:
/// it calls from_base for the first row several times, with some of the columns or with zeros and
/// empty texts, and drops the objects that result. So from_base should do nothing but fill the
/// object. Later rows need one call, as long as from_base asks for the same columns.
///
/// Values are converted by the rules of `row_value::get`, and errors name the column and the types.
/// A std::tm is in UTC, in whole seconds; bytes are a std::string. Exceptions of from_base are
/// thrown on, but for SOCI's own and those of a wrong position: these are nested in a
/// tableq::error.
///
/// `enqueue(object)` needs the names of the columns that to_base sets, spelled as there, because
/// SOCI's values do not list them:
///
///     template <>
///     struct tableq::row_traits<email> : tableq::soci_row_traits<email, "Address", "Subject"> {};
///
/// A column that to_base sets and the list lacks is an error; one that to_base does not set gets
/// its default. Its texts are sent as text, never as bytes; blobs, row ids and values without a
/// name are errors. Or write a to_row of your own.
///
/// T can be made without arguments, and moved. Needs SOCI 4.0.
template <class T, soci_column... Names>
struct soci_row_traits {
  /// The application's conversion.
  using conversion = soci::type_conversion<T, void>;
  /// What SOCI calls values; of this type only when the application has such a conversion.
  using base = typename conversion::base_type;
  static_assert(
      std::same_as<base, soci::values>,
      "soci_row_traits<T> needs a soci::type_conversion<T> whose base_type is soci::values; "
      "specialize it above the row_traits");
  static_assert(std::default_initializable<T> && std::move_constructible<T>,
                "soci_row_traits<T> needs a T that is made without arguments, and moved");

  /// The object that from_base makes of the row.
  /// @throws error errc::invalid_argument when the row has not what from_base asks for.
  static T from_row(const row& source) {
    static soci_row_reader reader;
    std::optional<T> out;
    reader.read(source, [&out](const base& values) {
      out.reset();
      T object = T();
      conversion::from_base(values, present<base>(), object);
      out.emplace(std::move(object));
    });
    return *std::move(out);
  }

  /// The row that to_base makes of the object.
  /// @throws error errc::invalid_argument when to_base sets a column that is not listed.
  static row to_row(const T& object) requires(sizeof...(Names) > 0) {
    static constexpr std::array names{std::string_view(Names.name.data())...};
    return soci_row(
        [&object](base& values) {
          auto indicator = present<base>();
          conversion::to_base(object, values, indicator);
        },
        names);
  }

 private:
  /// i_ok, without SOCI's headers: the first enumerator of what tells a NULL.
  template <class Values>
  static auto present() {
    return decltype(std::declval<const Values&>().get_indicator(std::size_t()))();
  }
};

}  // namespace tableq::inline v0
