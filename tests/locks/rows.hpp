#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tableq_test::locks {

/// The columns that matter here.
enum class column {
  id,
  state,
  priority,
  due_at,
  fence,
  attempts,
  key,
  group_key,
  finished_at,
  name,
  spent,
  paused,
  none
};
/// `none` for another name.
column column_named(std::string_view name);

/// A row. NULL is 0.
class row_values {
 public:
  row_values() = default;
  row_values(std::initializer_list<std::pair<column, std::int64_t>> given) {
    for (const auto& [at, value] : given) (*this)[at] = value;
  }
  std::int64_t& operator[](column at) { return of_.at(static_cast<std::size_t>(at)); }
  std::int64_t operator[](column at) const { return of_.at(static_cast<std::size_t>(at)); }

 private:
  std::array<std::int64_t, static_cast<std::size_t>(column::none)> of_ = {};
};

/// An entry's place in its index.
using place_in_index = std::vector<std::int64_t>;

struct index_shape {
  std::string name;
  std::vector<column> columns;
  column descending = column::none;  ///< One of the columns.
  column filter = column::none;      ///< Rows in which this column is 0 are not in it.
  column only_zero = column::none;   ///< Only rows in which this column is 0 are in it.
  bool unique = false;
};

/// A deleted entry stays, locked by who deleted it, until the transaction ends: a ghost.
struct entry {
  std::int64_t row = 0;
  row_values seen = {};  ///< The row when it was written: what a read of the index alone gets.
  bool ghost = false;
};

/// One table with its indexes; the first is the clustered one, `pk`.
class table_rows {
 public:
  table_rows() = default;
  explicit table_rows(std::vector<index_shape> shapes);

  [[nodiscard]] const std::vector<index_shape>& indexes() const { return shapes_; }
  [[nodiscard]] const index_shape& index(std::string_view name) const;
  /// The place of a row with these row_values; none if it is not in the index.
  [[nodiscard]] std::optional<place_in_index> place(const index_shape& index,
                                                    const row_values& of) const;

  /// The first entry after a place, or the first of all; backwards the last before it.
  [[nodiscard]] std::optional<place_in_index> next(const index_shape& index,
                                                   const std::optional<place_in_index>& after,
                                                   bool backwards) const;
  [[nodiscard]] const entry* find(const index_shape& index, const place_in_index& at) const;

  /// As changed so far, also by open transactions; null for none.
  [[nodiscard]] const row_values* row(std::int64_t id) const;
  [[nodiscard]] const std::map<std::int64_t, row_values>& rows() const { return rows_; }
  /// As of the last commits.
  [[nodiscard]] const std::map<std::int64_t, row_values>& committed() const { return committed_; }

  /// Whether each row has its entry in each index, and no other entry is there.
  [[nodiscard]] bool sound() const;

  /// Committed at once: what a test begins with.
  void begin_with(const row_values& row);

  // Changes; each returns what undoes it.
  using undo = std::function<void()>;
  undo put_row(std::int64_t id, const row_values& row);
  undo remove_row(std::int64_t id);
  undo put_entry(const index_shape& index, const place_in_index& at, const entry& what);
  /// The changes of these rows are committed.
  void commit(std::int64_t id);

 private:
  std::vector<index_shape> shapes_;
  std::map<std::int64_t, row_values> rows_;
  std::map<std::int64_t, row_values> committed_;
  std::map<std::string, std::map<place_in_index, entry>, std::less<>> entries_;
};

}  // namespace tableq_test::locks
