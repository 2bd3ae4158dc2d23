#include <gtest/gtest.h>

#include "conformance/claim_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::enqueue_result;
using tableq::key_scope;
using tableq::on_duplicate;
using tableq::settle_result;

class claim_duplicate : public claim_test {};
TABLEQ_ON_BACKENDS(claim_duplicate, all_backends);

TEST_P(claim_duplicate, rejected_is_an_error_and_stores_nothing_of_the_call) {
  jobs().enqueue("first", {.key = "k"});
  const std::vector<tableq::new_claim_message> batch = {
      {.payload = "a"},
      {.payload = "b", .options = {.key = "k", .on_duplicate = on_duplicate::reject}}};
  EXPECT_CODE(duplicate_key, jobs().enqueue_batch(batch));
  EXPECT_EQ(jobs().stats().ready, 1U);
  EXPECT_EQ(jobs().enqueue("c", {.key = "other", .on_duplicate = on_duplicate::reject}).result,
            enqueue_result::added);
}

TEST_P(claim_duplicate, rejected_in_a_transaction_leaves_nothing_to_commit) {
  jobs().enqueue("first", {.key = "k"});
  tableq::transaction tx = db_with_clock().begin();
  jobs().in(tx).enqueue("x");
  EXPECT_CODE(duplicate_key,
              jobs().in(tx).enqueue("y", {.key = "k", .on_duplicate = on_duplicate::reject}));
  EXPECT_CODE(invalid_argument, tx.commit());
  tx.rollback();
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(claim_duplicate, the_last_of_many_in_one_batch_replaces_the_others) {
  std::vector<tableq::new_claim_message> batch;
  for (int i = 0; i < 12; ++i) {
    batch.push_back({.payload = "payload " + std::to_string(i),
                     .options = {.key = "k", .on_duplicate = on_duplicate::replace}});
  }
  const auto results = jobs().enqueue_batch(batch);
  EXPECT_EQ(results.at(0).result, enqueue_result::added);
  for (std::size_t i = 1; i < batch.size(); ++i) {
    EXPECT_EQ(results.at(i).result, enqueue_result::replaced) << i;
    EXPECT_EQ(results.at(i).id, results.at(0).id) << i;
  }
  EXPECT_EQ(jobs().take(9).at(0).payload, "payload 11");
}

/// Keys that are held shorter or longer.
class claim_key_scope : public claim_test {};
TABLEQ_ON_BACKENDS(claim_key_scope, all_backends);

TEST_P(claim_key_scope, a_window_keeps_nothing_but_the_key_and_not_for_ever) {
  auto queue = db_with_clock().claim("orders", {.key_window = 60s});
  for (int i = 0; i < 30; ++i) queue.enqueue("payload", {.key = "k" + std::to_string(i)});
  queue.enqueue("without key");
  std::vector<tableq::receipt> receipts;
  for (const auto& each : queue.take(100)) receipts.push_back(each.receipt);
  for (const settle_result each : queue.complete_batch(receipts))
    EXPECT_EQ(each, settle_result::applied);
  for (const settle_result each : queue.complete_batch(receipts))
    EXPECT_EQ(each, settle_result::lease_lost);
  const auto stays = queue.list(tableq::message_state::done);
  ASSERT_EQ(stays.size(), 30U);
  EXPECT_EQ(stays[0].payload, "");
  EXPECT_EQ(stays[0].key, "k0");
  clock.advance(60s);
  for (int i = 0; i < 4; ++i) queue.enqueue("x", {.key = "new" + std::to_string(i)});
  EXPECT_EQ(queue.stats().done, 0U);
}

TEST_P(claim_key_scope, a_window_that_is_altered_away_still_ends) {
  auto queue = db_with_clock().claim("orders", {.key_window = 60s});
  queue.enqueue("1", {.key = "k"});
  EXPECT_EQ(queue.complete(take_one(queue).receipt), settle_result::applied);
  db_with_clock().alter("orders", {.key_window = 0ms});
  queue = db_with_clock().claim("orders", {.key_window = 0ms});
  clock.advance(60s);
  EXPECT_TRUE(queue.enqueue("2", {.key = "k"}).created());
  EXPECT_EQ(queue.complete(take_one(queue).receipt), settle_result::applied);
  EXPECT_TRUE(queue.enqueue("3", {.key = "k"}).created());
}

TEST_P(claim_key_scope, is_fixed_when_the_queue_is_created) {
  (void)db_with_clock().claim("index", {.keys = key_scope::waiting});
  EXPECT_CODE(options_mismatch, (void)db_with_clock().claim("index", {.keys = key_scope::active}));
  EXPECT_CODE(options_mismatch, (void)db_with_clock().claim("index", {.key_window = 1s}));
  EXPECT_EQ(db_with_clock().queues().at(0).keys, key_scope::waiting);
  EXPECT_CODE(invalid_argument,
              (void)db_with_clock().claim("both", {.keys = key_scope::waiting, .key_window = 1s}));
}

}  // namespace
