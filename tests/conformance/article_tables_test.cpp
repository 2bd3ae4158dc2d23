// The tables of well-known articles on tables as queues, as their applications have made them.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"
#include "support/in_threads.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

/// The tables of well-known articles on tables as queues. Rows are added by plain SQL.
class article_tables : public on_each_backend {
 protected:
  /// Rows with the letter a in tests with several readers, and as many with b.
  static constexpr int half = 100;

  void SetUp() override {
    on_each_backend::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) types_ = here().types();
  }

  std::string one(const std::string& sql) { return here().sql(sql).at(0).at(0).value_or("NULL"); }
  std::string count(const std::string& table, const std::string& where = "1 = 1") {
    return one("SELECT COUNT(*) FROM " + table + " WHERE " + where);
  }
  static tableq::delivery next(tableq::table_queue from) {
    auto taken = from.take_one();
    if (!taken) throw std::runtime_error("nothing waited");
    return *std::move(taken);
  }
  /// The payloads of a take.
  static std::vector<std::string> texts(const std::vector<tableq::delivery>& taken) {
    std::vector<std::string> out;
    for (const auto& each : taken) out.push_back(each.row.get<std::string>("Payload"));
    return out;
  }
  static std::vector<std::string> names(char letter, int first, int last) {
    std::vector<std::string> out;
    for (int i = first; i <= last; ++i) out.push_back(letter + std::to_string(100 + i));
    return out;
  }
  static std::string quoted(const std::string& text) { return "'" + text + "'"; }

  /// Several readers take all rows; each comes to one of them.
  static void expect_each_once(tableq::table_queue queue) {
    std::mutex mutex;
    std::vector<std::string> all;
    in_threads(6, [&](int thread) {
      for (;;) {
        const auto taken = queue.take(static_cast<std::size_t>(1 + thread % 3));
        if (taken.empty()) return;
        const std::scoped_lock hold(mutex);
        for (const std::string& each : texts(taken)) all.push_back(each);
      }
    });
    std::sort(all.begin(), all.end());
    std::vector<std::string> wanted = names('a', 1, half);
    for (const std::string& each : names('b', 1, half)) wanted.push_back(each);
    EXPECT_EQ(all, wanted);
    EXPECT_FALSE(queue.take_one());
  }
  /// A take that is rolled back leaves its rows where they were.
  void expect_undone(tableq::table_queue queue, const std::vector<std::string>& first) {
    {
      auto tx = db_with_clock().begin();
      EXPECT_EQ(texts(queue.in(tx).take(first.size())), first);
      tx.rollback();
    }
    EXPECT_EQ(texts(queue.take(first.size())), first);
  }

  // (a) Id, CreatedAt, ProcessingStartedAt, Errors, Payload.
  tableq::table_queue simple() {
    here().sql("CREATE TABLE SimpleQueue (Id " + types_.guid + " NOT NULL PRIMARY KEY, CreatedAt " +
               types_.time + " NOT NULL, ProcessingStartedAt " + types_.time + " NULL, Errors " +
               types_.text + " NULL, Payload " + types_.text + " NOT NULL)");
    return db_with_clock().table("SimpleQueue",
                                 {.key = {"Id"},
                                  .waiting = tableq::null_time("ProcessingStartedAt"),
                                  .order = {{.column = "CreatedAt"}, {.column = "Id"}},
                                  .errors = "Errors"});
  }
  /// The ids fall while the times rise.
  void add_simple(const std::vector<std::string>& payloads) {
    for (const std::string& each : payloads) {
      const int number = 100 + added_++;
      here().sql(
          "INSERT INTO SimpleQueue (Id, CreatedAt, Payload) VALUES ('6f9619ff-8b86-d011-b42d-" +
          std::to_string(999'999'000'999 - number) + "', '2023-12-31 12:0" +
          std::to_string(number / 60 % 10) + ":" + std::to_string(10 + number % 50) + "', " +
          quoted(each) + ")");
    }
  }

  // (b) Id, IsDequeued, EnqueuedAt, DequeuedAt, Payload: rows stay.
  tableq::table_queue for_update() {
    here().sql("CREATE TABLE QueueForUpdateStrategy (Id " + types_.numbered + ", IsDequeued " +
               types_.flag + " DEFAULT '0' NOT NULL, EnqueuedAt " + types_.time +
               " DEFAULT CURRENT_TIMESTAMP NOT NULL, DequeuedAt " + types_.time +
               " NULL, Payload " + types_.text + ")");
    here().sql("CREATE INDEX waits ON QueueForUpdateStrategy (IsDequeued, Id)");
    return db_with_clock().table("QueueForUpdateStrategy",
                                 {.key = {"Id"},
                                  .waiting = tableq::flag("IsDequeued"),
                                  .taken_at = "DequeuedAt",
                                  .completed = tableq::on_complete::leave});
  }
  /// Only the payload is given.
  void add_to(const std::string& table, const std::vector<std::string>& payloads) {
    for (const std::string& each : payloads) {
      here().sql("INSERT INTO " + table + " (Payload) VALUES (" + quoted(each) + ")");
    }
  }

  // (c) Nothing but a payload.
  tableq::table_queue heap() {
    here().sql("CREATE TABLE HeapQueue (Payload " + types_.text + ")");
    return db_with_clock().table("HeapQueue", {});
  }
  tableq::table_queue fifo() {
    here().sql("CREATE TABLE FifoQueue (Id " + types_.numbered + ", Payload " + types_.text + ")");
    return db_with_clock().table("FifoQueue", {.order = {{.column = "Id"}}});
  }

  // (d) Requests with attempts.
  static tableq::table_mapping email_mapping() {
    return {.key = {"Id"},
            .waiting = tableq::flag("IsProcessed"),
            .columns = {"Id", "Payload"},
            .taken_at = "ProcessedAt",
            .attempts = "RetryCount",
            .last_error = "LastError",
            .done = tableq::flag("IsEmailSent"),
            .completed = tableq::on_complete::mark,
            .max_attempts = 3};
  }
  tableq::table_queue emails() {
    here().sql("CREATE TABLE EmailRequests (Id " + types_.numbered + ", Payload " + types_.text +
               " NOT NULL, IsProcessed " + types_.flag + " DEFAULT '0' NOT NULL, IsEmailSent " +
               types_.flag +
               " DEFAULT '0' NOT NULL, RetryCount INTEGER DEFAULT 0 NOT NULL, "
               "ProcessedAt " +
               types_.time + " NULL, LastError " + types_.text + " NULL)");
    here().sql("CREATE INDEX waiting_requests ON EmailRequests (IsProcessed, Id)");
    return db_with_clock().table("EmailRequests", email_mapping());
  }

  // (e) Rows lie in the order of (PROCESSED, ID), and that is their only key.
  tableq::table_queue clustered() {
    here().sql(
        "CREATE TABLE QueueTable (ID INTEGER NOT NULL, PROCESSED INTEGER DEFAULT 0 NOT NULL, "
        "Payload " +
        types_.text + ", PRIMARY KEY (PROCESSED, ID))");
    return db_with_clock().table("QueueTable", {.key = {"PROCESSED", "ID"},
                                                .waiting = tableq::flag("PROCESSED"),
                                                .order = {{.column = "ID"}},
                                                .completed = tableq::on_complete::leave});
  }
  void add_clustered(const std::vector<std::string>& payloads) {
    for (const std::string& each : payloads) {
      here().sql("INSERT INTO QueueTable (ID, Payload) VALUES (" + std::to_string(++added_) + ", " +
                 quoted(each) + ")");
    }
  }

  struct example {
    std::string name;
    tableq::table_queue queue;
    const char* waits = "1 = 1";
    bool deletes = false;  ///< A take does.
  };
  std::vector<example> examples() {
    return {{"SimpleQueue", simple(), "ProcessingStartedAt IS NULL"},
            {"QueueForUpdateStrategy", for_update(), "IsDequeued = '0'"},
            {"HeapQueue", heap(), "1 = 1", true},
            {"FifoQueue", fifo(), "1 = 1", true},
            {"EmailRequests", emails(), "IsProcessed = '0' OR RetryCount <> 1"},
            {"QueueTable", clustered(), "PROCESSED = 0"}};
  }
  void add(const std::string& to, const std::vector<std::string>& payloads) {
    if (to == "SimpleQueue") return add_simple(payloads);
    to == "QueueTable" ? add_clustered(payloads) : add_to(to, payloads);
  }

  column_types types_;
  int added_ = 0;
};
TABLEQ_ON_BACKENDS(article_tables, shared_backends);

TEST_P(article_tables, simple_queue_hands_out_in_order_and_complete_deletes) {
  auto queue = simple();
  add_simple(names('a', 1, 9));
  EXPECT_EQ(texts(queue.take(3)), names('a', 1, 3));
  const auto taken = next(queue);
  EXPECT_EQ(texts({taken}), names('a', 4, 4));
  EXPECT_EQ(taken.row.get<tableq::timestamp>("ProcessingStartedAt"), clock.now());
  EXPECT_EQ(count("SimpleQueue", "ProcessingStartedAt IS NULL"), "5");
  EXPECT_EQ(queue.complete(taken), settle_result::applied);
  EXPECT_EQ(queue.complete(taken), settle_result::lease_lost);
  EXPECT_EQ(count("SimpleQueue", "Payload = 'a104'"), "0");
  EXPECT_EQ(count("SimpleQueue"), "8");
}

TEST_P(article_tables, queue_for_update_keeps_its_rows) {
  auto queue = for_update();
  add_to("QueueForUpdateStrategy", names('a', 1, 6));
  const auto taken = queue.take(2);
  EXPECT_EQ(texts(taken), names('a', 1, 2));
  EXPECT_TRUE(taken.at(0).row.get<bool>("IsDequeued"));
  EXPECT_EQ(taken[0].row.get<tableq::timestamp>("DequeuedAt"), clock.now());
  EXPECT_EQ(queue.complete_batch(taken),
            (std::vector{settle_result::applied, settle_result::applied}));
  EXPECT_EQ(count("QueueForUpdateStrategy"), "6");
  EXPECT_EQ(count("QueueForUpdateStrategy", "IsDequeued = '1' AND DequeuedAt IS NOT NULL"), "2");
  EXPECT_EQ(texts(queue.take(9)), names('a', 3, 6));
}

TEST_P(article_tables, email_that_was_set_aside_has_one_more_attempt_on_request) {
  auto queue = emails();
  add_to("EmailRequests", {"poison"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.fail(next(queue), "no"), settle_result::applied);
  clock.advance(1h);
  EXPECT_FALSE(queue.take_one());
  // No lease tells a row that was set aside from one whose sender has died.
  EXPECT_EQ(queue.requeue_older_than(30min), 1U);
  const auto again = next(queue);
  EXPECT_EQ(again.attempt, 4);
  EXPECT_EQ(queue.fail(again, "no"), settle_result::applied);
  EXPECT_FALSE(queue.take_one());
}

TEST_P(article_tables, clustered_queue_moves_a_row_to_the_processed_ones) {
  auto queue = clustered();
  add_clustered(names('a', 1, 5));
  const auto taken = queue.take(2);
  EXPECT_EQ(texts(taken), names('a', 1, 2));
  EXPECT_EQ(queue.complete(taken.at(1)), settle_result::applied);
  EXPECT_EQ(count("QueueTable", "PROCESSED = 1"), "2");
  EXPECT_EQ(queue.fail(taken.at(0), "again"), settle_result::applied);
  EXPECT_EQ(count("QueueTable", "PROCESSED = 1"), "1");
  EXPECT_EQ(queue.release(taken[0]), settle_result::lease_lost);  // it waits already
  EXPECT_EQ(texts(queue.take(2)), (std::vector<std::string>{"a101", "a103"}));
}

TEST_P(article_tables, give_no_row_to_two_readers) {
  for (const example& each : examples()) {
    SCOPED_TRACE(each.name);
    add(each.name, names('a', 1, half));
    add(each.name, names('b', 1, half));
    expect_each_once(each.queue);
    EXPECT_EQ(count(each.name, each.waits), "0");
    EXPECT_EQ(count(each.name), each.deletes ? "0" : "200");
  }
}

TEST_P(article_tables, have_their_rows_again_when_the_transaction_of_a_take_is_undone) {
  for (const example& each : examples()) {
    SCOPED_TRACE(each.name);
    const bool ordered = each.name != "HeapQueue";
    add(each.name, names('a', 1, ordered ? 4 : 1));
    expect_undone(each.queue, names('a', 1, ordered ? 2 : 1));
    EXPECT_EQ(count(each.name, each.waits), ordered ? "2" : "0");
    EXPECT_EQ(count(each.name), each.deletes ? count(each.name, each.waits) : "4");
  }
}

}  // namespace
