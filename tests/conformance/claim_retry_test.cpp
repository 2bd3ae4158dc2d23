#include <gtest/gtest.h>

#include "claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class claim_retry : public claim_test {
 protected:
  tableq::claim_queue resting(const tableq::retry_delays& retry) {
    return db_with_clock().claim("jobs", {.max_attempts = 10, .retry = retry});
  }
};
TABLEQ_ON_BACKENDS(claim_retry, all_backends);

TEST_P(claim_retry, belongs_to_the_queue_and_is_there_when_it_is_opened_again) {
  resting(tableq::retry_delays::exponential(1s, 4s, 0)).enqueue("work");
  auto again = db_with_clock().claim("jobs");
  EXPECT_EQ(again.fail(take_one(again).receipt, "no"), tableq::settle_result::applied);
  EXPECT_TRUE(again.take(1).empty());
  clock.advance(1s);
  EXPECT_EQ(again.fail(take_one(again).receipt, "no"), tableq::settle_result::applied);
  clock.advance(1s);
  EXPECT_TRUE(again.take(1).empty());
  clock.advance(1s);
  EXPECT_EQ(take_one(again).attempt, 3);
  const auto known = db_with_clock().queues();
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].retry, tableq::retry_delays::exponential(1s, 4s, 0));
}

TEST_P(claim_retry, without_delays_is_at_once) {
  std::vector<tableq::claim_options> none(2);
  none[0].retry = {};
  none[1].retry = tableq::retry_delays::none();
  for (std::size_t i = 0; i < none.size(); ++i) {
    auto queue = db_with_clock().claim("jobs" + std::to_string(i), none[i]);
    queue.enqueue("work");
    EXPECT_EQ(queue.fail(take_one(queue).receipt, "no"), tableq::settle_result::applied);
    EXPECT_EQ(take_one(queue).attempt, 2);
    EXPECT_EQ(db_with_clock().find(queue.name())->retry, tableq::retry_delays::none());
  }
}

TEST_P(claim_retry, of_a_new_queue_rests_longer_after_each_failure) {
  auto queue = db_with_clock().claim("jobs", {.max_attempts = 6});
  EXPECT_EQ(db_with_clock().find("jobs")->retry, tableq::retry_delays::usual());
  queue.enqueue("work");
  for (const std::chrono::milliseconds rest : {1000ms, 5000ms, 30'000ms, 300'000ms, 300'000ms}) {
    EXPECT_EQ(queue.fail(take_one(queue), "no"), tableq::settle_result::applied);
    clock.advance(rest * 4 / 5 - 1ms);
    EXPECT_TRUE(queue.take(1).empty()) << rest.count();
    clock.advance(rest * 2 / 5 + 1ms);
  }
  EXPECT_EQ(take_one(queue).attempt, 6);
}

TEST_P(claim_retry, of_a_dead_letter_queue_made_with_its_queue_rests_too) {
  static_cast<void>(db_with_clock().claim("jobs", {.retry = {}, .dead_letters = "morgue"}));
  EXPECT_EQ(db_with_clock().find("jobs")->retry, tableq::retry_delays::none());
  EXPECT_EQ(db_with_clock().find("morgue")->retry, tableq::retry_delays::usual());
}

TEST_P(claim_retry, of_a_queue_stored_without_delays_stays_at_once) {
  if (!can().shared) GTEST_SKIP() << "the place ends with its database object";
  db_with_clock().claim("jobs").enqueue("work");
  // As older versions have written it.
  here().sql(
      "UPDATE tableq_queues SET options = 'lease_ms=30000 max_attempts=5 keep=0' WHERE "
      "name = 'jobs'");
  tableq::database later = open({.clock = clock.source()});
  auto queue = later.claim("jobs");
  EXPECT_EQ(later.find("jobs")->retry, tableq::retry_delays::none());
  EXPECT_EQ(queue.fail(take_one(queue), "no"), tableq::settle_result::applied);
  EXPECT_EQ(take_one(queue).attempt, 2);
}

TEST_P(claim_retry, with_jitter_stays_within_its_bounds_and_differs) {
  auto queue = resting({.after = {1000s}, .jitter = 50});
  std::vector<tableq::new_claim_message> batch(20, {.payload = "work"});
  queue.enqueue_batch(batch);
  std::vector<tableq::failure> failures;
  const auto taken = queue.take(20);
  ASSERT_EQ(taken.size(), 20U);
  for (const auto& each : taken) failures.push_back({.receipt = each.receipt, .error = "no"});
  for (const tableq::settle_result each : queue.fail_batch(failures))
    EXPECT_EQ(each, tableq::settle_result::applied);
  clock.advance(499s);
  EXPECT_TRUE(queue.take(20).empty());
  clock.advance(501s);
  const std::size_t early = queue.take(20).size();
  EXPECT_GT(early, 0U) << "one chance in a million to be wrong";
  EXPECT_LT(early, 20U) << "the same";
  clock.advance(501s);
  EXPECT_GE(queue.take(40).size(), 20U - early);
}

TEST_P(claim_retry, out_of_range_is_refused) {
  EXPECT_CODE(invalid_argument, static_cast<void>(resting({.after = {-1ms}})));
  EXPECT_CODE(invalid_argument, static_cast<void>(resting({.after = {1s}, .jitter = 101})));
  EXPECT_CODE(invalid_argument, static_cast<void>(resting({.after = {1s}, .jitter = -1})));
  const std::vector<std::chrono::milliseconds> many(33, 1s);
  EXPECT_CODE(invalid_argument, static_cast<void>(resting({.after = many})));
  EXPECT_TRUE(db_with_clock().queues().empty());
}

}  // namespace
