#include <gtest/gtest.h>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class stats : public claim_test {};
TABLEQ_ON_BACKENDS(stats, all_backends);

TEST_P(stats, stop_counting_where_they_are_told_and_say_so) {
  auto mail = db_with_clock().fifo("mail");
  mail.enqueue_batch(std::vector<tableq::new_message>(30, {.payload = "x"}));
  const auto all = mail.stats();
  EXPECT_EQ(all.waiting, 30U);
  EXPECT_EQ(all.counted_to, 10'000U);
  const auto some = mail.stats({.count_to = 7});
  EXPECT_EQ(some.waiting, 7U);
  EXPECT_EQ(some.counted_to, 7U);
  const auto exact = mail.stats({.exact = true, .count_to = 7});
  EXPECT_EQ(exact.waiting, 30U);
  EXPECT_FALSE(exact.counted_to);
}

TEST_P(stats, of_delayed_ones_stop_too) {
  auto later = db_with_clock().pending("later");
  for (int i = 0; i < 12; ++i) later.enqueue("x", {.delay = i < 4 ? 0s : 10s});
  const auto some = later.stats({.count_to = 5});
  EXPECT_EQ(some.waiting, 4U);
  EXPECT_EQ(some.delayed, 5U);
  EXPECT_EQ(later.stats({.exact = true}).delayed, 8U);
  clock.advance(10s);
  EXPECT_EQ(later.stats().waiting, 12U);
}

TEST_P(stats, of_a_claim_queue_are_bounded_each) {
  auto kept = db_with_clock().claim("kept", {.max_attempts = 1, .keep_completed = true});
  const auto add = [&](int count, const tableq::claim_enqueue_options& options = {}) {
    for (int i = 0; i < count; ++i) static_cast<void>(kept.enqueue("x", options));
  };
  add(8);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(kept.complete(take_one(kept).receipt), settle_result::applied);
  add(9);
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(kept.fail(take_one(kept).receipt, "e"), settle_result::applied);
  add(2);
  ASSERT_EQ(kept.take(2, {.lease = 1min}).size(), 2U);
  add(3, {.delay = 1h});
  add(4, {.delay = 1s});
  add(6);
  clock.advance(2s);
  const auto exact = kept.stats({.exact = true});
  EXPECT_EQ(exact.ready, 10U);
  EXPECT_EQ(exact.due, 4U);
  EXPECT_EQ(exact.delayed, 3U);
  EXPECT_EQ(exact.leased, 2U);
  EXPECT_EQ(exact.done, 8U);
  EXPECT_EQ(exact.dead, 9U);
  EXPECT_EQ(exact.held, 0U);
  const auto some = kept.stats({.count_to = 5});
  EXPECT_EQ(some.ready, 5U + 4U);
  EXPECT_EQ(some.due, 4U);
  EXPECT_EQ(some.done, 5U);
  EXPECT_EQ(some.dead, 5U);
  EXPECT_LE(some.delayed + some.leased, 5U);
  EXPECT_GE(some.delayed + some.leased, 5U) << "as many as were counted";
}

TEST_P(stats, tell_the_oldest_of_what_was_promoted_and_what_was_not) {
  const tableq::timestamp first{1s};
  const tableq::timestamp second{2s};
  static_cast<void>(jobs().enqueue("x", {.delay = 1s, .created_at = first}));
  static_cast<void>(jobs().enqueue("y", {.priority = 5, .created_at = second}));
  EXPECT_EQ(jobs().stats().oldest, second);
  clock.advance(1s);
  EXPECT_EQ(jobs().stats().oldest, first);
}

TEST_P(stats, are_as_of_the_databases_clock) {
  EXPECT_EQ(jobs().stats().as_of, clock.now());
  EXPECT_EQ(db_with_clock().lifo("stack").stats().as_of, clock.now());
}

TEST_P(stats, refuse_limits_that_are_none) {
  for (const std::size_t limit : {0U, 1'000'001U}) {
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().stats({.count_to = limit})));
    EXPECT_CODE(invalid_argument,
                static_cast<void>(db_with_clock().heap("h").stats({.count_to = limit})));
  }
}

TEST_P(stats, tell_rates_by_two_looks) {
  if (!can().ids_from_one) GTEST_SKIP() << "the first id of a queue is far from zero";
  const auto before = jobs().stats();
  for (int i = 0; i < 10; ++i) jobs().enqueue("x");
  for (const auto& each : jobs().take(4)) {
    EXPECT_EQ(jobs().complete(each.receipt), settle_result::applied);
  }
  clock.advance(2s);
  const auto rates = rates_between(before, jobs().stats());
  ASSERT_TRUE(rates.enqueued && rates.left);
  EXPECT_DOUBLE_EQ(*rates.enqueued, 5.0);
  EXPECT_DOUBLE_EQ(*rates.left, 2.0);
  EXPECT_FALSE(rates_between(before, before).enqueued) << "no time has passed";
}

TEST_P(stats, tell_rates_of_destructive_queues) {
  auto mail = db_with_clock().fifo("mail");
  mail.enqueue("stays ahead");
  const auto before = mail.stats();
  mail.enqueue_batch(std::vector<tableq::new_message>(10, {.payload = "x"}));
  EXPECT_EQ(mail.dequeue_batch(6).size(), 6U);
  clock.advance(2s);
  const auto rates = rates_between(before, mail.stats());
  ASSERT_TRUE(rates.enqueued && rates.left);
  EXPECT_DOUBLE_EQ(*rates.enqueued, 5.0);
  EXPECT_DOUBLE_EQ(*rates.left, 3.0);
}

TEST_P(stats, say_nothing_of_what_left_behind_a_lower_bound) {
  auto mail = db_with_clock().fifo("mail");
  mail.enqueue_batch(std::vector<tableq::new_message>(10, {.payload = "x"}));
  const auto before = mail.stats({.count_to = 5});
  clock.advance(1s);
  const auto rates = rates_between(before, mail.stats({.count_to = 5}));
  EXPECT_TRUE(rates.enqueued);
  EXPECT_FALSE(rates.left);
}

class stats_rights : public on_each_backend {};
TABLEQ_ON_BACKENDS(stats_rights, shared_backends);

TEST_P(stats_rights, need_none_but_to_read_the_table_and_those_of_tableq) {
  // Its rights do not include tables that are created later.
  const auto url = here().url_without_ddl_rights();
  if (!url) GTEST_SKIP() << "users of this database have no rights of their own";
  const tableq::message_id id = db().fifo("mail").enqueue("x");
  static_cast<void>(db().claim("jobs").enqueue("x"));
  for (const std::string table : {"mail", "jobs", "tableq_queues", "tableq_limits"}) {
    here().sql("GRANT SELECT ON " + table + " TO PUBLIC");
  }
  auto reader = tableq::database::open(*url, {.schema = tableq::schema_policy::verify_only});
  EXPECT_EQ(reader.fifo("mail").stats().waiting, 1U);
  EXPECT_EQ(reader.fifo("mail").stats().last_id, id);
  EXPECT_EQ(reader.claim("jobs").stats().ready, 1U);
}

}  // namespace
