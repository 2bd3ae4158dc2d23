// Prints the statements for SQL Server on tables of an application, as lines of JSON: the name, the
// text, and the table. For tsql_parser.py.
#include <cstddef>
#include <iostream>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/table/statements.hpp"

namespace {

using tableq::core::table_column;
using tableq::core::table_description;

/// With a column of each family.
table_description orders() {
  return {
      .schema = "app",
      .name = "Orders",
      .columns =
          {{.name = "Id", .declared = "bigint", .form = "integer", .required = true, .room = 8},
           {.name = "Part",
            .declared = "nvarchar(40)",
            .form = "text",
            .required = true,
            .room = 40},
           {.name = "Busy", .declared = "bit", .form = "boolean"},
           {.name = "State", .declared = "nvarchar(20)", .form = "text", .room = 20},
           {.name = "Taken", .declared = "datetime2(3)", .form = "time.local"},
           {.name = "Until", .declared = "datetimeoffset(3)", .form = "time"},
           {.name = "Due", .declared = "datetime", .form = "time.local"},
           {.name = "Finished", .declared = "datetime2(7)", .form = "time.local"},
           {.name = "Fence", .declared = "bigint", .form = "integer", .room = 8},
           {.name = "Attempts", .declared = "int", .form = "integer", .room = 4},
           {.name = "Rank", .declared = "smallint", .form = "integer", .room = 2},
           {.name = "Last Error", .declared = "nvarchar(400)", .form = "text", .room = 400},
           {.name = "Errors", .declared = "varchar(2000)", .form = "text.code_page", .room = 2000},
           {.name = "Price", .declared = "money", .form = "number.money"},
           {.name = "Ratio", .declared = "float", .form = "number.float"},
           {.name = "Weight", .declared = "decimal(10,2)", .form = "number"},
           {.name = "Photo", .declared = "varbinary(max)", .form = "bytes"}},
      .unique = {{"Id", "Part"}}};
}

std::vector<tableq::table_mapping> mappings() {
  tableq::table_mapping all{
      .key = {"Id", "Part"},
      .waiting = tableq::states(
          "State", {.waiting = "new", .taken = "busy", .done = "done", .dead = "dead"}),
      .order = {{.column = "Due"}, {.column = "Id", .descending = true}},
      .taken_at = "Taken",
      .lease_until = "Until",
      .fence = "Fence",
      .attempts = "Attempts",
      .last_error = "Last Error",
      .errors = "Errors",
      .due_at = "Due",
      .priority = "Rank",
      .max_attempts = 5};
  tableq::table_mapping strict = all;
  strict.ordering = tableq::ordering::strict;
  tableq::table_mapping by_time{
      .key = {"Id", "Part"}, .waiting = tableq::null_time("Until"), .lease_until = "Until"};
  tableq::table_mapping finished = by_time;
  finished.done = tableq::null_time("Finished");
  return {all,
          strict,
          by_time,
          finished,
          {.order = {{.column = "Id"}}},
          {.key = {"Id", "Part"}, .waiting = tableq::flag("Busy")},
          {.key = {"Id", "Part"},
           .waiting = tableq::null_time("Taken"),
           .completed = tableq::on_complete::leave}};
}

std::string ddl(const table_description& table) {
  std::string out = "CREATE TABLE [" + table.schema + "].[" + table.name + "] (";
  for (const table_column& each : table.columns) {
    out += "[" + each.name + "] " + each.declared + (each.required ? " NOT NULL, " : " NULL, ");
  }
  return out + "PRIMARY KEY ([Id], [Part]))";
}

void print(std::string_view statement, const std::string& text) {
  static int number = 0;
  if (text.empty()) return;
  const std::string name = std::to_string(++number) + " " + std::string(statement);
  std::cout << nlohmann::json{{"name", name}, {"text", text}, {"table", ddl(orders())}} << '\n';
}

}  // namespace

int main() {
  for (const tableq::table_mapping& mapping : mappings()) {
    const tableq::core::mapped_statements all("sqlserver",
                                              tableq::core::resolve(orders(), mapping));
    std::vector<std::size_t> columns(orders().columns.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    const auto added = all.insert(columns);
    for (const auto* each :
         {&all.take, &all.complete, &all.fail, &all.release, &all.extend, &all.keep, &all.lost,
          &all.expire, &all.requeue, &all.peek, &all.next_lease, &all.next_due, &all.ready,
          &all.delayed, &all.leased, &all.expired, &all.done, &all.dead, &added}) {
      if (*each == nullptr) continue;
      const tableq::core::contract& what = (*each)->what();
      print(what.name, what.texts->own_clock.many);
      print(what.name, what.texts->own_clock.one);
      print(what.name, what.texts->given_clock.many);
    }
  }
  return 0;
}
