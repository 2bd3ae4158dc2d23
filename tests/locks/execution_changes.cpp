#include <algorithm>
#include <utility>

#include "locks/execution.hpp"

namespace tableq_test::locks {

steps execution::change_all(const data_line& line, std::vector<found_row> rows) {
  std::vector<changed_row> changed;
  for (const found_row& each : rows) {
    std::optional<changed_row> one;
    for (auto part = change_clustered(line, each, one); part.next();) co_yield part.request();
    if (one) changed.push_back(*one);
  }
  const auto& indexes = rows_->indexes();
  for (std::size_t i = 1; i < indexes.size(); ++i) {
    for (const changed_row& each : changed) {
      for (auto part = change_index(indexes[i], each); part.next();) co_yield part.request();
    }
  }
}

steps execution::change_clustered(const data_line& line, found_row row,
                                  std::optional<changed_row>& out) {
  const row_values* now_there = rows_->row(row.id);
  if (now_there == nullptr) co_return;
  const index_shape& clustered = rows_->indexes().front();
  const place_in_index at = *rows_->place(clustered, *now_there);
  lock_request all{.resource = resource(clustered, at), .mode = exclusive_lock};
  co_yield all;
  now_there = rows_->row(row.id);
  if (now_there == nullptr) co_return;
  if (row.by != nullptr && !meets_all(*row.by, *now_there, row.item)) {
    in_.find("stale change: " + what_.name);
  }
  changed_row done{.id = row.id, .before = *now_there};
  who_.changed.emplace(table_, row.id);
  if (line.verb == "delete") {
    if (table_ == "plain") {
      in_.check_order(who_, row.id);
      who_.dequeued.push_back(row.id);
    }
    keep(rows_->remove_row(row.id));
    keep(rows_->put_entry(clustered, at, {.row = row.id, .ghost = true}));
  } else {
    done.after = assigned(line, done.before, row.item);
    keep(rows_->put_row(row.id, *done.after));
  }
  out = std::move(done);
}

steps execution::change_index(const index_shape& index, const changed_row& row) {
  const auto before = rows_->place(index, row.before);
  const auto after = row.after ? rows_->place(index, *row.after) : std::nullopt;
  if (before == after) co_return;
  if (before) {
    lock_request old{.resource = resource(index, before), .mode = exclusive_lock};
    co_yield old;
    keep(rows_->put_entry(index, *before, {.row = row.id, .ghost = true}));
  }
  if (!after) co_return;
  for (auto part = put(index, *after, *row.after); part.next();) co_yield part.request();
}

steps execution::insert(const data_line& line) {
  std::vector<const values*> items;
  for (const values& each : with_.items) items.push_back(&each);
  if (items.empty()) items.push_back(nullptr);
  std::size_t number = 0;
  for (const values* item : items) {
    const std::int64_t id = number < drawn_.size() ? drawn_[number] : in_.next_id++;
    ++number;
    if (left_out_.contains(item) || left_out_.contains(nullptr)) continue;
    const row_values row = assigned(line, {{column::id, id}}, item);
    const auto& indexes = rows_->indexes();
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      const auto at = rows_->place(indexes[i], row);
      if (!at) continue;
      for (auto part = put(indexes[i], *at, row); part.next();) co_yield part.request();
      if (i > 0) continue;
      who_.changed.emplace(table_, id);
      who_.added.push_back(id);
      keep(rows_->put_row(id, row));
    }
  }
}

/// A new entry: no other transaction may hold the gap, or an equal entry of a unique index.
steps execution::put(const index_shape& index, place_in_index at, row_values row) {
  if (index.unique && rows_->find(index, at) != nullptr) {
    lock_request equal{.resource = resource(index, at), .mode = shared_lock};
    co_yield equal;
    const entry* there = rows_->find(index, at);
    if (there != nullptr && !there->ghost) throw failed_transaction("duplicate key: " + what_.name);
  }
  lock_request gap{.resource = resource(index, rows_->next(index, at, false)),
                   .mode = insert_test,
                   .instant = true};
  co_yield gap;
  lock_request own{.resource = resource(index, at), .mode = exclusive_lock};
  co_yield own;
  const entry* there = rows_->find(index, at);
  if (index.unique && there != nullptr && !there->ghost) {
    throw failed_transaction("duplicate key: " + what_.name);
  }
  const std::int64_t id = row[column::id];
  keep(rows_->put_entry(index, at, {.row = id, .seen = std::move(row)}));
}

}  // namespace tableq_test::locks
