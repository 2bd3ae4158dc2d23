#include "locks/rows.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tableq_test::locks {

column column_named(std::string_view name) {
  constexpr std::array<std::string_view, 12> names = {
      "id",  "state",     "priority",    "due_at", "fence", "attempts",
      "key", "group_key", "finished_at", "name",   "spent", "paused"};
  return static_cast<column>(std::find(names.begin(), names.end(), name) - names.begin());
}

table_rows::table_rows(std::vector<index_shape> shapes) : shapes_(std::move(shapes)) {
  for (const index_shape& each : shapes_) entries_[each.name];
}

const index_shape& table_rows::index(std::string_view name) const {
  const auto found = std::find_if(shapes_.begin(), shapes_.end(),
                                  [&](const index_shape& each) { return each.name == name; });
  if (found == shapes_.end()) throw std::runtime_error("no index " + std::string(name));
  return *found;
}

std::optional<place_in_index> table_rows::place(const index_shape& index,
                                                const row_values& of) const {
  if (index.filter != column::none && of[index.filter] == 0) return {};
  if (index.only_zero != column::none && of[index.only_zero] != 0) return {};
  place_in_index out;
  for (const column each : index.columns) {
    out.push_back(each == index.descending ? -of[each] : of[each]);
  }
  return out;
}

std::optional<place_in_index> table_rows::next(const index_shape& index,
                                               const std::optional<place_in_index>& after,
                                               bool backwards) const {
  const auto& all = entries_.find(index.name)->second;
  if (backwards) {
    auto at = after ? all.lower_bound(*after) : all.end();
    if (at == all.begin()) return {};
    return std::prev(at)->first;
  }
  const auto at = after ? all.upper_bound(*after) : all.begin();
  return at == all.end() ? std::optional<place_in_index>() : at->first;
}

const entry* table_rows::find(const index_shape& index, const place_in_index& at) const {
  const auto& all = entries_.find(index.name)->second;
  const auto found = all.find(at);
  return found == all.end() ? nullptr : &found->second;
}

const row_values* table_rows::row(std::int64_t id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

bool table_rows::sound() const {
  return std::all_of(shapes_.begin(), shapes_.end(), [&](const index_shape& each) {
    std::size_t entries = 0;
    for (const auto& [id, row] : rows_) {
      const auto at = place(each, row);
      if (!at) continue;
      const entry* there = find(each, *at);
      if (there == nullptr || there->ghost || there->row != id) return false;
      ++entries;
    }
    return entries == entries_.find(each.name)->second.size();
  });
}

void table_rows::begin_with(const row_values& row) {
  const std::int64_t id = row[column::id];
  put_row(id, row);
  for (const index_shape& each : shapes_) {
    if (const auto at = place(each, row)) put_entry(each, *at, {.row = id, .seen = row});
  }
  commit(id);
}

table_rows::undo table_rows::put_row(std::int64_t id, const row_values& row) {
  const auto found = rows_.find(id);
  const std::optional<row_values> before =
      found == rows_.end() ? std::optional<row_values>() : found->second;
  rows_[id] = row;
  return [this, id, before] {
    if (before) {
      rows_[id] = *before;
    } else {
      rows_.erase(id);
    }
  };
}

table_rows::undo table_rows::remove_row(std::int64_t id) {
  const row_values before = rows_.at(id);
  rows_.erase(id);
  return [this, id, before] { rows_[id] = before; };
}

table_rows::undo table_rows::put_entry(const index_shape& index, const place_in_index& at,
                                       const entry& what) {
  auto& all = entries_.find(index.name)->second;
  const auto found = all.find(at);
  const std::optional<entry> before = found == all.end() ? std::optional<entry>() : found->second;
  all[at] = what;
  return [&all, at, before] {
    if (before) {
      all[at] = *before;
    } else {
      all.erase(at);
    }
  };
}

void table_rows::commit(std::int64_t id) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) {
    committed_.erase(id);
  } else {
    committed_[id] = found->second;
  }
  for (auto& [name, all] : entries_) {
    std::erase_if(all,
                  [&](const auto& each) { return each.second.row == id && each.second.ghost; });
  }
}

}  // namespace tableq_test::locks
