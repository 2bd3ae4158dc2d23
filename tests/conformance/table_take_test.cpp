// A take from a table of the application.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/table_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class table_take : public on_own_table {};
TABLEQ_ON_BACKENDS(table_take, shared_backends);

TEST_P(table_take, returns_typed_columns_and_marks_the_row) {
  request(7, ", Subject", ", 'hello'");
  auto queue = emails();
  const auto taken = take_one(queue);
  EXPECT_EQ(taken.row.size(), 3U);
  EXPECT_EQ(taken.row.get<int>("Id"), 7);
  EXPECT_EQ(taken.row.get<std::string>("Subject"), "hello");
  EXPECT_EQ(taken.receipt.id, tableq::message_id{7});
  EXPECT_EQ(taken.attempt, 1);
  EXPECT_EQ(taken.lease_until, clock.now() + 30s);
  EXPECT_EQ(held(7, "IsProcessed"), "1");
  EXPECT_EQ(held(7, "TakenAt"), std::to_string(clock.now().time_since_epoch().count()));
  EXPECT_FALSE(queue.take_one());
}

TEST_P(table_take, reads_null_as_an_empty_optional) {
  request(1);
  auto queue = emails();
  const auto taken = take_one(queue);
  EXPECT_EQ(taken.row.get<std::optional<std::string>>("Subject"), std::nullopt);
  EXPECT_CODE(invalid_argument, static_cast<void>(taken.row.get<std::string>("Subject")));
}

TEST_P(table_take, follows_the_order_of_the_mapping) {
  auto mapping = whole();
  mapping.order = {{.column = "Subject"}, {.column = "Id", .descending = true}};
  request(1, ", Subject", ", 'b'");
  request(2, ", Subject", ", 'a'");
  request(3, ", Subject", ", 'b'");
  request(4, ", Subject, Importance", ", 'c', 9");
  auto queue = emails(mapping);
  EXPECT_EQ(ids_of(queue.take(10)), (std::vector<std::int64_t>{4, 2, 3, 1}));
}

TEST_P(table_take, rolled_back_leaves_the_row_waiting) {
  request(1);
  auto queue = emails();
  auto tx = db_with_clock().begin();
  const auto taken = queue.in(tx).take(1);
  ASSERT_EQ(taken.size(), 1U);
  tx.rollback();
  EXPECT_EQ(held(1, "IsProcessed"), "0");
  EXPECT_EQ(held(1, "RetryCount"), "0");
  const auto again = take_one(queue);
  EXPECT_EQ(queue.complete(taken[0]), settle_result::lease_lost);
  EXPECT_EQ(queue.complete(again), settle_result::applied);
}

TEST_P(table_take, deletes_where_nothing_tells_what_waits) {
  here().sql("CREATE TABLE HeapQueue (Payload VARCHAR(100))");
  here().sql("INSERT INTO HeapQueue (Payload) VALUES ('a')");
  here().sql("INSERT INTO HeapQueue (Payload) VALUES ('b')");
  auto heap = db().table("HeapQueue", {});
  EXPECT_FALSE(heap.guarantee().settles);
  std::vector<std::string> got;
  for (const auto& each : heap.take(1)) got.push_back(each.row.get<std::string>("Payload"));
  for (const auto& each : heap.take(5)) got.push_back(each.row.get<std::string>("Payload"));
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(here().sql("SELECT COUNT(*) FROM HeapQueue").at(0).at(0), "0");
}

TEST_P(table_take, deletes_in_order_by_the_key) {
  here().sql("CREATE TABLE FifoQueue (Id INTEGER NOT NULL PRIMARY KEY, Payload VARCHAR(100))");
  for (int i = 9; i > 0; --i) {
    here().sql("INSERT INTO FifoQueue (Id, Payload) VALUES (" + std::to_string(i) + ", 'x')");
  }
  auto fifo = db().table("FifoQueue", {.key = {"Id"}});
  EXPECT_EQ(ids_of(fifo.take(4)), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(ids_of(fifo.take(1)), (std::vector<std::int64_t>{5}));
  EXPECT_EQ(here().sql("SELECT COUNT(*) FROM FifoQueue").at(0).at(0), "4");
}

TEST_P(table_take, finds_rows_by_the_text_of_a_state) {
  auto mapping = least();
  mapping.waiting = tableq::states(
      "Subject", {.waiting = "it's new", .taken = "busy", .done = "sent", .dead = "failed"});
  mapping.completed = tableq::on_complete::mark;
  request(1, ", Subject", ", 'it''s new'");
  request(2, ", Subject", ", 'busy'");
  request(3, ", Subject", ", 'it''s new'");
  auto queue = emails(mapping);
  const auto taken = queue.take(10);
  ASSERT_EQ(ids_of(taken), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(held(1, "Subject"), "busy");
  EXPECT_EQ(queue.complete(taken[0]), settle_result::applied);
  EXPECT_EQ(held(1, "Subject"), "sent");
  EXPECT_EQ(queue.fail(taken[1], "no", {.give_up = true}), settle_result::applied);
  EXPECT_EQ(held(3, "Subject"), "failed");
  const auto stats = queue.stats();
  EXPECT_EQ(stats.done, 1U);
  EXPECT_EQ(stats.dead, 1U);
  EXPECT_EQ(stats.leased, 0U);  // without lease_until nothing tells whether row 2 still runs
}

TEST_P(table_take, returns_nothing_from_an_empty_table) {
  auto queue = emails();
  EXPECT_TRUE(queue.take(10).empty());
  EXPECT_TRUE(queue.take(10, {.wait = 1ms}).empty());
}

TEST_P(table_take, wakes_for_rows_of_tableq_itself) {
  auto queue = db().table("EmailRequests", whole());
  std::vector<tableq::delivery> got;
  {
    std::jthread reader([&] { got = queue.take(1, {.wait = 1min}); });
    queue.enqueue({{"Id", 1}, {"Address", "x"}});
  }
  EXPECT_EQ(ids_of(got), (std::vector<std::int64_t>{1}));
}

struct email {
  std::int64_t id = 0;
  std::string address;
  std::optional<std::string> subject;
};

}  // namespace

template <>
struct tableq::row_traits<email> {
  static email from_row(const tableq::row& row) {
    return {.id = row.get<std::int64_t>("Id"),
            .address = row.get<std::string>("Address"),
            .subject = row.get<std::optional<std::string>>("Subject")};
  }
  static tableq::row to_row(const email& of) {
    return {{"Id", of.id}, {"Address", of.address}, {"Subject", of.subject}};
  }
};

namespace {

/// Cannot be made of a row without a subject.
struct titled {
  std::string subject;
};

}  // namespace

template <>
struct tableq::row_traits<titled> {
  static titled from_row(const tableq::row& row) {
    return {.subject = row.get<std::string>("Subject")};
  }
};

namespace {

TEST_P(table_take, of_objects_ends_for_a_row_that_makes_none) {
  request(1, ", Subject", ", 'a'");
  request(2);
  request(3, ", Subject", ", 'c'");
  auto queue = emails();
  for (int i = 0; i < 3; ++i) {
    EXPECT_CODE(invalid_argument, static_cast<void>(queue.take<titled>(5)));
  }
  EXPECT_EQ(queue.take<titled>(5).size(), 2U);
  EXPECT_EQ(held(2, "RetryCount"), "3");
  EXPECT_EQ(held(1, "RetryCount"), "1");
  EXPECT_EQ(queue.stats().dead, 1U);
}

TEST_P(table_take, gives_decimals_in_their_shortest_form) {
  here().sql("CREATE TABLE prices (id INTEGER NOT NULL PRIMARY KEY, amount NUMERIC(12,2))");
  auto queue = db().table("prices", {.order = {{.column = "id"}}});
  queue.enqueue({{"id", 1}, {"amount", tableq::row_value::decimal("99.90")}});
  queue.enqueue({{"id", 2}, {"amount", 0.1}});
  const auto taken = queue.take(2);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].row.get<std::string>("amount").substr(0, 4), "99.9");
  EXPECT_LE(taken[0].row.get<std::string>("amount").size(), 5U);
  EXPECT_EQ(taken[1].row.get<double>("amount"), 0.1);
  EXPECT_LE(taken[1].row.get<std::string>("amount").size(), 4U);
}

TEST_P(table_take, gives_objects_of_the_application) {
  auto queue = emails();
  queue.enqueue(email{.id = 3, .address = "c@d.example", .subject = "hi"});
  const auto taken = queue.take<email>(5);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].value.address, "c@d.example");
  EXPECT_EQ(taken[0].value.subject, "hi");
  EXPECT_EQ(queue.complete(taken[0]), settle_result::applied);
  EXPECT_EQ(count(), "0");
}

}  // namespace
