// A mapping is checked when it is opened.
#include <gtest/gtest.h>

#include <cctype>

#include "conformance/table_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class table_mappings : public on_own_table {
 protected:
  static std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }
  /// The mapping is refused with an error that has these words.
  void refused(const tableq::table_mapping& mapping, const std::vector<std::string>& words,
               const std::string& table = "EmailRequests") {
    const tableq::error why = thrown_by([&] { static_cast<void>(db().table(table, mapping)); });
    EXPECT_EQ(why.code(), tableq::errc::invalid_argument) << why.what();
    // Some databases fold names.
    for (const std::string& each : words) {
      EXPECT_NE(lower(why.what()).find(lower(each)), std::string::npos) << why.what();
    }
  }
};
TABLEQ_ON_BACKENDS(table_mappings, shared_backends);

TEST_P(table_mappings, name_a_column_that_is_not_there) {
  auto mapping = whole();
  mapping.lease_until = "LockedUntil";
  refused(mapping, {"LockedUntil", "lease_until", "IsProcessed"});
  mapping = whole();
  mapping.columns = {"Nothing"};
  refused(mapping, {"Nothing"});
}

TEST_P(table_mappings, name_a_column_of_another_type) {
  auto mapping = whole();
  mapping.attempts = "Address";
  refused(mapping, {"Address", "attempts", "an integer"});
  mapping = whole();
  mapping.last_error = "Fence";
  refused(mapping, {"Fence", "last_error", "text"});
}

TEST_P(table_mappings, keep_one_failure_or_all_in_a_column) {
  auto mapping = whole();
  mapping.errors = "LastError";
  refused(mapping, {"LastError", "last_error", "errors"});
  mapping = whole();
  mapping.errors = "Fence";
  refused(mapping, {"Fence", "errors", "text"});
}

TEST_P(table_mappings, need_64_bits_for_a_time_in_milliseconds) {
  here().sql("CREATE TABLE small (id INTEGER NOT NULL PRIMARY KEY, busy SMALLINT, until SMALLINT)");
  const tableq::table_mapping mapping{
      .key = {"id"}, .waiting = tableq::flag("busy"), .lease_until = "until"};
  try {
    static_cast<void>(db().table("small", mapping));
    // A database whose integers all have 64 bits.
    here().sql("INSERT INTO small (id, busy, until) VALUES (1, 0, 9223372036854775807)");
  } catch (const tableq::error& refused) {
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
    EXPECT_NE(std::string(refused.what()).find("64 bits"), std::string::npos) << refused.what();
  }
}

TEST_P(table_mappings, give_no_column_two_roles) {
  auto mapping = whole();
  mapping.done = tableq::flag("IsProcessed");
  refused(mapping, {"IsProcessed", "waiting", "done"});
  mapping = whole();
  mapping.fence = "DueAt";
  refused(mapping, {"DueAt", "due_at", "fence"});
  mapping = whole();
  mapping.taken_at = "LeaseUntil";
  refused(mapping, {"LeaseUntil", "taken_at", "lease_until"});
  mapping = whole();
  mapping.attempts = "Id";
  refused(mapping, {"Id", "attempts", "key"});
  mapping = whole();
  mapping.priority = "RetryCount";
  refused(mapping, {"RetryCount", "attempts", "priority"});
}

TEST_P(table_mappings, need_a_way_to_tell_what_waits) {
  auto mapping = whole();
  mapping.waiting = tableq::every_row();
  refused(mapping, {"what waits"});
  mapping = {.key = {"Id"}, .errors = "LastError"};
  refused(mapping, {"what waits", "errors"});
}

TEST_P(table_mappings, need_a_key_with_a_unique_index) {
  auto mapping = least();
  mapping.key = {"Address"};
  refused(mapping, {"unique"});
  mapping.key = {};
  refused(mapping, {"key"});
}

TEST_P(table_mappings, need_different_values_for_waiting_and_taken) {
  auto mapping = least();
  mapping.waiting = tableq::flag("IsProcessed", 1, 1);
  refused(mapping, {"IsProcessed", "same value"});
}

TEST_P(table_mappings, need_a_mark_to_mark) {
  auto mapping = least();
  mapping.completed = tableq::on_complete::mark;
  refused(mapping, {"done"});
}

TEST_P(table_mappings, are_refused_on_a_view) {
  here().sql("CREATE VIEW Waiting AS SELECT Id, IsProcessed FROM EmailRequests");
  refused(least(), {"view"}, "Waiting");
}

TEST_P(table_mappings, are_refused_without_a_table) {
  EXPECT_CODE(not_found, static_cast<void>(db().table("Nothing", least())));
  EXPECT_CODE(not_found,
              static_cast<void>(db().table("x\"; DROP TABLE EmailRequests; --", least())));
  EXPECT_CODE(invalid_argument, static_cast<void>(db().table("", least())));
  EXPECT_EQ(count(), "0");
}

TEST_P(table_mappings, take_names_that_need_quotes) {
  here().sql(
      "CREATE TABLE \"order\" (\"the \"\" key\" INTEGER NOT NULL PRIMARY KEY, "
      "\"select\" INTEGER DEFAULT 0 NOT NULL, \"a:b -- c\" VARCHAR(20), item INTEGER, fence "
      "INTEGER)");
  auto queue = db().table("order", {.key = {"the \" key"}, .waiting = tableq::flag("select")});
  queue.enqueue({{"the \" key", 1}, {"a:b -- c", "x"}, {"item", 4}, {"fence", 5}});
  queue.enqueue({{"the \" key", 2}, {"a:b -- c", "y"}, {"item", 6}, {"fence", 7}});
  auto taken = queue.take(2);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].row.get<std::string>("a:b -- c"), "x");
  EXPECT_EQ(taken[1].row.get<int>("fence"), 7);
  EXPECT_EQ(queue.complete_batch(taken).size(), 2U);
  EXPECT_EQ(here().sql("SELECT COUNT(*) FROM \"order\"").at(0).at(0), "0");
}

TEST_P(table_mappings, refuse_names_with_braces) {
  here().sql("CREATE TABLE odd (id INTEGER NOT NULL PRIMARY KEY, \"{items: x}\" INTEGER)");
  refused({.key = {"id"}}, {"braces"}, "odd");
}

TEST_P(table_mappings, need_no_catalogue) {
  requests(1);
  auto queue = emails();
  EXPECT_EQ(queue.take(1).size(), 1U);
  EXPECT_TRUE(db_with_clock().queues().empty());
}

TEST_P(table_mappings, refuse_values_of_other_types) {
  auto queue = emails();
  EXPECT_CODE(invalid_argument, queue.enqueue({{"Id", "one"}, {"Address", "a"}}));
  EXPECT_CODE(invalid_argument, queue.enqueue({{"Id", 1}, {"Nothing", "a"}}));
  EXPECT_CODE(invalid_argument, queue.enqueue(tableq::row()));
  EXPECT_CODE(constraint_violated, queue.enqueue({{"Id", 1}, {"Address", std::nullopt}}));
  EXPECT_EQ(count(), "0");
}

TEST_P(table_mappings, show_rows_without_taking_them) {
  requests(3);
  auto queue = emails();
  const auto seen = queue.peek(2);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].get<int>("Id"), 2);
  EXPECT_EQ(queue.stats().ready, 3U);
}

TEST_P(table_mappings, add_rows_all_or_none) {
  auto queue = emails();
  const std::vector<tableq::row> rows{{{"Id", 1}, {"Address", "a"}}, {{"Id", 1}, {"Address", "b"}}};
  EXPECT_CODE(constraint_violated, queue.enqueue_batch(rows));
  EXPECT_EQ(count(), "0");
  EXPECT_EQ(queue
                .enqueue_batch(std::vector<tableq::row>{{{"Id", 1}, {"Address", "a"}},
                                                        {{"Id", 2}, {"Address", "b"}}})
                .size(),
            2U);
}

}  // namespace
