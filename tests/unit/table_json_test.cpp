// A mapping as JSON, for files and the catalogue.
#include <gtest/gtest.h>

#include <string>

#include <tableq/tableq.hpp>

#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// Every member has another value than its default.
tableq::table_definition whole_definition() {
  return {
      .table = "EmailRequests",
      .mapping = {.key = {"Tenant", "Id"},
                  .waiting = tableq::states(
                      "State", {.waiting = "new", .taken = "busy", .done = "ok", .dead = "bad"}),
                  .order = {{.column = "CreatedAt"}, {.column = "Id", .descending = true}},
                  .ordering = tableq::ordering::strict,
                  .columns = {"Id", "Address"},
                  .schema = "app",
                  .taken_at = "TakenAt",
                  .lease_until = "LeaseUntil",
                  .fence = "Fence",
                  .attempts = "RetryCount",
                  .last_error = "LastError",
                  .errors = "Errors",
                  .due_at = "DueAt",
                  .priority = "Importance",
                  .done = tableq::null_time("SentAt"),
                  .completed = tableq::on_complete::mark,
                  .max_attempts = 4,
                  .lease = std::chrono::minutes(2)}};
}

void expect_refused(const std::string& json, const std::string& word) {
  const tableq::error why =
      thrown_by([&] { static_cast<void>(tableq::parse_table_definition(json)); });
  EXPECT_EQ(why.code(), tableq::errc::invalid_argument) << json;
  EXPECT_TRUE(contains(why.what(), word)) << json << ": " << why.what();
}

TEST(mapping_json, gives_back_every_member) {
  const std::string text = tableq::to_json(whole_definition());
  const tableq::table_definition read = tableq::parse_table_definition(text);
  EXPECT_EQ(tableq::to_json(read), text);
  EXPECT_EQ(read.table, "EmailRequests");
  EXPECT_EQ(read.mapping.key, (std::vector<std::string>{"Tenant", "Id"}));
  EXPECT_EQ(read.mapping.waiting.is, tableq::table_state::form::states);
  EXPECT_EQ(read.mapping.waiting.dead, tableq::state_value("bad"));
  EXPECT_TRUE(read.mapping.order.at(1).descending);
  EXPECT_EQ(read.mapping.schema, "app");
  EXPECT_EQ(read.mapping.lease_until, "LeaseUntil");
  ASSERT_TRUE(read.mapping.done);
  EXPECT_EQ(read.mapping.done->column, "SentAt");
  EXPECT_EQ(read.mapping.completed, tableq::on_complete::mark);
  EXPECT_EQ(read.mapping.max_attempts, 4);
  EXPECT_EQ(read.mapping.errors, "Errors");
  EXPECT_EQ(read.mapping.ordering, tableq::ordering::strict);
  EXPECT_EQ(read.mapping.lease, std::chrono::minutes(2));
}

TEST(mapping_json, leaves_out_defaults) {
  EXPECT_EQ(tableq::to_json({.table = "HeapQueue"}), R"({"table":"HeapQueue"})");
  EXPECT_EQ(tableq::to_json({.table = "q", .mapping = {.waiting = tableq::flag("Busy")}}),
            R"({"table":"q","waiting":{"flag":"Busy"}})");
}

TEST(mapping_json, keeps_the_end_states_of_a_flag) {
  tableq::table_state state = tableq::flag("Busy");
  state.done = std::int64_t{2};
  state.dead = std::int64_t{3};
  const std::string text = tableq::to_json({.table = "q", .mapping = {.waiting = state}});
  EXPECT_EQ(tableq::to_json(tableq::parse_table_definition(text)), text);
}

TEST(mapping_json, reads_a_single_name_as_a_list) {
  const auto read = tableq::parse_table_definition(
      R"({"table": "q", "key": "Id", "order": "CreatedAt", "waiting": {"flag": "f", "taken": 2}})");
  EXPECT_EQ(read.mapping.key, std::vector<std::string>{"Id"});
  EXPECT_EQ(read.mapping.order.at(0).column, "CreatedAt");
  EXPECT_EQ(read.mapping.waiting.taken, tableq::state_value(2));
  EXPECT_EQ(read.mapping.waiting.waiting, tableq::state_value(0));
}

TEST(mapping_json, names_the_member_that_is_wrong) {
  expect_refused("", "JSON object");
  expect_refused("[]", "JSON object");
  expect_refused(R"({"key": "Id"})", "table");
  expect_refused(R"({"table": "q", "colums": []})", "colums");
  expect_refused(R"({"table": "q", "lease_ms": "30s"})", "lease_ms");
  expect_refused(R"({"table": "q", "lease_ms": 18446744073709551615})", "lease_ms");
  expect_refused(R"({"table": "q", "max_attempts": 1e3})", "max_attempts");
  expect_refused(R"({"table": "q", "max_attempts": 3000000000})", "max_attempts");
  expect_refused(R"({"table": "q", "fence": null})", "fence");
  expect_refused(R"({"table": "q", "completed": "keep"})", "completed");
  expect_refused(R"({"table": "q", "ordering": "exact"})", "ordering");
  expect_refused(R"({"table": "q", "waiting": "IsProcessed"})", "waiting");
  expect_refused(R"({"table": "q", "waiting": {}})", "waiting");
  expect_refused(R"({"table": "q", "waiting": {"flag": "f", "null_time": "t"}})", "waiting");
  expect_refused(R"({"table": "q", "waiting": {"null_time": "t", "taken": 1}})", "waiting.taken");
  expect_refused(R"({"table": "q", "waiting": {"null_time": "t", "done": 2}})", "waiting.done");
  expect_refused(R"({"table": "q", "lease_ms": 1e999})", "range");
  expect_refused(R"({"table": "q",})", "byte 15");
  expect_refused(R"({"table": "q", "waiting": {"states": "s", "waiting": "a"}})", "taken");
  expect_refused(R"({"table": "q", "waiting": {"flag": "f", "taken": 1.5}})", "waiting.taken");
  expect_refused(R"({"table": "q", "order": [{"descending": true}]})", "order");
  expect_refused(R"({"table": "q", "order": [{"column": "a", "desc": true}]})", "order.desc");
}

TEST(mapping_json, refuses_a_member_that_stands_twice) {
  expect_refused(R"({"table": "q", "fence": "a", "fence": "b"})", "fence twice");
  expect_refused(R"({"table": "q", "waiting": {"flag": "a", "flag": "b"}})", "flag twice");
}

TEST(mapping_json, refuses_names_that_are_not_utf8) {
  EXPECT_CODE(invalid_argument, static_cast<void>(tableq::to_json({.table = "\xFF"})));
  expect_refused("{\"table\": \"\xFF\"}", "UTF-8");
}

}  // namespace
