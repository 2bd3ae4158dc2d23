#include <gtest/gtest.h>

#include <functional>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class claim_settle : public claim_test {
 protected:
  /// Every way to settle with one receipt.
  std::vector<std::pair<std::string, std::function<settle_result(const tableq::receipt&)>>> ways() {
    return {{"complete", [this](const auto& r) { return jobs().complete(r); }},
            {"fail", [this](const auto& r) { return jobs().fail(r, "stale"); }},
            {"release", [this](const auto& r) { return jobs().release(r); }},
            {"extend", [this](const auto& r) { return jobs().extend(r, 1h); }}};
  }
};
TABLEQ_ON_BACKENDS(claim_settle, all_backends);

TEST_P(claim_settle, stale_receipt_does_not_complete) {
  jobs().enqueue("work");
  const auto stale = take_one();
  clock.advance(jobs().lease());
  const auto fresh = take_one();
  for (const auto& [name, settle] : ways()) {
    EXPECT_EQ(settle(stale.receipt), settle_result::lease_lost) << name;
  }
  EXPECT_EQ(jobs().stats().leased, 1U);
  EXPECT_EQ(jobs().complete(fresh.receipt), settle_result::applied);
}

TEST_P(claim_settle, an_expired_lease_still_settles_while_nobody_took_the_message) {
  jobs().enqueue("work");
  const auto late = take_one();
  clock.advance(24h);
  EXPECT_EQ(jobs().complete(late.receipt), settle_result::applied);
  EXPECT_TRUE(jobs().take(1).empty());
}

TEST_P(claim_settle, receipts_made_up_or_altered_match_nothing) {
  jobs().enqueue("work");
  const auto taken = take_one();
  for (const std::int64_t off : {-1, 1, 1000}) {
    tableq::receipt altered = taken.receipt;
    altered.fence += off;
    for (const auto& [name, settle] : ways()) {
      EXPECT_EQ(settle(altered), settle_result::lease_lost) << name;
    }
    altered = taken.receipt;
    altered.id.value += off;
    for (const auto& [name, settle] : ways()) {
      EXPECT_EQ(settle(altered), settle_result::lease_lost) << name;
    }
  }
  EXPECT_EQ(jobs().complete(taken.receipt), settle_result::applied);
}

TEST_P(claim_settle, a_receipt_is_a_value_that_another_handle_may_use) {
  jobs().enqueue("work");
  const tableq::receipt sent = take_one().receipt;
  const tableq::receipt read{.id = {sent.id.value}, .fence = sent.fence, .queue = sent.queue};
  EXPECT_EQ(db_with_clock().claim("jobs").complete(read), settle_result::applied);
}

TEST_P(claim_settle, receipt_of_another_queue_is_refused) {
  auto other = db_with_clock().claim("other");
  other.enqueue("theirs");
  jobs().enqueue("ours");
  const auto ours = take_one();
  const auto theirs = take_one(other);
  for (const auto& way : ways()) {
    EXPECT_CODE(invalid_argument, static_cast<void>(way.second(theirs.receipt))) << way.first;
  }
  const std::vector<tableq::receipt> mixed = {ours.receipt, theirs.receipt};
  EXPECT_CODE(invalid_argument, static_cast<void>(jobs().complete_batch(mixed)));
  EXPECT_CODE(invalid_argument, static_cast<void>(jobs().release_batch(mixed)));
  EXPECT_CODE(invalid_argument, static_cast<void>(jobs().extend_batch(mixed, 1h)));
  const std::vector<tableq::failure> failures = {{.receipt = ours.receipt, .error = "a"},
                                                 {.receipt = theirs.receipt, .error = "b"}};
  EXPECT_CODE(invalid_argument, static_cast<void>(jobs().fail_batch(failures)));
  EXPECT_EQ(jobs().complete(ours.receipt), settle_result::applied);
  EXPECT_EQ(other.complete(theirs.receipt), settle_result::applied);
}

TEST_P(claim_settle, a_dropped_and_recreated_queue_refuses_old_receipts) {
  jobs().enqueue("old");
  const auto old = take_one();
  EXPECT_TRUE(db_with_clock().drop("jobs"));
  auto again = db_with_clock().claim("jobs");
  again.enqueue("new");
  const auto fresh = take_one(again);
  EXPECT_NE(old.receipt.queue, fresh.receipt.queue);
  EXPECT_CODE(invalid_argument, static_cast<void>(again.complete(old.receipt)));
  EXPECT_EQ(again.complete(fresh.receipt), settle_result::applied);
}

TEST_P(claim_settle, fail_with_a_delay_waits_that_long) {
  jobs().enqueue("work");
  EXPECT_EQ(jobs().fail(take_one().receipt, "later", {.delay = 1min}), settle_result::applied);
  EXPECT_EQ(jobs().stats().delayed, 1U);
  clock.advance(1min - 1ms);
  EXPECT_TRUE(jobs().take(1).empty());
  clock.advance(1ms);
  EXPECT_EQ(take_one().attempt, 2);
}

TEST_P(claim_settle, release_does_not_count_the_attempt) {
  jobs().enqueue("work");
  for (int i = 0; i < 20; ++i) {
    const auto taken = take_one();
    EXPECT_EQ(taken.attempt, 1);
    EXPECT_EQ(jobs().release(taken.receipt), settle_result::applied);
  }
  EXPECT_EQ(jobs().stats().ready, 1U);
  EXPECT_EQ(jobs().stats().dead, 0U);
}

TEST_P(claim_settle,
       a_receipt_of_a_take_that_was_rolled_back_leaves_a_valid_one_in_its_batch_alone) {
  auto jobs = db().claim("jobs");
  // Half of the rolled-back fences are higher than the valid ones.
  constexpr std::size_t messages = 20;
  jobs.enqueue_batch(std::vector<tableq::new_claim_message>(messages, {"x"}));
  std::vector<tableq::receipt> receipts;
  {
    auto tx = db().begin();
    for (const auto& each : jobs.in(tx).take(messages)) receipts.push_back(each.receipt);
    tx.rollback();
  }
  for (const auto& each : jobs.take(messages)) receipts.push_back(each.receipt);
  ASSERT_EQ(receipts.size(), 2 * messages);
  std::vector<settle_result> expected(messages, settle_result::lease_lost);
  expected.resize(2 * messages, settle_result::applied);
  EXPECT_EQ(jobs.complete_batch(receipts), expected);
  EXPECT_EQ(jobs.stats().leased, 0U);
}

TEST_P(claim_settle, keep_keeps_what_is_done_with_the_time_it_finished) {
  auto kept = db_with_clock().claim("kept", {.keep_completed = true});
  EXPECT_TRUE(kept.enqueue("work", {.headers = {{"a", "b"}}, .key = "k"}).created());
  const auto taken = take_one(kept);
  clock.advance(3s);
  EXPECT_EQ(kept.complete(taken.receipt), settle_result::applied);
  EXPECT_EQ(kept.complete(taken.receipt), settle_result::lease_lost);
  EXPECT_EQ(kept.release(taken.receipt), settle_result::lease_lost);
  const auto done = kept.list(tableq::message_state::done);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, tableq::message_state::done);
  EXPECT_EQ(done[0].payload, "work");
  EXPECT_EQ(done[0].finished_at, clock.now());
  EXPECT_EQ(done[0].headers, (tableq::headers{{"a", "b"}}));
  EXPECT_EQ(done[0].attempts, 1);
  clock.advance(24h);
  EXPECT_TRUE(kept.take(1).empty());
}

}  // namespace
