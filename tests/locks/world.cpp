#include "locks/world.hpp"

#include <algorithm>
#include <stdexcept>

namespace tableq_test::locks {
namespace {

std::map<std::string, table_rows> made_tables(bool by_turns) {
  std::map<std::string, table_rows> out;
  std::vector<index_shape> of_claim = {
      {.name = "pk", .columns = {column::id}, .unique = true},
      {.name = "next",
       .columns = {column::state, column::due_at, column::priority, column::id},
       .descending = column::priority},
      {.name = "done",
       .columns = {column::state, column::finished_at, column::id},
       .filter = column::finished_at},
      {.name = "group",
       .columns = {column::group_key, column::state, column::id},
       .filter = column::group_key},
      {.name = "key", .columns = {column::key}, .filter = column::key, .unique = true}};
  // Time stands still: all became ready at once.
  if (by_turns) {
    of_claim.push_back({.name = "turns",
                        .columns = {column::priority, column::id},
                        .descending = column::priority,
                        .only_zero = column::state});
  }
  out["claim"] = table_rows(of_claim);
  out["plain"] = table_rows({{.name = "pk", .columns = {column::id}, .unique = true}});
  out["pending"] =
      table_rows({{.name = "pk", .columns = {column::due_at, column::id}, .unique = true}});
  out["limits"] = table_rows({{.name = "pk", .columns = {column::name}, .unique = true}});
  out["catalog"] = table_rows({{.name = "pk", .columns = {column::name}, .unique = true}});
  const auto message = [&](const row_values& row) { out["claim"].begin_with(row); };
  message({{column::id, 1}, {column::key, 10}});
  message({{column::id, 2}});
  message({{column::id, 3},
           {column::state, 1},
           {column::fence, 1000},
           {column::due_at, 150},
           {column::key, 30}});
  message({{column::id, 4}, {column::state, 1}, {column::fence, 1000}, {column::due_at, 50}});
  message({{column::id, 5}, {column::state, 2}, {column::due_at, 50}, {column::key, 50}});
  message({{column::id, 6},
           {column::state, 3},
           {column::finished_at, 40},
           {column::due_at, 60},
           {column::key, 60}});
  message({{column::id, 7}, {column::state, 4}, {column::finished_at, 40}, {column::key, 70}});
  message({{column::id, 8}, {column::state, 5}, {column::group_key, 1}});
  message({{column::id, 9},
           {column::state, 1},
           {column::fence, 1000},
           {column::due_at, 150},
           {column::group_key, 1}});
  message({{column::id, 10}, {column::state, 1}, {column::fence, 1000}, {column::due_at, 150}});
  for (std::int64_t id = 1; id <= 3; ++id) {
    out["plain"].begin_with({{column::id, id}});
    out["pending"].begin_with({{column::id, id}, {column::due_at, 40 + id}});
  }
  out["limits"].begin_with({{column::id, 1}, {column::name, 1}});
  out["catalog"].begin_with({{column::id, 1}, {column::name, 1}});
  return out;
}

/// Made once, because each run begins with them.
const std::map<std::string, table_rows>& usual_tables(bool by_turns) {
  static const std::map<std::string, table_rows> made = made_tables(false);
  static const std::map<std::string, table_rows> made_by_turns = made_tables(true);
  return by_turns ? made_by_turns : made;
}

}  // namespace

world::world(const all_statements& of, const conditions_of_run& given)
    : texts(of), is(given), tables(usual_tables(given.by_turns)) {}

const statement_data& world::data_of(const std::string& statement) const {
  auto found = is.by_turns ? texts.find(statement + ".turns") : texts.end();
  if (found == texts.end()) found = texts.find(statement);
  if (found == texts.end()) throw std::runtime_error("no data for " + statement);
  return found->second;
}

std::string world::table_name(const std::string& statement, const std::string& name) {
  if (name != "table") return name;
  const std::string kind = statement.substr(0, statement.find('.'));
  return kind == "claim" || kind == "pending" ? kind : "plain";
}

table_rows& world::table(const std::string& statement, const std::string& name) {
  return tables.at(table_name(statement, name));
}

void world::check_order(const participant& who, std::int64_t id) {
  if (is.strict == order::none) return;
  const bool first = is.strict == order::first_in_first_out;
  for (const auto& [other, row] : tables.at("plain").rows()) {
    // What was added after the statement began may count as later than the read.
    if (first ? other < id : other > id && other <= who.newest) {
      find("broken order: " + who.statement);
      return;
    }
  }
}

void world::check_commit(const participant& who) {
  if (is.strict == order::first_in_first_out) {
    for (const std::int64_t id : who.added) {
      if (id < last_dequeued_) find("broken order: a message comes after a later one was read");
    }
    for (const std::int64_t id : who.dequeued) last_dequeued_ = std::max(last_dequeued_, id);
  }
  std::map<std::int64_t, int> active;
  std::int64_t leased = 0;
  for (const auto& [id, row] : tables.at("claim").committed()) {
    const std::int64_t state = row[column::state];
    if (state == 1 && row[column::due_at] > now) ++leased;
    if (row[column::group_key] != 0 && state <= 1) ++active[row[column::group_key]];
  }
  for (const auto& [group, number] : active) {
    if (number > 1) find("broken group: two of its messages are out");
  }
  if (is.concurrency > 0 && leased > is.concurrency) find("broken limit: too many leases");
}

void world::commit(participant& who) {
  for (const auto& [name, id] : who.changed) tables.at(name).commit(id);
  check_commit(who);
  locks.release_all(who.number);
}

void world::roll_back(participant& who) {
  for (auto undo = who.undo.rbegin(); undo != who.undo.rend(); ++undo) (*undo)();
  locks.release_all(who.number);
  who = participant{.number = who.number, .work = who.work};
}

}  // namespace tableq_test::locks
