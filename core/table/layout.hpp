#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/row.hpp>
#include <tableq/table_mapping.hpp>

#include "core/seam/table_form.hpp"

namespace tableq::inline v0::core {

/// A table of the application as the database describes it.
struct table_description {
  std::string schema = {};
  std::string name = {};
  std::vector<table_column> columns = {};
  std::vector<std::vector<std::string>> unique = {};  ///< The columns of each unique index.
  bool keyless = false;                               ///< Its rows have no address of their own.
};

/// One of the states that a column tells.
enum class row_state : std::uint8_t { waiting, taken, done, dead };

/// A column that tells a state, found in the table.
struct state_column {
  std::size_t column = 0;
  table_state rules = {};
};

/// A mapping whose columns were found in the table. Columns are indexes into `columns`.
struct table_layout {
  std::string schema = {};
  std::string table = {};
  std::vector<table_column> columns = {};
  std::vector<std::size_t> key = {};
  std::vector<std::size_t> shown = {};
  std::vector<table_order> order = {};
  std::optional<state_column> state = {};  ///< Empty: every row waits.
  std::optional<state_column> done = {};   ///< Another column than that of `state`.
  std::optional<std::size_t> taken_at = {};
  std::optional<std::size_t> lease_until = {};
  std::optional<std::size_t> fence = {};
  std::optional<std::size_t> attempts = {};
  std::optional<std::size_t> last_error = {};
  std::optional<std::size_t> errors = {};
  std::optional<std::size_t> due_at = {};
  std::optional<std::size_t> priority = {};
  tableq::ordering ordering = tableq::ordering::relaxed;
  on_complete completed = on_complete::remove;
  std::optional<int> max_attempts = {};
  std::chrono::milliseconds lease{0};

  /// Whether a take deletes the row.
  [[nodiscard]] bool removes() const noexcept { return !state; }
  /// Whether the end of the lease is also what tells which rows wait. Then no row can be dead.
  [[nodiscard]] bool lease_tells() const noexcept {
    return state && lease_until && *lease_until == state->column;
  }
  [[nodiscard]] table_guarantee guarantee() const;
};

/// The family of a column's values.
column_type type_of(const table_column& column) noexcept;

/// Whether a column's form has that part behind its family.
bool has_trait(const table_column& column, std::string_view trait);

/// The column of that name: exactly, or without case if only one has it.
std::optional<std::size_t> find_column(const std::vector<table_column>& columns,
                                       std::string_view name);

/// Finds the columns of a mapping in a table, and checks that they can serve.
/// @throws error errc::invalid_argument that names the column, its type and what is needed.
table_layout resolve(const table_description& found, const table_mapping& mapping);

/// Checks that the columns of a mapping can hold what its statements write, and be compared as they
/// compare.
/// @throws error errc::invalid_argument that names the column, and what it lacks.
void check_columns(const table_layout& layout);

}  // namespace tableq::inline v0::core
