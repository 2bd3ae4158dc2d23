#pragma once

/// @file
/// Statements about tables of applications. Those on such a table have parameters and columns that
/// only its mapping knows: core/table/statements.hpp makes their contracts.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// A table by its name.
struct table_request {
  std::string_view schema = {};  ///< Empty: where the session looks.
  std::string_view table = {};

  static constexpr auto fields() {
    return std::tuple(text("schema", &table_request::schema), text("table", &table_request::table));
  }
};

/// A table or view whose name differs from the asked one in case at most.
struct found_table_row {
  std::string schema = {};
  std::string name = {};
  bool is_table = false;
  bool has_triggers = false;
  /// `system`, `virtual`, `inherited`, `ruled`; `keyless`: rows have no address. Empty: none.
  std::string trouble = {};

  static constexpr auto fields() {
    return std::tuple(text("schema", &found_table_row::schema),
                      text("name", &found_table_row::name),
                      integer("is_table", &found_table_row::is_table),
                      integer("has_triggers", &found_table_row::has_triggers),
                      text("trouble", &found_table_row::trouble));
  }
};

/// A column, in the table's order.
struct table_column_row {
  std::string name = {};
  std::string declared = {};
  std::string form = {};
  bool required = false;
  bool has_value = false;
  bool computed = false;
  std::int64_t room = 0;
  std::string labels = {};

  static constexpr auto fields() {
    return std::tuple(
        text("name", &table_column_row::name), text("declared", &table_column_row::declared),
        text("form", &table_column_row::form), integer("required", &table_column_row::required),
        integer("has_value", &table_column_row::has_value),
        integer("computed", &table_column_row::computed), integer("room", &table_column_row::room),
        text("labels", &table_column_row::labels));
  }
};

/// A column of a unique index without a condition.
struct unique_column_row {
  std::string index_name = {};
  std::string name = {};

  static constexpr auto fields() {
    return std::tuple(text("index_name", &unique_column_row::index_name),
                      text("name", &unique_column_row::name));
  }
};

/// A column of a valid index, in the index's order.
struct index_column_row {
  std::string index_name = {};
  std::string name = {};  ///< Empty: an expression, or not in the order of the column's type.
  bool descending = false;
  std::string condition = {};  ///< Of the index's rows; empty: all rows.

  static constexpr auto fields() {
    return std::tuple(text("index_name", &index_column_row::index_name),
                      text("name", &index_column_row::name),
                      integer("descending", &index_column_row::descending),
                      text("condition", &index_column_row::condition));
  }
};

/// The leases of taken rows.
struct take_rows_request {
  std::size_t max = 0;
  std::chrono::milliseconds lease{0};
  std::int64_t token = 0;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(
        integer("max", &take_rows_request::max), integer("lease", &take_rows_request::lease),
        integer("token", &take_rows_request::token), integer("now", &take_rows_request::now));
  }
};

/// Rows whose lease has ended, and the error that they get.
struct expire_rows_request {
  std::size_t max = 0;
  std::string_view error = {};
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("max", &expire_rows_request::max),
                      text("error", &expire_rows_request::error),
                      integer("now", &expire_rows_request::now));
  }
};

/// Rows that were taken longer ago.
struct requeue_rows_request {
  std::size_t max = 0;
  std::chrono::milliseconds age{0};
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("max", &requeue_rows_request::max),
                      integer("age", &requeue_rows_request::age),
                      integer("now", &requeue_rows_request::now));
  }
};

/// The end of an item of a settlement; the values of the key stand before it.
struct held_row_item {
  std::int64_t fence = 0;

  static constexpr auto fields() { return std::tuple(integer("fence", &held_row_item::fence)); }
};

/// The same for a failed attempt.
struct failed_row_item {
  std::int64_t fence = 0;
  std::string_view error = {};
  std::chrono::milliseconds delay{0};
  bool final = false;

  static constexpr auto fields() {
    return std::tuple(
        integer("fence", &failed_row_item::fence), text("error", &failed_row_item::error),
        integer("delay", &failed_row_item::delay), integer("final", &failed_row_item::final));
  }
};

/// A row that a statement has changed.
struct changed_row {
  message_state state = message_state::ready;

  static constexpr auto fields() { return std::tuple(integer("state", &changed_row::state)); }
};

/// A number of rows, at the database's time.
struct row_count_row {
  std::size_t count = 0;
  timestamp as_of = {};

  static constexpr auto fields() {
    return std::tuple(integer("count", &row_count_row::count),
                      integer("as_of", &row_count_row::as_of));
  }
};

/// How long until the first row falls due.
struct next_row {
  std::optional<std::chrono::milliseconds> delay = {};  ///< Empty: there is no such row.

  static constexpr auto fields() { return std::tuple(integer("delay", &next_row::delay)); }
};

/// The beginning of a row that a mapped read returns; the values of the columns stand after it.
struct placed_row {
  std::int64_t place = 0;  ///< In the order of the read.

  static constexpr auto fields() { return std::tuple(integer("place", &placed_row::place)); }
};

namespace statements {

inline constexpr typed_statement<table_request, nothing, found_table_row> table_find{
    statement::table_find};
inline constexpr typed_statement<table_request, nothing, table_column_row> table_columns{
    statement::table_columns};
inline constexpr typed_statement<table_request, nothing, unique_column_row> table_keys{
    statement::table_keys};
inline constexpr typed_statement<table_request, nothing, index_column_row> table_indexes{
    statement::table_indexes};

/// The rows of a statement whose contract the mapping makes.
template <class Row>
inline constexpr typed_statement<nothing, nothing, Row> mapped_rows{statement::table_take};
/// The same with items.
template <class Row>
inline constexpr typed_statement<nothing, held_row_item, Row> mapped_item_rows{
    statement::table_complete};

/// A statement whose contract the mapping makes.
template <statement Id>
inline constexpr typed_statement<nothing, nothing, nothing> mapped{Id};

}  // namespace statements

}  // namespace tableq::inline v0::core
