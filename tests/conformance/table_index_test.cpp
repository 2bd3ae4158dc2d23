// The indexes that a mapping needs: ddl prints those that are missing, inspect tells of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/table_fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using tableq::finding;

class table_indexes : public on_own_table {
 protected:
  tableq::table_queue open(const tableq::table_mapping& mapping,
                           const std::string& table = "EmailRequests") {
    return db().table(table, mapping);
  }

  static std::vector<std::string> statements_of(const std::string& sql) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < sql.size();) {
      const std::size_t end = sql.find(";\n", at);
      EXPECT_NE(end, std::string::npos) << "a statement without an end: " << sql;
      if (end == std::string::npos) break;
      out.push_back(sql.substr(at, end - at));
      at = end + 2;
    }
    return out;
  }
  static std::size_t warnings_in(const std::vector<finding>& found) {
    std::size_t out = 0;
    for (const finding& each : found) out += each.severity == finding::level::ok ? 0U : 1U;
    return out;
  }
  /// Of indexes and columns: the tests' mappings have no due_at.
  static std::vector<finding> but_for_rest(std::vector<finding> found) {
    std::erase_if(found, [](const finding& each) { return contains(each.what, "no due_at"); });
    return found;
  }
  static std::string told(const std::vector<finding>& found) {
    std::string out;
    for (const finding& each : found)
      out += each.subject + ": " + each.what + "\n" + each.fix + "\n";
    return out;
  }

  /// The mapping needs so many indexes. The printed SQL makes them, and nothing is missing then.
  void mended(const tableq::table_mapping& mapping, std::size_t needed,
              const std::string& table = "EmailRequests") {
    const auto queue = open(mapping, table);
    const std::string sql = queue.ddl();
    const auto statements = statements_of(sql);
    EXPECT_EQ(statements.size(), needed) << sql;
    EXPECT_EQ(sql.find('`'), std::string::npos) << "names are quoted in two ways: " << sql;
    const auto before = but_for_rest(queue.inspect());
    EXPECT_EQ(warnings_in(before), needed) << told(before);
    for (const std::string& each : statements) {
      EXPECT_NE(told(before).find(each), std::string::npos) << told(before);
      here().sql(each);
    }
    EXPECT_EQ(queue.ddl(), "");
    const auto after = queue.inspect();
    EXPECT_EQ(warnings_in(but_for_rest(after)), 0U) << told(after);
    if (warnings_in(after) == 0) {
      ASSERT_EQ(after.size(), 1U) << told(after);
      EXPECT_EQ(after[0].what, queue.guarantee().words);
    }
  }
  static tableq::table_mapping leased(tableq::table_state waiting) {
    return {.key = {"Id"}, .waiting = std::move(waiting), .lease_until = "LeaseUntil"};
  }
};
TABLEQ_ON_BACKENDS(table_indexes, shared_backends);

TEST_P(table_indexes, are_printed_for_a_flag_and_a_lease) {
  mended(leased(tableq::flag("IsProcessed")), 2);
}

TEST_P(table_indexes, are_printed_for_all_roles) {
  auto mapping = whole();
  mapping.done = tableq::null_time("SentAt");
  mapping.completed = tableq::on_complete::mark;
  mended(mapping, 2);
}

TEST_P(table_indexes, are_printed_for_a_boolean_flag) {
  const auto types = here().types();
  here().sql("CREATE TABLE Jobs (Id INTEGER NOT NULL PRIMARY KEY, Busy " + types.flag +
             " DEFAULT '0' NOT NULL, Sent " + types.flag +
             " DEFAULT '0' NOT NULL, LeaseUntil BIGINT)");
  auto mapping = leased(tableq::flag("Busy"));
  mapping.done = tableq::flag("Sent");
  mended(mapping, 2, "Jobs");
  mapping.waiting = tableq::flag("Busy", 1, 0);
  mapping.lease_until = {};
  // Without a condition the same index serves the opposite flag.
  mended(mapping, can().partial_indexes ? 1 : 0, "Jobs");
}

TEST_P(table_indexes, are_printed_for_a_time_that_tells_what_waits) {
  mended(leased(tableq::null_time("TakenAt")), 2);
}

TEST_P(table_indexes, are_printed_for_a_lease_that_tells_what_waits) {
  auto mapping = leased(tableq::null_time("LeaseUntil"));
  mapping.done = tableq::null_time("SentAt");
  mapping.completed = tableq::on_complete::mark;
  mended(mapping, 2);
}

TEST_P(table_indexes, are_printed_for_states) {
  here().sql(
      "CREATE TABLE Jobs (Id INTEGER PRIMARY KEY, State VARCHAR(20) NOT NULL, "
      "SentAt BIGINT, LeaseUntil BIGINT)");
  auto mapping = leased(tableq::states("State", {.waiting = "new", .taken = "busy"}));
  mended(mapping, 2, "Jobs");
  mapping.done = tableq::null_time("SentAt");
  mapping.completed = tableq::on_complete::mark;
  mended(mapping, 1, "Jobs");
}

TEST_P(table_indexes, are_printed_for_any_order) {
  auto mapping = least();
  mapping.priority = "Importance";
  mapping.order = {{.column = "Address"}, {.column = "Id", .descending = true}};
  mended(mapping, 1);
  mapping.order = {{.column = "Address"}};
  mended(mapping, 0);
}

TEST_P(table_indexes, are_printed_with_names_that_need_quotes) {
  here().sql(
      "CREATE TABLE \"Order; \"\"s\" (\"the \"\" key\" INTEGER NOT NULL PRIMARY KEY, "
      "\"select ' where \" INTEGER DEFAULT 0 NOT NULL, \"IN AND (\" BIGINT)");
  mended({.key = {"the \" key"},
          .waiting = tableq::flag("select ' where "),
          .lease_until = "IN AND ("},
         2, "Order; \"s");
}

TEST_P(table_indexes, are_printed_for_a_table_with_a_long_name) {
  // The longest that all databases take.
  const std::string table = "a_table_with_a_name_of_63_bytes_which_leaves_no_room_for_endings";
  const std::string name = table.substr(0, 63);
  here().sql("CREATE TABLE " + name +
             " (Id INTEGER NOT NULL PRIMARY KEY, Busy INTEGER DEFAULT 0 NOT NULL, LeaseUntil "
             "BIGINT)");
  mended(leased(tableq::flag("Busy")), 2, name);
}

TEST_P(table_indexes, get_another_name_beside_those_of_another_mapping) {
  mended(least(), 1);
  auto mapping = least();
  mapping.order = {{.column = "Address"}};
  mended(mapping, 1);
}

TEST_P(table_indexes, are_not_needed_for_deleting_takes_along_a_key) {
  here().sql("CREATE TABLE Jobs (Id INTEGER NOT NULL PRIMARY KEY, What VARCHAR(20))");
  mended({.key = {"Id"}}, 0, "Jobs");
  mended({}, 0, "Jobs");
  mended({.key = {"Id"}, .order = {{.column = "What"}}}, 1, "Jobs");
}

TEST_P(table_indexes, that_the_application_has_of_the_waiting_rows_serve_too) {
  if (!here().takes("CREATE INDEX Waiting\n\tON EmailRequests\n\t(Id)\n\t  WHERE IsProcessed = 0\n"
                    "\tAND SentAt IS NULL")) {
    GTEST_SKIP() << "this database has no such indexes";
  }
  auto mapping = least();
  mapping.done = tableq::null_time("SentAt");
  mended(mapping, 0);
  mapping.waiting = tableq::flag("IsProcessed", 1, 0);
  mended(mapping, 1);
}

TEST_P(table_indexes, of_an_expression_do_not_serve) {
  if (!here().takes("CREATE INDEX A ON EmailRequests (abs(IsProcessed), Id)")) {
    GTEST_SKIP() << "this database has no such indexes";
  }
  EXPECT_EQ(statements_of(open(least()).ddl()).size(), 1U);
}

TEST_P(table_indexes, in_another_order_than_that_of_a_column_do_not_serve) {
  auto mapping = least();
  mapping.order = {{.column = "Address"}};
  int made = 0;
  for (const char* order :
       {"Address COLLATE NOCASE", "Address COLLATE \"C\"", "Address varchar_pattern_ops",
        "Address NULLS FIRST", "Address COLLATE Latin1_General_BIN2"}) {
    made += here().takes("CREATE INDEX A" + std::to_string(made) +
                         " ON EmailRequests (IsProcessed, " + order + ")")
                ? 1
                : 0;
    EXPECT_EQ(statements_of(open(mapping).ddl()).size(), 1U) << order;
  }
}

TEST_P(table_indexes, that_were_never_finished_do_not_serve) {
  requests(2);
  // Equal values end it; some databases keep what they have made of it.
  EXPECT_FALSE(here().takes(
      "CREATE UNIQUE INDEX CONCURRENTLY A ON EmailRequests (IsProcessed, Importance)"));
  auto mapping = least();
  mapping.order = {{.column = "Importance"}};
  EXPECT_EQ(statements_of(open(mapping).ddl()).size(), 1U);
}

TEST_P(table_indexes, are_told_apart_from_columns_whose_null_hides_rows) {
  here().sql(
      "CREATE TABLE Jobs (Id VARCHAR(20) UNIQUE, Busy INTEGER DEFAULT 0, Sent INTEGER DEFAULT 0)");
  const auto queue =
      open({.key = {"Id"}, .waiting = tableq::flag("Busy"), .done = tableq::flag("Sent")}, "Jobs");
  for (const std::string& each : statements_of(queue.ddl())) here().sql(each);
  EXPECT_EQ(queue.ddl(), "");
  const auto found = but_for_rest(queue.inspect());
  ASSERT_EQ(found.size(), 3U) << told(found);
  EXPECT_EQ(warnings_in(found), 3U) << told(found);
}

TEST_P(table_indexes, are_not_all_that_an_inspection_tells) {
  auto mapping = whole();
  const auto rest = [&] {
    const auto found = open(mapping).inspect();
    const auto about = std::find_if(found.begin(), found.end(), [](const finding& each) {
      return contains(each.what, "no due_at");
    });
    return about == found.end() ? std::string() : about->what;
  };
  EXPECT_EQ(rest(), "");
  mapping.due_at = {};
  EXPECT_TRUE(contains(rest(), "use up their 3 attempts within moments and are dead")) << rest();
  mapping.max_attempts = {};
  EXPECT_TRUE(contains(rest(), "tried again and again without a pause")) << rest();
  // A take that deletes leaves nothing to try again.
  here().sql("CREATE TABLE Gone (Id INTEGER NOT NULL PRIMARY KEY)");
  for (const finding& each : open({.key = {"Id"}}, "Gone").inspect()) {
    EXPECT_FALSE(contains(each.what, "due_at")) << each.what;
  }
}

TEST_P(table_indexes, are_looked_for_anew_each_time) {
  here().sql(
      "CREATE TABLE jobs (Id INTEGER NOT NULL PRIMARY KEY, Busy INTEGER DEFAULT 0 NOT NULL)");
  const auto queue = open({.key = {"Id"}, .waiting = tableq::flag("Busy")}, "jobs");
  const auto sql = statements_of(queue.ddl());
  ASSERT_EQ(sql.size(), 1U);
  here().sql(sql[0]);
  EXPECT_EQ(queue.ddl(), "");
  here().drop_index("jobs", "jobs_tableq_take");
  EXPECT_EQ(statements_of(queue.ddl()), sql);
}

}  // namespace
