// Which index serves a mapping, by its description alone.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/table/indexes.hpp"

namespace {

using tableq::capabilities;
using tableq::core::index_need;
using tableq::core::table_description;
using tableq::core::table_index;
using tableq::core::table_layout;

const capabilities usual{.partial_indexes = true};
const capabilities null_sorts{.partial_indexes = true, .null_breaks_order = true};
const capabilities whole_indexes{};

table_description jobs() {
  const auto column = [](const char* name, const char* form) {
    return tableq::core::table_column{.name = name,
                                      .declared = form,
                                      .form = form,
                                      .required = std::string_view(form) != "time",
                                      .room = std::string_view(form) == "integer" ? 8 : 0};
  };
  return {.schema = "app",
          .name = "Jobs",
          .columns = {column("Id", "integer"), column("Busy", "integer"), column("Sent", "time"),
                      column("Until", "time"), column("Rank", "integer"), column("Open", "boolean"),
                      column("State", "text")},
          .unique = {{"Id"}}};
}

tableq::table_mapping by_flag() {
  return {.key = {"Id"}, .waiting = tableq::flag("Busy")};
}

table_layout layout_of(const tableq::table_mapping& mapping) {
  return tableq::core::resolve(jobs(), mapping);
}
index_need need_of(const tableq::table_mapping& mapping, index_need::purpose purpose) {
  for (const index_need& each : tableq::core::needs_of(layout_of(mapping))) {
    if (each.of == purpose) return each;
  }
  throw std::runtime_error("there is no such need");
}

/// The columns of an index: `Rank-` is descending.
table_index index(const std::vector<std::string>& columns, const std::string& condition = {}) {
  table_index out{.name = "i", .condition = condition};
  for (const std::string& each : columns) {
    const bool down = each.ends_with('-');
    out.parts.push_back({down ? each.substr(0, each.size() - 1) : each, down});
  }
  return out;
}

/// As a database writes it.
std::string text_of(const tableq::core::table_condition& row) {
  using is = tableq::core::table_condition::kind;
  const std::string name = "`" + jobs().columns[row.column].name + "`";
  if (row.is == is::null) return name + " IS NULL";
  if (row.is == is::not_null) return name + " IS NOT NULL";
  return name + " = " + std::to_string(row.than.number);
}

class needed_indexes : public testing::Test {
 protected:
  bool takes(const table_index& with) const {
    return serves(with, need_of(mapping, index_need::purpose::take), text_of, jobs().columns,
                  features);
  }
  bool leases(const table_index& with) const {
    return serves(with, need_of(mapping, index_need::purpose::lease), text_of, jobs().columns,
                  features);
  }
  /// The index that would be made, as `index` takes it.
  std::vector<std::string> wanted(index_need::purpose purpose) const {
    const auto found = wanted_for(need_of(mapping, purpose), features);
    std::vector<std::string> out;
    for (const auto& each : found.columns) {
      out.push_back(jobs().columns[each.column].name + (each.descending ? "-" : ""));
    }
    if (!found.rows.empty()) out.push_back("of " + std::to_string(found.rows.size()));
    return out;
  }
  using names = std::vector<std::string>;

  tableq::table_mapping mapping = by_flag();
  capabilities features = usual;
};

TEST_F(needed_indexes, begin_with_the_state_and_go_on_in_the_order) {
  EXPECT_TRUE(takes(index({"Busy", "Id"})));
  EXPECT_TRUE(takes(index({"Busy", "Id-"})));
  EXPECT_TRUE(takes(index({"Busy", "Id", "Rank"})));
  EXPECT_FALSE(takes(index({"Busy"})));
  EXPECT_FALSE(takes(index({"Id"})));
  EXPECT_FALSE(takes(index({"Id", "Busy"})));
  EXPECT_FALSE(takes(index({"Busy", "Rank", "Id"})));
  EXPECT_FALSE(takes(index({"Busy", "", "Id"})));
}

TEST_F(needed_indexes, are_read_forwards_or_backwards) {
  mapping.priority = "Rank";
  EXPECT_TRUE(takes(index({"Busy", "Rank-", "Id"})));
  EXPECT_TRUE(takes(index({"Busy", "Rank", "Id-"})));
  EXPECT_FALSE(takes(index({"Busy", "Rank", "Id"})));
  EXPECT_FALSE(takes(index({"Busy", "Rank-", "Id-"})));
}

TEST_F(needed_indexes, leave_out_columns_that_order_nothing) {
  mapping.order = {{.column = "Rank"}, {.column = "Busy"}, {.column = "Rank"}, {.column = "Id"}};
  EXPECT_TRUE(takes(index({"Busy", "Rank", "Id"})));
  EXPECT_EQ(wanted(index_need::purpose::take), (names{"Busy", "Rank", "Id", "of 1"}));
}

TEST_F(needed_indexes, pass_over_completed_rows_too) {
  mapping.done = tableq::null_time("Sent");
  EXPECT_TRUE(takes(index({"Busy", "Sent", "Id"})));
  EXPECT_TRUE(takes(index({"Sent", "Busy", "Id"})));
  EXPECT_TRUE(takes(index({"Busy", "Id"}, "Sent IS NULL")));
  EXPECT_TRUE(takes(index({"Id"}, "Sent IS NULL AND Busy = 0")));
  EXPECT_FALSE(takes(index({"Busy", "Id"})));
  EXPECT_FALSE(takes(index({"Busy", "Id"}, "Sent IS NOT NULL")));
  features = null_sorts;
  EXPECT_FALSE(takes(index({"Busy", "Sent", "Id"})));
  EXPECT_TRUE(takes(index({"Busy", "Id"}, "Sent IS NULL")));
}

TEST_F(needed_indexes, may_have_only_rows_that_are_sure_to_contain_the_waiting_ones) {
  EXPECT_TRUE(takes(index({"Id"}, "\"Busy\" = 0")));
  EXPECT_TRUE(takes(index({"Busy", "Id"}, "Busy IS NOT NULL")));
  EXPECT_FALSE(takes(index({"Id"}, "Busy IS NOT NULL")));
  EXPECT_FALSE(takes(index({"Id"}, "Busy = 1")));
  EXPECT_FALSE(takes(index({"Id"}, "Busy = 0 AND Rank = 1")));
  EXPECT_FALSE(takes(index({"Busy", "Id"}, "Rank > 1")));
}

TEST_F(needed_indexes, of_leases_begin_with_the_state_if_that_is_one_value) {
  mapping.lease_until = "Until";
  EXPECT_TRUE(leases(index({"Busy", "Until"})));
  EXPECT_TRUE(leases(index({"Busy", "Until-"}, "Until IS NOT NULL")));
  EXPECT_TRUE(leases(index({"Busy", "Until"}, "Busy = 1")));
  EXPECT_FALSE(leases(index({"Until"})));
  EXPECT_FALSE(leases(index({"Until"}, "Busy = 1")));
  EXPECT_FALSE(leases(index({"Busy", "Until"}, "Busy = 0")));
  mapping.waiting = tableq::null_time("Sent");
  EXPECT_TRUE(leases(index({"Until"})));
  EXPECT_TRUE(leases(index({"Until", "Id"}, "Sent IS NOT NULL")));
}

TEST_F(needed_indexes, are_made_of_the_waiting_rows_where_such_indexes_hinder_nobody) {
  mapping.lease_until = "Until";
  mapping.done = tableq::null_time("Sent");
  EXPECT_EQ(wanted(index_need::purpose::take), (names{"Busy", "Sent", "Id", "of 2"}));
  EXPECT_EQ(wanted(index_need::purpose::lease), (names{"Busy", "Until", "of 1"}));
  features = null_sorts;
  EXPECT_EQ(wanted(index_need::purpose::take), (names{"Busy", "Id", "of 2"}));
  features = whole_indexes;
  EXPECT_EQ(wanted(index_need::purpose::take), (names{"Busy", "Sent", "Id"}));
  EXPECT_EQ(wanted(index_need::purpose::lease), (names{"Busy", "Until"}));
}

TEST(conditions_of_indexes, are_equal_however_databases_print_them) {
  using terms = std::set<std::string>;
  const auto read = tableq::core::condition_terms;
  for (const char* text :
       {"(\"Busy\" = 0)", "([Busy]=(0))", "`Busy`==0", "Busy = 0", "busy = 0", "((Busy) = (0))",
        "(\"Busy\" = '0'::smallint)", "(\"Busy\" = (0)::bigint)", "(((Busy = 0)))"}) {
    EXPECT_EQ(read(text), terms{"busy=0"}) << text;
  }
  EXPECT_EQ(read("((\"Busy\" = '-1'::integer) AND (\"Sent\" IS NULL))"),
            read("[Sent]  IS NULL and\n`Busy` = -1"));
  EXPECT_EQ(read("([Busy]=(-1)AND [Sent] IS NOT NULL)"), (terms{"busy=-1", "sent is not null"}));
  EXPECT_EQ(read("(\"a \"\" ( b\" = 0)"), read("`a \" ( b` = 0"));
  EXPECT_EQ(read("(NOT \"Open\")"), read("\"Open\" = FALSE"));
  EXPECT_EQ(read("\"Open\""), read("(\"Open\" = true)"));
  EXPECT_NE(read("\"Open\""), read("NOT \"Open\""));
}

TEST_F(needed_indexes, do_not_serve_with_a_condition_of_their_own) {
  mapping.done = tableq::null_time("Sent");
  EXPECT_TRUE(takes(index({"Id"}, "Busy = 0 AND Sent IS NULL")));
  for (const char* text :
       {"Busy = 0 OR Sent IS NULL", "Busy <> 1 AND Sent IS NULL", "NOT (Busy = 0 AND Sent IS NULL)",
        "Busy = 0 AND NOT Sent IS NULL", "Busy AND Sent IS NULL", "Busy = 0.5 AND Sent IS NULL",
        "Busy = '0' AND Sent IS NULL", "Busy = 0x0 AND Sent IS NULL", "Busy+1 = 0 AND Sent IS NULL",
        "abs(Busy) = 0 AND Sent IS NULL", "Nothing = 0 AND Sent IS NULL", "Busy = 0 AND",
        "(Busy = 0 AND Sent) IS NULL", "Busy = 0 = 1 AND Sent IS NULL",
        "Busy = 0::text AND Sent IS NULL", "\"Busy = 0 AND Sent IS NULL",
        "Busy = 0 AND Sent IS NULL -- no", "Busy = 0 AND Sent IS NULL IS NULL",
        "Busy = 99999999999999999999 AND Sent IS NULL"}) {
    EXPECT_FALSE(takes(index({"Busy", "Sent", "Id"}, text))) << text;
  }
}

}  // namespace
