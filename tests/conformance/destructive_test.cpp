#include <gtest/gtest.h>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class destructive : public on_each_backend {
 protected:
  /// Runs `check` with a new queue of each kind whose messages have only a payload.
  template <class F>
  void each_plain(F&& check) {
    check(db().heap("heap"));
    check(db().fifo("fifo"));
    check(db().lifo("lifo"));
  }
};
TABLEQ_ON_BACKENDS(destructive, all_backends);

TEST_P(destructive, a_message_is_read_once) {
  each_plain([](auto queue) {
    const tableq::message_id sent = queue.enqueue("only");
    const auto got = queue.dequeue();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->id, sent);
    EXPECT_EQ(got->payload, "only");
    EXPECT_FALSE(got->due_at);
    EXPECT_FALSE(queue.dequeue());
    EXPECT_FALSE(queue.stats().oldest);
  });
}

TEST_P(destructive, created_at_of_the_caller_is_kept_to_the_millisecond) {
  const tableq::timestamp said{1'234'567'890'123ms};
  each_plain([said](auto queue) {
    queue.enqueue("x", {.created_at = said});
    EXPECT_EQ(queue.peek().at(0).created_at, said);
    EXPECT_EQ(queue.stats().oldest, said);
    EXPECT_EQ(queue.dequeue()->created_at, said);
  });
  tableq::pending_queue later = db().pending("pending");
  later.enqueue("x", {.created_at = said});
  EXPECT_EQ(later.dequeue()->created_at, said);
}

TEST_P(destructive, created_at_decides_nothing) {
  tableq::fifo_queue queue = db().fifo("fifo");
  queue.enqueue("p0", {.created_at = tableq::timestamp{9'000'000'000s}});
  queue.enqueue("p1", {.created_at = tableq::timestamp{1s}});
  EXPECT_EQ(queue.dequeue()->payload, "p0");
}

TEST_P(destructive, purge_deletes_all_and_counts) {
  each_plain([](auto queue) {
    std::vector<tableq::new_message> many(2500, {.payload = "x"});
    EXPECT_EQ(queue.enqueue_batch(many).size(), 2500U);
    EXPECT_EQ(queue.purge(), 2500U);
    EXPECT_EQ(queue.purge(), 0U);
    EXPECT_FALSE(queue.dequeue());
  });
  tableq::pending_queue later = db().pending("pending");
  later.enqueue("due");
  later.enqueue("not due", {.delay = 1h});
  EXPECT_EQ(later.purge(), 2U);
}

class pending : public on_each_backend {};
TABLEQ_ON_BACKENDS(pending, all_backends);

TEST_P(pending, a_due_time_is_absolute) {
  tableq::pending_queue queue = db_with_clock().pending("mail");
  const tableq::timestamp due = clock.now() + 24h;
  queue.enqueue("tomorrow", {.due_at = due});
  EXPECT_FALSE(queue.dequeue());
  clock.set(due);
  EXPECT_EQ(queue.dequeue()->due_at, due);
}

TEST_P(pending, a_clock_that_goes_back_hides_and_loses_nothing) {
  tableq::pending_queue queue = db_with_clock().pending("mail");
  queue.enqueue("now");
  clock.advance(-1h);
  EXPECT_FALSE(queue.dequeue());
  clock.advance(1h);
  EXPECT_TRUE(queue.dequeue());
}

TEST_P(pending, a_batch_mixes_delays_and_due_times) {
  tableq::pending_queue queue = db_with_clock().pending("mail");
  const std::vector<tableq::new_pending_message> batch = {
      {.payload = "third", .options = {.delay = 30s}},
      {.payload = "first"},
      {.payload = "second", .options = {.due_at = clock.now() + 20s}},
      {.payload = "never", .options = {.delay = std::chrono::hours{24} * 3650}},
  };
  EXPECT_EQ(queue.enqueue_batch(batch).size(), 4U);
  clock.advance(30s);
  EXPECT_EQ(payloads_of(queue.dequeue_batch(10)),
            (std::vector<std::string>{"first", "second", "third"}));
  EXPECT_EQ(queue.stats().delayed, 1U);
}

}  // namespace
