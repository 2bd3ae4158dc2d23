#include "core/table/open_table.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/base/process.hpp"
#include "core/input/identifier.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"
#include "core/table/layout.hpp"
#include "core/table/mapped_table.hpp"

namespace tableq::inline v0::core {
namespace {

template <class Statement, class Request>
auto ask(database_state& database, const Statement& what, const Request& request) {
  return database.on_session([&](connection& session) {
    return run(session, names_for(database.options(), {}), what, request);
  });
}

found_table_row find(database_state& database, std::string_view schema, std::string_view table) {
  const auto found =
      ask(database, statements::table_find, table_request{.schema = schema, .table = table});
  const auto exact = std::find_if(found.begin(), found.end(),
                                  [&](const auto& each) { return each.name == table; });
  if (exact != found.end()) return *exact;
  if (found.size() == 1) return found.front();
  if (!found.empty()) {
    refuse("several tables have the name " + std::string(table) +
           " in different cases; write it as the one that is meant");
  }
  throw error(errc::not_found, advice::never,
              "there is no table " + std::string(table) +
                  (schema.empty() ? std::string() : " in the schema " + std::string(schema)) +
                  "; tableq does not make tables of the application",
              {.backend = database.name()});
}

/// Relations on which the statements of a mapping cannot keep their promises.
void refuse_trouble(const found_table_row& found) {
  if (found.trouble == "system") {
    refuse(found.name +
           " belongs to the database itself; a queue needs a table of the application");
  }
  if (found.trouble == "virtual") {
    refuse(found.name +
           " is a virtual table, or holds the rows of one; a queue needs a plain table");
  }
  if (found.trouble == "inherited") {
    refuse("tables inherit from " + found.name +
           ", and its unique indexes do not cover their rows; use a partitioned table, or one that "
           "nothing inherits from");
  }
  if (found.trouble == "ruled") {
    refuse("the table " + found.name +
           " has rules for UPDATE or DELETE, which change what a take does; drop them");
  }
}

/// Of a mapping without leases: no worker extends them.
constexpr std::chrono::hours endless{24 * 365};

/// The handles of one table and key share their waiting readers.
table_names names_of(const database_state& database, const mapped_table& table) {
  const table_layout& layout = table.layout();
  // No queue of tableq has such a name.
  table_names names = names_for(database.options(), "table " + layout.schema + "." + layout.table,
                                table.identity());
  names.schema = layout.schema;
  names.table = layout.table;
  return names;
}

}  // namespace

table_description describe(database_state& database, std::string_view schema,
                           std::string_view table) {
  if (table.empty()) refuse("the table has no name");
  const found_table_row found = find(database, schema, table);
  if (!found.is_table) {
    refuse(found.name +
           " is a view or another relation; a queue needs a table, whose rows can be "
           "locked");
  }
  if (found.has_triggers && database.capabilities().triggers_hide_rows) {
    throw error(errc::unsupported, advice::never,
                "the table " + found.name +
                    " has triggers, and this database then returns no changed rows; disable them, "
                    "or use a queue of tableq",
                {.backend = database.name()});
  }
  refuse_trouble(found);
  table_description out{
      .schema = found.schema, .name = found.name, .keyless = found.trouble == "keyless"};
  const table_request mine{.schema = found.schema, .table = found.name};
  for (auto& row : ask(database, statements::table_columns, mine)) {
    out.columns.push_back(std::move(row));
  }
  std::string index;
  for (auto& row : ask(database, statements::table_keys, mine)) {
    if (out.unique.empty() || row.index_name != index) {
      out.unique.emplace_back();
      index = row.index_name;
    }
    for (table_column& each : out.columns) each.unique = each.unique || each.name == row.name;
    out.unique.back().push_back(std::move(row.name));
  }
  return out;
}

std::vector<table_index> indexes_of(database_state& database, const table_description& table) {
  std::vector<table_index> out;
  for (auto& row : ask(database, statements::table_indexes,
                       table_request{.schema = table.schema, .table = table.name})) {
    if (out.empty() || out.back().name != row.index_name) {
      out.push_back({.name = row.index_name, .condition = std::move(row.condition)});
    }
    out.back().parts.push_back({std::move(row.name), row.descending});
  }
  return out;
}

std::shared_ptr<queue_state> open_table(const std::shared_ptr<database_state>& database,
                                        std::string_view name, const table_mapping& mapping,
                                        std::string_view queue_name) {
  const table_description found = describe(*database, mapping.schema, name);
  table_layout layout = resolve(found, mapping);
  check_columns(layout);
  auto table = std::make_shared<const mapped_table>(database->name(), std::move(layout), mapping);
  queue_info info{.name = queue_name.empty() ? found.name : std::string(queue_name),
                  .kind = kind::table};
  info.identity = table->identity();
  info.ordering = mapping.ordering;
  info.lease = table->layout().lease_until ? table->layout().lease : endless;
  info.max_attempts = table->layout().max_attempts.value_or(1'000'000);
  const table_names names = names_of(*database, *table);
  auto* const state = new queue_state(database, std::move(info), names, std::move(table));
  return {state, end_at_home()};
}

}  // namespace tableq::inline v0::core
