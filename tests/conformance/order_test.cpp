#include <gtest/gtest.h>

#include <algorithm>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class order : public on_each_backend {
 protected:
  /// Reads until the queue is empty: singles and batches in turn.
  template <class Queue>
  static std::vector<std::string> drain(Queue& queue) {
    std::vector<std::string> got;
    for (std::size_t max = 1;; max = max % 7 + 1) {
      if (max == 1) {
        const auto one = queue.dequeue();
        if (!one) return got;
        got.push_back(one->payload);
      } else {
        for (auto& each : queue.dequeue_batch(max)) got.push_back(std::move(each.payload));
      }
    }
  }
};
TABLEQ_ON_BACKENDS(order, all_backends);

std::vector<std::string> reversed(std::vector<std::string> all) {
  std::reverse(all.begin(), all.end());
  return all;
}

TEST_P(order, of_fifo_is_exact_with_one_consumer) {
  tableq::fifo_queue queue = db().fifo("mail");
  for (const std::string& each : numbered(100)) queue.enqueue(each);
  EXPECT_EQ(drain(queue), numbered(100));
}

TEST_P(order, of_lifo_is_exact_with_one_consumer) {
  tableq::lifo_queue queue = db().lifo("mail");
  for (const std::string& each : numbered(100)) queue.enqueue(each);
  EXPECT_EQ(drain(queue), reversed(numbered(100)));
}

TEST_P(order, within_an_enqueued_batch_is_the_order_given) {
  for (const tableq::kind each : {tableq::kind::fifo, tableq::kind::claim}) {
    any_queue queue(db(), each, tableq::to_string(each));
    const auto ids = queue.put_all(numbered(1000));
    ASSERT_EQ(ids.size(), 1000U);
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    EXPECT_EQ(payloads_of(queue.take_up_to(1000)), numbered(1000));
  }
  any_queue last(db(), tableq::kind::lifo, "lifo");
  last.put_all(numbered(1000));
  EXPECT_EQ(payloads_of(last.take_up_to(1000)), reversed(numbered(1000)));
}

TEST_P(order, of_claims_is_priority_then_age) {
  tableq::claim_queue queue = db().claim("jobs");
  const std::vector<std::pair<std::string, std::int32_t>> sent = {{"p0", 0},
                                                                  {"low", -5},
                                                                  {"high", 9},
                                                                  {"p1", 0},
                                                                  {"p2", 0},
                                                                  {"max", 2'147'483'647},
                                                                  {"min", -2'147'483'647 - 1},
                                                                  {"high too", 9}};
  for (const auto& [payload, priority] : sent) {
    EXPECT_TRUE(queue.enqueue(payload, {.priority = priority}).created());
  }
  const std::vector<std::string> expected = {"max", "high", "high too", "p0",
                                             "p1",  "p2",   "low",      "min"};
  EXPECT_EQ(payloads_of(queue.peek(10)), expected);
  std::vector<std::string> got;
  while (got.size() < expected.size()) {
    const auto batch = queue.take(3);
    ASSERT_FALSE(batch.empty());
    for (const auto& each : batch) got.push_back(each.payload);
  }
  EXPECT_EQ(got, expected);
}

class looking : public on_each_kind {};
TABLEQ_ON_KINDS(looking, all_backends);

TEST_P(looking, shows_what_reads_return_next_and_takes_nothing) {
  any_queue queue = make("mail");
  queue.put_all(numbered(10));
  const auto seen = queue.peek(4);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(queue.waiting(), 10U);
  EXPECT_EQ(queue.peek(4), seen);
  EXPECT_EQ(payloads_of(queue.take_up_to(4)), seen);
  EXPECT_EQ(queue.peek(100).size(), 6U);
}

TEST_P(looking, at_an_empty_queue_shows_nothing) {
  any_queue queue = make("mail");
  EXPECT_TRUE(queue.peek(10).empty());
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_FALSE(queue.take());
  EXPECT_TRUE(queue.take_up_to(10).empty());
}

}  // namespace
