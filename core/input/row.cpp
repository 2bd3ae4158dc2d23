#include <algorithm>
#include <span>

#include <tableq/row.hpp>

#include "core/base/errors.hpp"
#include "core/input/codec.hpp"

namespace tableq::inline v0 {
namespace {

/// The result of a search by name.
struct column_search {
  std::size_t position;  ///< The number of columns: there is none.
  bool several;          ///< There are several that differ in case.
};

column_search search_column(std::span<const row_column> columns, std::string_view name) noexcept {
  const auto exact = std::ranges::find(columns, name, &row_column::name);
  if (exact != columns.end()) return {static_cast<std::size_t>(exact - columns.begin()), false};
  column_search out{columns.size(), false};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!core::equal_but_for_case(columns[i].name, name)) continue;
    if (out.position != columns.size()) return {columns.size(), true};
    out.position = i;
  }
  return out;
}

std::string list_of_names(std::span<const row_column> columns) {
  std::string out;
  for (const row_column& each : columns) {
    out += (out.empty() ? "\"" : ", \"") + each.name + "\"";
  }
  return out.empty() ? "no columns" : out;
}

std::span<const row_column> columns_of(const std::shared_ptr<const row_columns>& columns) noexcept {
  return columns ? std::span<const row_column>(*columns) : std::span<const row_column>();
}

}  // namespace

row::row(std::initializer_list<std::pair<std::string, row_value>> columns) {
  row_columns names;
  names.reserve(columns.size());
  cells_.reserve(columns.size());
  for (const auto& [name, value] : columns) {
    if (std::ranges::find(names, name, &row_column::name) != names.end()) {
      core::refuse("a row was made with two columns \"" + name + "\"");
    }
    names.push_back({name, value.type()});
    cells_.push_back(value.cell());
  }
  columns_ = std::make_shared<const row_columns>(std::move(names));
}

row::row(std::shared_ptr<const row_columns> columns, std::vector<row_cell> cells)
    : columns_(std::move(columns)), cells_(std::move(cells)) {
  const auto known = columns_of(columns_);
  if (known.size() != cells_.size())
    core::refuse("a row was made with more or fewer values than columns");
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!row_field(known[i].name, known[i].type, cells_[i]).is_stored_well()) {
      core::refuse("the value of column \"" + known[i].name + "\" is not stored as " +
                   std::string(to_string(known[i].type)) + " is; see tableq::row_cell");
    }
  }
}

row_value row::value(text_view column) const {
  const std::size_t position = find(column.view());
  return {(*columns_)[position].type, cells_[position]};
}

bool row::is_null(text_view column) const {
  return std::holds_alternative<std::monostate>(cells_[find(column.view())]);
}

bool row::contains(text_view column) const {
  return search_column(columns_of(columns_), column.view()).position != size();
}

const std::string& row::name(std::size_t position) const {
  return at(position).name;
}

column_type row::type(std::size_t position) const {
  return at(position).type;
}

const row_column& row::at(std::size_t position) const {
  if (position >= size()) {
    core::refuse("the row has no column at position " + std::to_string(position) + "; it has " +
                 std::to_string(size()) + ", from position 0");
  }
  return (*columns_)[position];
}

std::size_t row::find(std::string_view column) const {
  const auto columns = columns_of(columns_);
  const column_search found = search_column(columns, column);
  if (found.position != columns.size()) return found.position;
  core::refuse((found.several
                    ? "several columns differ from \"" + std::string(column) +
                          "\" in case only, and none is exactly that; the row has "
                    : "there is no column \"" + std::string(column) + "\"; the row has ") +
               list_of_names(columns));
}

void row::set(text_view column, row_value value) {
  const std::string_view name = column.view();
  const auto columns = columns_of(columns_);
  const std::size_t position = search_column(columns, name).position;
  if (position == columns.size() || columns[position].type != value.type()) {
    auto changed = std::make_shared<row_columns>(columns.begin(), columns.end());
    if (position == columns.size()) {
      cells_.reserve(columns.size() + 1);
      changed->push_back({std::string(name), value.type()});
      cells_.emplace_back();
    } else {
      (*changed)[position].type = value.type();
    }
    columns_ = std::move(changed);
  }
  cells_[position] = std::move(value).cell();
}

bool operator==(const row& left, const row& right) {
  return left.cells_ == right.cells_ &&
         (left.columns_ == right.columns_ ||
          std::ranges::equal(columns_of(left.columns_), columns_of(right.columns_)));
}

}  // namespace tableq::inline v0
