#include <algorithm>
#include <utility>

#include "locks/execution.hpp"

namespace tableq_test::locks {
namespace {

lock_mode mode_of(const data_line& line) {
  if (line.hinted("XLOCK")) return exclusive_lock;
  // A change without a read of its own finds its rows with update locks.
  return line.hinted("UPDLOCK") || line.verb != "read" ? update_lock : shared_lock;
}

constexpr std::int64_t full = 1000;

bool keeps(const data_line& line) {
  return mode_of(line).entry != entry_part::shared || line.hinted("HOLDLOCK");
}

}  // namespace

steps execution::read(const data_line& line, const data_line* change) {
  who_.counted = 0;
  if (line.is("found")) {
    for (auto part = find_again(line, change); part.next();) co_yield part.request();
    co_return;
  }
  std::vector<const values*> items{nullptr};
  if (line.is("items")) items = items_in_order(line);
  for (const values* item : items) {
    for (auto part = range(line, item, change); part.next();) co_yield part.request();
  }
}

/// The rows found so far, by their ids.
steps execution::find_again(const data_line& line, const data_line* change) {
  std::map<std::int64_t, found_row> before;
  for (const found_row& each : std::exchange(found_, {})) before.emplace(each.id, each);
  const index_shape& clustered = rows_->indexes().front();
  for (auto& [id, each] : before) {
    if (in_.is.versions && !line.locks_rows()) {
      const auto seen = begun_with_.at(table_).find(id);
      if (seen == begun_with_.at(table_).end() || !meets_all(line, seen->second, each.item))
        continue;
      found_.push_back(each);
      continue;
    }
    const row_values* row = rows_->row(id);
    if (row == nullptr) continue;
    std::int64_t hit = 0;
    const auto at = *rows_->place(clustered, *row);
    for (auto part = visit(line, clustered, at, each.item, hit); part.next();) {
      co_yield part.request();
    }
    if (hit == 0) continue;
    if (!line.conditions.empty()) each.by = &line;
    found_.push_back(each);
    if (change == nullptr) continue;
    for (auto part = change_all(*change, {each}); part.next();) co_yield part.request();
  }
}

steps execution::range(const data_line& line, const values* item, const data_line* change) {
  const bool reads = line.verb == "read";
  if (reads && (line.hinted("READUNCOMMITTED") || (in_.is.versions && !line.locks_rows()))) {
    look_at_versions(line, item);
    co_return;
  }
  if (line.hinted("HOLDLOCK")) {
    bool hit = false;
    for (auto part = seek_and_hold(line, item, hit); part.next();) co_yield part.request();
    co_return;
  }
  const index_shape& index = rows_->index(line.index);
  std::int64_t rest = line.is("one") ? 1 : line.is("top") ? most() : full;
  std::optional<place_in_index> at;
  while (rest > 0 && !ended_ && (at = rows_->next(index, at, line.is("last")))) {
    if (!comes_to(line, index, *at, item)) continue;
    std::int64_t hit = 0;
    for (auto part = visit(line, index, *at, item, hit); part.next();) co_yield part.request();
    if (hit == 0) continue;
    --rest;
    note(line, hit, item);
    if (change == nullptr || found_.empty()) continue;
    for (auto part = change_all(*change, {found_.back()}); part.next();) co_yield part.request();
  }
}

/// HOLDLOCK with the whole key of a unique index: the entry, or the gap where it would be.
steps execution::seek_and_hold(const data_line& line, const values* item, bool& hit) {
  const index_shape& index = rows_->index(line.index);
  const condition& whole = line.conditions.at(0);
  const auto key = whole.number ? whole.number : resolve(whole.value, item);
  if (!key) co_return;
  const place_in_index at{*key};
  for (bool gap = false; !gap;) {
    const entry* there = rows_->find(index, at);
    if (there != nullptr) {
      lock_request one{.resource = resource(index, at), .mode = mode_of(line)};
      co_yield one;
      there = rows_->find(index, at);
      if (there != nullptr && !there->ghost) {
        hit = true;
        note(line, there->row, item);
        co_return;
      }
    }
    const auto following = rows_->next(index, at, false);
    lock_request range{.resource = resource(index, following),
                       .mode = both({.gap = gap_part::shared}, mode_of(line))};
    co_yield range;
    there = rows_->find(index, at);
    gap = rows_->next(index, at, false) == following && (there == nullptr || there->ghost);
  }
}

const row_values* execution::live_row(const index_shape& index, const place_in_index& at,
                                      bool alone) const {
  const entry* there = rows_->find(index, at);
  if (there == nullptr || there->ghost) return nullptr;
  return alone ? &there->seen : rows_->row(there->row);
}

/// The time for a lock has ended, and the answer is the highest that was asked for.
void execution::give_up_waiting() {
  who_.counted = full;
  ended_ = true;
}

/// One entry of an index, and the row behind it. `hit`: the row's id if it meets the conditions.
steps execution::visit(const data_line& line, const index_shape& index, place_in_index at,
                       const values* item, std::int64_t& hit) {
  lock_request of_entry{.resource = resource(index, at),
                        .mode = mode_of(line),
                        .conditional = line.hinted("READPAST") || line.is("briefly")};
  co_yield of_entry;
  if (!of_entry.granted) {
    if (!line.hinted("READPAST")) give_up_waiting();
    co_return;
  }
  const index_shape& clustered = rows_->indexes().front();
  const bool alone = index.name != clustered.name && line.is("covered");
  const row_values* row = live_row(index, at, alone);
  lock_request of_row = of_entry;
  of_row.granted = false;
  if (row != nullptr && index.name != clustered.name && !alone) {
    of_row.resource = resource(clustered, rows_->place(clustered, *row));
    co_yield of_row;
    row = of_row.granted ? live_row(index, at, alone) : nullptr;
  }
  if (row != nullptr && meets_all(line, *row, item)) {
    hit = (*row)[column::id];
  }
  if (keeps(line)) co_return;
  if (of_row.granted) in_.locks.lower(of_row.resource, who_.number, of_row.before);
  in_.locks.lower(of_entry.resource, who_.number, of_entry.before);
}

}  // namespace tableq_test::locks
