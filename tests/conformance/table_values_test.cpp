// Values and names that a table of the application may have.
#include <gtest/gtest.h>

#include "conformance/table_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class table_values : public on_each_backend {
 protected:
  std::string count(const std::string& table, const std::string& where = "1 = 1") {
    return here().sql("SELECT COUNT(*) FROM " + table + " WHERE " + where).at(0).at(0).value();
  }
};
TABLEQ_ON_BACKENDS(table_values, shared_backends);

TEST_P(table_values, of_a_boolean_that_are_neither_hide_no_other_row) {
  here().sql("CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, urgent " + here().types().flag +
             ", busy INTEGER DEFAULT 0 NOT NULL)");
  here().sql("INSERT INTO orders (id, urgent) VALUES (1, '0')");
  try {
    here().sql("INSERT INTO orders (id, urgent) VALUES (2, '7')");
  } catch (const std::exception&) {
    here().sql(
        "INSERT INTO orders (id, urgent) VALUES (2, '1')");  // A database with real booleans.
  }
  here().sql("INSERT INTO orders (id, urgent) VALUES (3, '1')");
  auto queue = db().table("orders", {.key = {"id"}, .waiting = tableq::flag("busy")});
  EXPECT_EQ(queue.peek(5).size(), 3U);
  const auto taken = queue.take(5);
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_FALSE(taken[0].row.get<bool>("urgent"));
  EXPECT_TRUE(taken[2].row.get<bool>("urgent"));
}

TEST_P(table_values, renamed_column_is_an_error_and_takes_nothing) {
  here().sql("CREATE TABLE orders (k INTEGER NOT NULL PRIMARY KEY, o INTEGER, note VARCHAR(20))");
  for (int i = 1; i <= 3; ++i) {
    here().sql("INSERT INTO orders VALUES (" + std::to_string(i) + ", 1, 'x')");
  }
  auto queue = db().table("orders", {.key = {"k"}, .order = {{.column = "o"}}});
  here().rename_column("orders", "k", "renamed");
  EXPECT_THROW(static_cast<void>(queue.take_one()), tableq::error);
  EXPECT_THROW(static_cast<void>(queue.take(2)), tableq::error);
  EXPECT_EQ(count("orders"), "3");
}

TEST_P(table_values, too_long_for_their_column_are_refused_or_kept_whole) {
  here().sql("CREATE TABLE orders (k VARCHAR(5) NOT NULL PRIMARY KEY, note CHAR(4))");
  auto queue = db().table("orders", {.order = {{.column = "k"}}});
  for (const tableq::row& each : {tableq::row{{"k", "order-1000"}, {"note", "a"}},
                                  tableq::row{{"k", "a"}, {"note", "payload"}}}) {
    try {
      queue.enqueue(each);
    } catch (const tableq::error& refused) {
      EXPECT_NE(refused.code(), tableq::errc::internal);
    }
  }
  EXPECT_EQ(count("orders", "k = 'order' OR note = 'payl'"), "0");
}

TEST_P(table_values, that_databases_cut_or_lose_are_refused) {
  here().sql("CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, note VARCHAR(20), at " +
             here().types().time + ")");
  auto queue = db().table("orders", {.order = {{.column = "id"}}});
  EXPECT_CODE(invalid_argument, queue.enqueue({{"id", 1}, {"note", std::string("SE\0CRET", 7)}}));
  const tableq::timestamp late{std::chrono::sys_days(std::chrono::year(10000) / 1 / 1)};
  EXPECT_CODE(invalid_argument, queue.enqueue({{"id", 1}, {"at", late}}));
  EXPECT_EQ(count("orders"), "0");
  const tableq::timestamp early{std::chrono::sys_days(std::chrono::year(1815) / 12 / 10)};
  EXPECT_EQ(queue.enqueue({{"id", 1}, {"at", early}}).get<tableq::timestamp>("at"), early);
}

TEST_P(table_values, keys_may_have_the_names_of_tableqs_own_columns) {
  here().sql(
      "CREATE TABLE odd (item INTEGER NOT NULL, place INTEGER NOT NULL, state INTEGER DEFAULT 0 "
      "NOT "
      "NULL, fence BIGINT DEFAULT 0 NOT NULL, until BIGINT, PRIMARY KEY (item, place))");
  here().sql("INSERT INTO odd (item, place) VALUES (1, 2)");
  here().sql("INSERT INTO odd (item, place) VALUES (3, 4)");
  auto queue = db().table("odd", {.key = {"item", "place"},
                                  .waiting = tableq::flag("state"),
                                  .lease_until = "until",
                                  .fence = "fence"});
  const auto taken = queue.take(2);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[1].row.get<int>("place"), 4);
  EXPECT_EQ(queue.extend_batch(taken, 1min), std::vector(2, settle_result::applied));
  // The heartbeat of a worker has a statement of its own.
  std::vector<tableq::receipt> receipts(taken.begin(), taken.end());
  EXPECT_EQ(queue.release_batch(receipts), std::vector(2, settle_result::applied));
  std::size_t lost = 0;
  tableq::worker work(
      queue, [](const tableq::delivery&) {},
      {.threads = 2, .until_empty = true, .observe = [&](const tableq::worker_event& event) {
         lost += event.what == tableq::worker_event::kind::lease_lost ? 1U : 0U;
       }});
  work.join();
  EXPECT_EQ(lost, 0U);
  EXPECT_EQ(count("odd"), "0");
}

}  // namespace
