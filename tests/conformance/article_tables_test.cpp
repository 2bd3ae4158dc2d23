// The tables of well-known articles on tables as queues, as their applications have made them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance/article_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class article_tables : public on_article_table {
 protected:
  struct table {
    std::string name;
    tableq::table_queue queue;
    const char* waits = "1 = 1";
    bool deletes = false;  ///< A take does.
  };
  std::vector<table> tables() {
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

TEST_P(article_tables, queue_for_update_gives_back_what_was_taken_long_ago) {
  auto queue = for_update();
  add_to("QueueForUpdateStrategy", names('a', 1, 4));
  EXPECT_EQ(queue.take(2).size(), 2U);
  clock.advance(1h);
  EXPECT_EQ(queue.take(1).size(), 1U);
  EXPECT_EQ(queue.requeue_older_than(30min), 2U);
  EXPECT_EQ(count("QueueForUpdateStrategy", "IsDequeued = '0'"), "3");
  EXPECT_EQ(texts(queue.take(2)), names('a', 1, 2));
}

TEST_P(article_tables, email_is_marked_as_sent) {
  auto queue = emails();
  add_to("EmailRequests", names('a', 1, 3));
  const auto taken = next(queue);
  EXPECT_EQ(texts({taken}), names('a', 1, 1));
  EXPECT_EQ(count("EmailRequests", "IsProcessed = '1' AND IsEmailSent = '0'"), "1");
  EXPECT_EQ(queue.complete(taken), settle_result::applied);
  EXPECT_EQ(count("EmailRequests", "IsProcessed = '1' AND IsEmailSent = '1'"), "1");
  EXPECT_EQ(texts(queue.take(9)), names('a', 2, 3));
}

TEST_P(article_tables, email_that_always_fails_is_set_aside) {
  auto queue = emails();
  add_to("EmailRequests", {"poison", "good"});
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const auto taken = next(queue);
    EXPECT_EQ(texts({taken}), std::vector<std::string>{"poison"});
    EXPECT_EQ(taken.attempt, attempt);
    EXPECT_EQ(queue.fail(taken, "refused"), settle_result::applied);
    EXPECT_EQ(one("SELECT RetryCount FROM EmailRequests WHERE Payload = 'poison'"),
              std::to_string(attempt));
  }
  EXPECT_EQ(texts(queue.take(9)), std::vector<std::string>{"good"});
  EXPECT_EQ(
      count("EmailRequests", "IsProcessed = '1' AND IsEmailSent = '0' AND LastError = 'refused'"),
      "1");
  EXPECT_EQ(queue.stats().dead, 1U);
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
  for (const table& each : tables()) {
    SCOPED_TRACE(each.name);
    add(each.name, names('a', 1, half));
    add(each.name, names('b', 1, half));
    expect_each_once(each.queue);
    EXPECT_EQ(count(each.name, each.waits), "0");
    EXPECT_EQ(count(each.name), each.deletes ? "0" : "200");
  }
}

TEST_P(article_tables, have_their_rows_again_when_the_transaction_of_a_take_is_undone) {
  for (const table& each : tables()) {
    SCOPED_TRACE(each.name);
    const bool ordered = each.name != "HeapQueue";
    add(each.name, names('a', 1, ordered ? 4 : 1));
    expect_undone(each.queue, names('a', 1, ordered ? 2 : 1));
    EXPECT_EQ(count(each.name, each.waits), ordered ? "2" : "0");
    EXPECT_EQ(count(each.name), each.deletes ? count(each.name, each.waits) : "4");
  }
}

}  // namespace
