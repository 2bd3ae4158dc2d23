#include <gtest/gtest.h>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class claim_take : public claim_test {};
TABLEQ_ON_BACKENDS(claim_take, all_backends);

TEST_P(claim_take, hands_out_everything_that_was_enqueued_with_it) {
  const tableq::headers headers = {
      {"type", "mail"}, {"na\xC3\xAFve", "v\xC3\xA4l\"ue\\"}, {"empty", ""}};
  const tableq::timestamp said{1'234'567'890'123ms};
  const tableq::timestamp run{987'654'321ms};
  const auto sent = jobs().enqueue(
      "work", {.priority = -7, .headers = headers, .key = "a key", .created_at = said});
  EXPECT_TRUE(sent.created());
  const auto taken = jobs().take(5, {.lease = 90s, .claimed_at = run});
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].receipt.id, sent.id);
  EXPECT_EQ(taken[0].receipt.queue, db().find("jobs")->identity);
  EXPECT_EQ(taken[0].payload, "work");
  EXPECT_EQ(taken[0].headers, headers);
  EXPECT_EQ(taken[0].key, "a key");
  EXPECT_EQ(taken[0].priority, -7);
  EXPECT_EQ(taken[0].attempt, 1);
  EXPECT_EQ(taken[0].created_at, said);
  EXPECT_EQ(taken[0].claimed_at, run);
  EXPECT_EQ(taken[0].lease_until, clock.now() + 90s);
}

TEST_P(claim_take, leaves_out_what_was_not_given) {
  jobs().enqueue("work");
  const auto taken = take_one();
  EXPECT_TRUE(taken.headers.empty());
  EXPECT_FALSE(taken.key);
  EXPECT_EQ(taken.priority, 0);
  EXPECT_FALSE(taken.claimed_at);
  EXPECT_EQ(taken.lease_until, clock.now() + jobs().lease());
}

TEST_P(claim_take, takes_up_to_max_and_nobody_gets_them_again) {
  for (const std::string& each : numbered(10)) jobs().enqueue(each);
  EXPECT_EQ(payloads_of(jobs().take(4)), (std::vector<std::string>{"p0", "p1", "p2", "p3"}));
  EXPECT_EQ(payloads_of(jobs().take(4)), (std::vector<std::string>{"p4", "p5", "p6", "p7"}));
  EXPECT_EQ(jobs().take(4).size(), 2U);
  EXPECT_TRUE(jobs().take(4).empty());
  EXPECT_EQ(jobs().stats().leased, 10U);
}

TEST_P(claim_take, prefers_a_delayed_message_of_higher_priority_once_it_is_due) {
  jobs().enqueue("plain");
  EXPECT_TRUE(jobs().enqueue("urgent later", {.priority = 5, .delay = 1s}).created());
  clock.advance(1s);
  EXPECT_EQ(take_one().payload, "urgent later");
  EXPECT_EQ(take_one().payload, "plain");
}

TEST_P(claim_take, expired_lease_is_taken_again_without_a_sweeper) {
  jobs().enqueue("work");
  const auto first = take_one();
  clock.advance(jobs().lease() - 1ms);
  EXPECT_TRUE(jobs().take(1).empty());
  clock.advance(1ms);
  const auto second = take_one();
  EXPECT_EQ(second.receipt.id, first.receipt.id);
  EXPECT_EQ(second.payload, "work");
  EXPECT_EQ(second.attempt, 2);
  EXPECT_GT(second.receipt.fence, first.receipt.fence);
}

TEST_P(claim_take, claimed_at_is_of_the_last_take_and_decides_nothing) {
  jobs().enqueue("work");
  const tableq::timestamp far_past{1ms};
  EXPECT_EQ(jobs().take(1, {.claimed_at = far_past}).size(), 1U);
  EXPECT_TRUE(jobs().take(1).empty());
  clock.advance(jobs().lease());
  const auto again = jobs().take(1, {.claimed_at = tableq::timestamp{2ms}});
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].claimed_at, tableq::timestamp{2ms});
}

TEST_P(claim_take, a_message_that_only_expires_is_dead_in_the_end) {
  jobs().enqueue("poison");
  for (int attempt = 1; attempt <= jobs().max_attempts(); ++attempt) {
    EXPECT_EQ(take_one().attempt, attempt);
    clock.advance(jobs().lease());
  }
  EXPECT_TRUE(jobs().take(1).empty());
  EXPECT_EQ(jobs().stats().dead, 1U);
  const auto dead = jobs().list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].payload, "poison");
  EXPECT_EQ(dead[0].attempts, jobs().max_attempts());
}

TEST_P(claim_take, of_many_due_messages_is_one_of_the_first_2000) {
  const std::vector<tableq::new_claim_message> many(2000,
                                                    {.payload = "first", .options = {.delay = 1s}});
  jobs().enqueue_batch(many);
  jobs().enqueue("urgent", {.priority = 9, .delay = 2s});
  clock.advance(2s);
  EXPECT_EQ(take_one().payload, "first");
  EXPECT_EQ(take_one().payload, "urgent");
}

TEST_P(claim_take, finds_the_message_behind_2000_that_die) {
  const std::vector<tableq::new_claim_message> many(
      2000, {.payload = "late", .options = {.delay = 1s, .time_to_live = 1s}});
  jobs().enqueue_batch(many);
  jobs().enqueue("good", {.delay = 2s});
  clock.advance(2s);
  EXPECT_EQ(take_one().payload, "good");
}

TEST_P(claim_take, ids_are_never_used_twice) {
  const auto first = jobs().enqueue("a").id;
  EXPECT_EQ(jobs().complete(take_one().receipt), tableq::settle_result::applied);
  const auto second = jobs().enqueue("b").id;
  EXPECT_LT(first, second);
}

}  // namespace
