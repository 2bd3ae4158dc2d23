#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/export.hpp>
#include <tableq/row_value.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// The name and type of a column.
struct row_column {
  std::string name;                      ///< As the table spells it.
  column_type type = column_type::text;  ///< Of all values that the column has in one read.

  /// Equal names and types.
  friend bool operator==(const row_column&, const row_column&) = default;
};

/// The columns of a row, in their order.
using row_columns = std::vector<row_column>;

/// One row of an application's own table: `tableq::row{{"Email", "a@b.example"}, {"Tries", 3}}`.
///
/// A value: owns its values, and shares the names of its columns with the other rows of one read.
/// Cheap to move.
///
/// A column is looked up by its name; if no name is exactly that, by the one name that differs in
/// the case of ASCII letters only. Errors name columns and types, never a value.
class TABLEQ_EXPORT row {
 public:
  /// No columns.
  row() noexcept = default;
  /// Columns in this order.
  /// @throws error errc::invalid_argument when a name occurs twice.
  row(std::initializer_list<std::pair<std::string, row_value>> columns);
  /// A row of a read, for tableq and for tests.
  /// @param columns shared by the rows of a read; never changed by a row.
  /// @param cells one for each column, stored as its type wants it.
  /// @throws error errc::invalid_argument when a cell is missing, too many, or stored otherwise.
  row(std::shared_ptr<const row_columns> columns, std::vector<row_cell> cells);

  /// The value of a column as a T; see `row_value::get` for the types.
  /// @throws error errc::invalid_argument when there is no such column, or the value is none of
  ///   T's: NULL is read as a std::optional.
  template <class T>
  [[nodiscard]] T get(text_view column) const {
    return field(find(column.view())).get<T>();
  }
  /// A copy of the value of a column, with its type.
  /// @throws error errc::invalid_argument when there is no such column.
  [[nodiscard]] row_value value(text_view column) const;
  /// True: the value of the column is NULL.
  /// @throws error errc::invalid_argument when there is no such column.
  [[nodiscard]] bool is_null(text_view column) const;
  /// True: `get` finds the column.
  [[nodiscard]] bool contains(text_view column) const;

  /// The number of columns.
  [[nodiscard]] std::size_t size() const noexcept { return cells_.size(); }
  /// True: there are no columns.
  [[nodiscard]] bool empty() const noexcept { return cells_.empty(); }
  /// The name of a column, as the table spells it. Valid until the row changes or ends.
  /// @param position from 0.
  /// @throws error errc::invalid_argument when there are not so many columns.
  [[nodiscard]] const std::string& name(std::size_t position) const;
  /// The type of a column, NULL or not.
  /// @param position from 0.
  /// @throws error errc::invalid_argument when there are not so many columns.
  [[nodiscard]] column_type type(std::size_t position) const;

  /// Replaces the value of the column that `get` finds, and its type; without such a column adds
  /// one at the end. Other rows keep theirs.
  void set(text_view column, row_value value);

  /// Equal columns in the same order, with equal values.
  friend TABLEQ_EXPORT bool operator==(const row& left, const row& right);

 private:
  [[nodiscard]] std::size_t find(std::string_view column) const;
  [[nodiscard]] const row_column& at(std::size_t position) const;
  [[nodiscard]] row_field field(std::size_t position) const noexcept {
    const row_column& column = (*columns_)[position];
    return {column.name, column.type, cells_[position]};
  }

  std::shared_ptr<const row_columns> columns_;  // null: no columns
  std::vector<row_cell> cells_;
};

/// How rows become objects of the application, and back. Specialize it for your type:
///
///     template <>
///     struct tableq::row_traits<customer> {
///       static customer from_row(const tableq::row& row);
///       static tableq::row to_row(const customer& object);  // only if you write them
///     };
template <class T>
struct row_traits;

/// A type that `row_traits` makes of a row.
template <class T>
concept readable_row = requires(const row& source) {
  { row_traits<T>::from_row(source) } -> std::same_as<T>;
};

/// A type that `row_traits` makes a row of.
template <class T>
concept writable_row = requires(const T& object) {
  { row_traits<T>::to_row(object) } -> std::same_as<row>;
};

}  // namespace tableq::inline v0
