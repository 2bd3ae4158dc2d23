// Mappings in the catalogue.
#include <gtest/gtest.h>

#include "conformance/table_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class stored_tables : public on_own_table {
 protected:
  void store(const std::string& name = "emails", const tableq::table_mapping& mapping = whole()) {
    db_with_clock().store_table(name, {.table = "EmailRequests", .mapping = mapping});
  }
};
TABLEQ_ON_BACKENDS(stored_tables, shared_backends);

TEST_P(stored_tables, are_found_by_name) {
  store();
  request(7);
  auto queue = db_with_clock().stored_table("emails");
  EXPECT_EQ(queue.name(), "emails");
  EXPECT_EQ(queue.kind(), tableq::kind::table);
  EXPECT_EQ(queue.mapping().lease_until, "LeaseUntil");
  EXPECT_EQ(take_one(queue).row.get<int>("Id"), 7);
}

TEST_P(stored_tables, share_receipts_with_the_table_opened_by_its_mapping) {
  store();
  request(7);
  auto stored = db_with_clock().stored_table("emails");
  const auto taken = take_one(stored);
  EXPECT_EQ(emails().complete(taken), tableq::settle_result::applied);
}

TEST_P(stored_tables, are_listed_with_their_definition) {
  store();
  static_cast<void>(db_with_clock().fifo("mail"));
  const auto all = db_with_clock().queues();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "emails");
  EXPECT_EQ(all[0].kind, tableq::kind::table);
  ASSERT_TRUE(all[0].table);
  EXPECT_EQ(all[0].table->table, "EmailRequests");
  EXPECT_EQ(tableq::to_json(*all[0].table),
            tableq::to_json({.table = "EmailRequests", .mapping = whole()}));
  EXPECT_FALSE(all[1].table);
}

TEST_P(stored_tables, are_replaced_by_a_later_definition) {
  store();
  store("emails", least());
  EXPECT_EQ(db_with_clock().queues().size(), 1U);
  EXPECT_TRUE(db_with_clock().stored_table("emails").mapping().fence.empty());
}

TEST_P(stored_tables, are_dropped_without_the_table) {
  store();
  request(1);
  auto queue = db_with_clock().stored_table("emails");
  EXPECT_TRUE(db_with_clock().drop("emails"));
  EXPECT_FALSE(db_with_clock().drop("emails"));
  EXPECT_EQ(count(), "1");
  EXPECT_TRUE(queue.take_one());
  EXPECT_CODE(not_found, static_cast<void>(db_with_clock().stored_table("emails")));
}

TEST_P(stored_tables, keep_a_table_of_their_own_name_when_dropped) {
  here().sql("CREATE TABLE letters (id INTEGER NOT NULL PRIMARY KEY)");
  db_with_clock().store_table("letters", {.table = "letters"});
  EXPECT_TRUE(db_with_clock().drop("letters"));
  EXPECT_EQ(here().sql("SELECT COUNT(*) FROM letters").at(0).at(0), "0");
}

TEST_P(stored_tables, have_names_apart_from_queues) {
  store();
  static_cast<void>(db_with_clock().fifo("mail"));
  EXPECT_CODE(kind_mismatch, static_cast<void>(db_with_clock().fifo("emails")));
  EXPECT_CODE(kind_mismatch, static_cast<void>(db_with_clock().claim("emails")));
  EXPECT_CODE(kind_mismatch, static_cast<void>(db_with_clock().stored_table("mail")));
  EXPECT_CODE(kind_mismatch,
              db_with_clock().store_table("mail", {.table = "EmailRequests", .mapping = least()}));
  EXPECT_EQ(db_with_clock().find("mail")->kind, tableq::kind::fifo);
}

TEST_P(stored_tables, are_checked_before_they_are_stored) {
  auto wrong = whole();
  wrong.fence = "Nothing";
  EXPECT_CODE(invalid_argument, store("emails", wrong));
  EXPECT_CODE(invalid_argument, store("Emails"));
  EXPECT_CODE(not_found, db_with_clock().store_table("emails", {.table = "Nothing"}));
  EXPECT_TRUE(db_with_clock().queues().empty());
}

TEST_P(stored_tables, are_refused_when_their_json_is_too_long) {
  auto mapping = whole();
  for (int i = 0; i < 500; ++i) mapping.columns.emplace_back("Address");
  EXPECT_CODE(invalid_argument, store("emails", mapping));
}

TEST_P(stored_tables, need_the_right_to_change_the_schema) {
  tableq::open_options options;
  options.schema = tableq::schema_policy::verify_only;
  auto looking = open(options);
  EXPECT_CODE(unsupported,
              looking.store_table("emails", {.table = "EmailRequests", .mapping = least()}));
  store();
  EXPECT_EQ(looking.stored_table("emails").name(), "emails");
}

TEST_P(stored_tables, that_plain_sql_has_damaged_are_a_defect_of_the_catalogue) {
  store();
  here().sql("UPDATE tableq_queues SET options = '{\"key\": 1}' WHERE name = 'emails'");
  EXPECT_CODE(schema_mismatch, static_cast<void>(db_with_clock().queues()));
  EXPECT_CODE(schema_mismatch, static_cast<void>(db_with_clock().stored_table("emails")));
}

}  // namespace
