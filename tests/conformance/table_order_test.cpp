// Strict ordering of takes from a table of the application.
#include <gtest/gtest.h>

#include <atomic>

#include <soci/soci.h>

#include "conformance/table_fixture.hpp"
#include "support/expect.hpp"
#include "support/in_threads.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using ids = std::vector<std::int64_t>;

class table_order : public on_own_table {
 protected:
  static tableq::table_mapping strict(tableq::table_mapping mapping = least()) {
    mapping.ordering = tableq::ordering::strict;
    return mapping;
  }
  /// A database that gives up soon when another session holds a lock.
  tableq::database impatient() {
    return tableq::database::open(here().impatient_url(),
                                  {.retry_for = 0ms, .clock = clock.source()});
  }
};
TABLEQ_ON_BACKENDS(table_order, shared_backends);

TEST_P(table_order, strict_take_waits_for_the_end_of_an_open_take) {
  requests(3);
  auto queue = db().table("EmailRequests", strict());
  auto other_database = impatient();
  auto other = other_database.table("EmailRequests", strict());
  auto undone = db().begin();
  EXPECT_EQ(ids_of(queue.in(undone).take(1)), ids{1});
  EXPECT_CODE(busy, static_cast<void>(other.take(1)));
  undone.rollback();
  EXPECT_EQ(ids_of(other.take(1)), ids{1});
  auto kept = db().begin();
  EXPECT_EQ(ids_of(queue.in(kept).take(1)), ids{2});
  EXPECT_CODE(busy, static_cast<void>(other.take(1)));
  kept.commit();
  EXPECT_EQ(ids_of(other.take(1)), ids{3});
}

TEST_P(table_order, strict_take_waits_although_another_row_comes_first) {
  request(1, ", DueAt", ", " + std::to_string(clock.now().time_since_epoch().count() + 1000));
  request(2);
  auto mapping = strict();
  mapping.due_at = "DueAt";
  auto queue = emails(mapping);
  auto other_database = impatient();
  auto other = other_database.table("EmailRequests", mapping);
  auto tx = db_with_clock().begin();
  EXPECT_EQ(ids_of(queue.in(tx).take(1)), ids{2});
  clock.advance(1s);
  EXPECT_CODE(busy, static_cast<void>(other.take(1)));
  tx.commit();
  EXPECT_EQ(ids_of(other.take(1)), ids{1});
}

TEST_P(table_order, strict_take_that_deletes_waits_too) {
  here().sql("CREATE TABLE FifoQueue (Id INTEGER NOT NULL PRIMARY KEY)");
  for (int i = 1; i <= 2; ++i) {
    here().sql("INSERT INTO FifoQueue (Id) VALUES (" + std::to_string(i) + ")");
  }
  const tableq::table_mapping mapping = strict({.key = {"Id"}});
  auto queue = db().table("FifoQueue", mapping);
  auto other_database = impatient();
  auto other = other_database.table("FifoQueue", mapping);
  auto tx = db().begin();
  EXPECT_EQ(ids_of(queue.in(tx).take(1)), ids{1});
  EXPECT_CODE(busy, static_cast<void>(other.take(2)));
  tx.rollback();
  EXPECT_EQ(ids_of(other.take(2)), (ids{1, 2}));
}

TEST_P(table_order, strict_take_waits_for_a_row_that_another_client_has_locked) {
  requests(3);
  auto database = impatient();
  auto queue = database.table("EmailRequests", strict());
  const auto client = here().session();
  client->begin();
  *client << "UPDATE EmailRequests SET Subject = 'new' WHERE Id = 1";
  if (can().concurrent_writers) {
    EXPECT_EQ(ids_of(database.table("EmailRequests", least()).take(1)), ids{2});
  }
  EXPECT_CODE(busy, static_cast<void>(queue.take(1)));
  EXPECT_CODE(busy, static_cast<void>(queue.take(2)));
  client->commit();
  EXPECT_EQ(ids_of(queue.take(1)), ids{1});
}

TEST_P(table_order, strict_take_leaves_a_row_that_another_client_has_meanwhile_taken) {
  requests(2);
  auto queue = db().table("EmailRequests", strict());
  const auto client = here().session();
  client->begin();
  *client << "UPDATE EmailRequests SET IsProcessed = 1 WHERE Id = 1";
  ids got;
  {
    std::jthread taker([&] { got = ids_of(queue.take(1)); });
    client->commit();
  }
  EXPECT_EQ(got, ids{2});
}

TEST_P(table_order, strict_enqueue_waits_for_the_end_of_an_open_take) {
  requests(1);
  auto queue = db().table("EmailRequests", strict());
  auto other_database = impatient();
  auto other = other_database.table("EmailRequests", strict());
  auto tx = db().begin();
  EXPECT_EQ(ids_of(queue.in(tx).take(1)), ids{1});
  EXPECT_CODE(busy, other.enqueue({{"Id", 2}, {"Address", "x"}}));
  tx.commit();
  other.enqueue({{"Id", 2}, {"Address", "x"}});
  EXPECT_EQ(ids_of(other.take(1)), ids{2});
}

TEST_P(table_order, rows_are_settled_while_a_strict_take_is_open) {
  if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
  requests(4);
  auto queue = emails(strict(whole()));
  const auto taken = queue.take(3);
  ASSERT_EQ(taken.size(), 3U);
  auto tx = db_with_clock().begin();
  EXPECT_EQ(ids_of(queue.in(tx).take(1)), ids{4});
  auto other_database = impatient();
  auto other = other_database.table("EmailRequests", strict(whole()));
  EXPECT_EQ(other.complete(taken[0]), tableq::settle_result::applied);
  EXPECT_EQ(other.fail(taken[1], "no"), tableq::settle_result::applied);
  EXPECT_EQ(other.extend(taken[2], 1h), tableq::settle_result::applied);
  tx.commit();
  EXPECT_EQ(ids_of(other.take(9)), ids{2});
}

TEST_P(table_order, strict_takes_of_several_threads_have_neighbouring_rows) {
  // No order in which the database keeps or returns the rows is that of the mapping.
  const auto place = [](std::int64_t id) { return id * 37 % 101; };
  for (std::int64_t id = 1; id <= 100; ++id) {
    request(id, ", Importance", ", " + std::to_string(place(id)));
  }
  auto mapping = strict();
  mapping.order = {{.column = "Importance"}};
  auto patient = open({.retry_for = 5min});
  auto queue = patient.table("EmailRequests", mapping);
  std::atomic<std::size_t> all = 0;
  in_threads(8, [&](int thread) {
    for (;;) {
      const ids taken = ids_of(queue.take(static_cast<std::size_t>(2 + thread % 3)));
      if (taken.empty()) return;
      all += taken.size();
      for (std::size_t i = 1; i < taken.size(); ++i) {
        EXPECT_EQ(place(taken[i]), place(taken[i - 1]) + 1);
      }
    }
  });
  EXPECT_EQ(all, 100U);
}

TEST_P(table_order, strict_needs_an_order) {
  here().sql("CREATE TABLE HeapQueue (Payload VARCHAR(100))");
  const tableq::error refused =
      thrown_by([&] { static_cast<void>(db().table("HeapQueue", strict({}))); });
  EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
  EXPECT_NE(std::string(refused.what()).find("order"), std::string::npos) << refused.what();
}

}  // namespace
