#pragma once

/// @file
/// Requests and rows of statements about tables of applications. Those on such a table have further
/// parameters and columns, which only its mapping knows: core/table/statements.hpp makes their
/// contracts.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/message.hpp>

#include "core/seam/fields.hpp"
#include "core/seam/table_form.hpp"

namespace tableq::inline v0::core {

/// A table by its name.
struct table_request {
  std::string_view schema = {};  ///< Empty: where the session looks.
  std::string_view table = {};
  TABLEQ_FIELDS(table_request, schema, table)
};

/// A table or view whose name differs from the asked one in case at most.
struct found_table_row {
  std::string schema = {};
  std::string name = {};
  bool is_table = false;
  bool has_triggers = false;
  /// `system`, `virtual`, `inherited`, `ruled`; `keyless`: rows have no address. Empty: none.
  std::string trouble = {};
  TABLEQ_FIELDS(found_table_row, schema, name, is_table, has_triggers, trouble)
};

/// A column, in the table's order.
struct table_column_row : table_column {
  TABLEQ_FIELDS(table_column_row, name, declared, form, required, has_value, computed, room, labels)
};

/// A column of a unique index without a condition.
struct unique_column_row {
  std::string index_name = {};
  std::string name = {};
  TABLEQ_FIELDS(unique_column_row, index_name, name)
};

/// A column of a valid index, in the index's order.
struct index_column_row {
  std::string index_name = {};
  std::string name = {};  ///< Empty: an expression, or not in the order of the column's type.
  bool descending = false;
  std::string condition = {};  ///< Of the index's rows; empty: all rows.
  TABLEQ_FIELDS(index_column_row, index_name, name, descending, condition)
};

/// Rows whose lease has ended, and the error that they get.
struct expire_rows_request {
  std::size_t max = 0;
  std::string_view error = {};
  TABLEQ_FIELDS(expire_rows_request, max, error)
};

/// Rows that were taken longer ago.
struct requeue_rows_request {
  std::size_t max = 0;
  std::chrono::milliseconds age{0};
  TABLEQ_FIELDS(requeue_rows_request, max, age)
};

/// The end of an item of a settlement; the values of the key stand before it.
struct held_row_item {
  std::int64_t fence = 0;
  TABLEQ_FIELDS(held_row_item, fence)
};

/// The same for a failed attempt.
struct failed_row_item {
  std::int64_t fence = 0;
  std::string_view error = {};
  std::chrono::milliseconds delay{0};
  bool final = false;
  TABLEQ_FIELDS(failed_row_item, fence, error, delay, final)
};

/// A row that a statement has changed.
struct changed_row {
  message_state state = message_state::ready;
  TABLEQ_FIELDS(changed_row, state)
};

/// A number of rows, at the database's time.
struct row_count_row {
  std::size_t count = 0;
  timestamp as_of = {};
  TABLEQ_FIELDS(row_count_row, count, as_of)
};

/// The beginning of a row that a mapped read returns; the values of the columns stand after it.
struct placed_row {
  std::int64_t place = 0;  ///< In the order of the read.
  TABLEQ_FIELDS(placed_row, place)
};

}  // namespace tableq::inline v0::core
