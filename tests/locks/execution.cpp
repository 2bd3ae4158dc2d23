#include "locks/execution.hpp"

#include <algorithm>
#include <utility>

namespace tableq_test::locks {
namespace {

const values constants = {
    {"now", now}, {"later", now + 50}, {"much_later", now + 100}, {"queue", 1}};

std::int64_t newest_of(const table_rows& of) {
  return of.committed().empty() ? 0 : of.committed().rbegin()->first;
}

bool changes_what_was_found(const data_line& line) {
  return (line.verb == "update" || line.verb == "delete") && line.index.empty();
}

}  // namespace

execution::execution(world& in, participant& who, const statement_data& what, const call& with)
    : in_(in), who_(who), what_(what), with_(with), counted_before_(who.counted) {}

steps execution::run() {
  who_.statement = what_.name;
  who_.newest = newest_of(in_.tables.at("plain"));
  if (in_.is.versions) keep_versions();
  for (std::size_t i = 0; i < what_.lines.size() && !ended_; ++i) {
    const data_line& line = what_.lines[i];
    if (line.verb == "applock") {
      lock_request all{.resource = "applock." + line.table, .mode = exclusive_lock};
      co_yield all;
      continue;
    }
    if (line.verb == "draw") {
      lock_request none;
      co_yield none;
      for (std::size_t n = 0; n < std::max<std::size_t>(with_.items.size(), 1); ++n) {
        drawn_.push_back(in_.next_id++);
      }
      continue;
    }
    if (line.verb == "drop") continue;  // Excludes all others, whatever they do.
    table_ = world::table_name(what_.name, line.table);
    rows_ = &in_.tables.at(table_);
    if (line.verb == "read") {
      const bool piped = in_.is.row_by_row && i + 1 < what_.lines.size() &&
                         changes_what_was_found(what_.lines[i + 1]);
      for (auto part = read(line, piped ? &what_.lines[++i] : nullptr); part.next();) {
        co_yield part.request();
      }
    } else if (line.verb == "insert") {
      for (auto part = insert(line); part.next();) co_yield part.request();
    } else {
      if (!changes_what_was_found(line)) {
        found_.clear();
        for (auto part = range(line, nullptr, nullptr); part.next();) co_yield part.request();
      }
      for (auto part = change_all(line, found_); part.next();) co_yield part.request();
    }
  }
}

/// A statement sees what was committed when it began.
void execution::keep_versions() {
  for (const data_line& line : what_.lines) {
    if (line.verb != "read" || line.locks_rows()) continue;
    const std::string name = world::table_name(what_.name, line.table);
    begun_with_[name] = in_.tables.at(name).committed();
  }
}

std::string execution::resource(const index_shape& index,
                                const std::optional<place_in_index>& at) const {
  std::string out = table_ + "." + index.name;
  if (!at) return out + ".end";
  for (const std::int64_t part : *at) out += "." + std::to_string(part);
  return out;
}

std::optional<std::int64_t> execution::resolve(std::string_view name, const values* item) const {
  for (const values* given : {item, &with_.given, &constants}) {
    if (given == nullptr) continue;
    const auto found = given->find(name);
    if (found != given->end()) return found->second;
  }
  return {};
}

bool execution::meets(const condition& each, std::int64_t value, const values* item) const {
  const auto wanted = each.number ? each.number : resolve(each.value, item);
  if (!wanted) return false;
  switch (each.is) {
    case comparison::equal:
      return value == *wanted;
    case comparison::not_equal:
      return value != *wanted;
    case comparison::greater:
      return value > *wanted;
    case comparison::not_greater:
      return value <= *wanted;
  }
  return false;
}

bool execution::meets_all(const data_line& line, const row_values& row, const values* item) const {
  return std::all_of(line.conditions.begin(), line.conditions.end(),
                     [&](const condition& each) { return meets(each, row[each.of], item); });
}

bool execution::comes_to(const data_line& line, const index_shape& index, const place_in_index& at,
                         const values* item) const {
  for (std::size_t i = 0; i < index.columns.size(); ++i) {
    const std::int64_t value = index.columns[i] == index.descending ? -at[i] : at[i];
    bool equal = false;
    for (const condition& each : line.conditions) {
      if (each.of != index.columns[i]) continue;
      if (each.is != comparison::not_equal && !meets(each, value, item)) return false;
      equal = equal || each.is == comparison::equal;
    }
    if (!equal) return true;
  }
  return true;
}

std::vector<const values*> execution::items_in_order(const data_line& line) const {
  std::vector<const values*> out;
  for (const values& each : with_.items) out.push_back(&each);
  if (line.is("given")) return out;
  const char* by = line.is("key") ? "key" : "id";
  const auto sign = [by](const values& of) {
    const auto found = of.find(by);
    return found == of.end() ? 0 : found->second;
  };
  std::stable_sort(out.begin(), out.end(), [&](const values* one, const values* other) {
    return sign(*one) < sign(*other);
  });
  return out;
}

std::int64_t execution::most() const {
  const std::int64_t given = resolve("max", nullptr).value_or(10);
  if (!with_.given.contains("limited") || in_.is.concurrency == 0) return given;
  return std::min(given, std::max<std::int64_t>(in_.is.concurrency - counted_before_, 0));
}

row_values execution::assigned(const data_line& line, row_values row, const values* item) const {
  for (const condition& each : line.assignments) {
    if (each.value == "next") {
      ++row[each.of];
    } else if (const auto value = each.number ? each.number : resolve(each.value, item)) {
      row[each.of] = *value;
    }
  }
  return row;
}

void execution::note(const data_line& line, std::int64_t id, const values* item) {
  ++who_.counted;
  if (line.is("guard")) {
    ended_ = ended_ || resolve("guard", nullptr).value_or(0) != 0;
  } else if (line.is("absent")) {
    left_out_.insert(item);
  } else if (!line.is("look")) {
    found_.push_back({id, &line, item});
  }
}

void execution::look_at_versions(const data_line& line, const values* item) {
  const bool dirty = line.hinted("READUNCOMMITTED");
  for (const auto& [id, row] : dirty ? rows_->rows() : begun_with_.at(table_)) {
    if (meets_all(line, row, item)) note(line, id, item);
  }
}

}  // namespace tableq_test::locks
