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

TEST_P(claim_duplicate, replaced_has_the_new_payload_in_the_old_place) {
  const auto first = jobs().enqueue("old", {.headers = {{"v", "1"}}, .key = "k"});
  jobs().enqueue("next");
  const auto second = jobs().enqueue(
      "new", {.headers = {{"v", "2"}}, .key = "k", .on_duplicate = on_duplicate::replace});
  EXPECT_EQ(second.result, enqueue_result::replaced);
  EXPECT_EQ(second.id, first.id);
  const auto taken = take_one();
  EXPECT_EQ(taken.payload, "new");
  EXPECT_EQ(taken.headers.at("v"), "2");
  EXPECT_EQ(taken.key, "k");
  EXPECT_EQ(take_one().payload, "next");
}

TEST_P(claim_duplicate, postponed_comes_when_there_has_been_quiet_for_so_long) {
  const tableq::claim_enqueue_options debounced = {
      .delay = 10s, .key = "k", .on_duplicate = on_duplicate::postpone};
  EXPECT_EQ(jobs().enqueue("1", debounced).result, enqueue_result::added);
  for (const char* later : {"2", "3", "4"}) {
    clock.advance(9s);
    EXPECT_EQ(jobs().enqueue(later, debounced).result, enqueue_result::postponed);
    EXPECT_TRUE(jobs().take(1).empty());
  }
  clock.advance(10s);
  EXPECT_EQ(take_one().payload, "4");
  EXPECT_TRUE(jobs().take(1).empty());
}

TEST_P(claim_duplicate, within_a_batch_the_policies_apply_in_order) {
  const std::vector<tableq::new_claim_message> batch = {
      {.payload = "1", .options = {.key = "k"}},
      {.payload = "2", .options = {.key = "k"}},
      {.payload = "3", .options = {.key = "k", .on_duplicate = on_duplicate::replace}},
      {.payload = "4", .options = {.key = "j", .on_duplicate = on_duplicate::replace}},
      {.payload = "5", .options = {.key = "k", .on_duplicate = on_duplicate::replace}},
      {.payload = "6"}};
  const auto results = jobs().enqueue_batch(batch);
  const std::vector<enqueue_result> expected = {
      enqueue_result::added, enqueue_result::kept_first, enqueue_result::replaced,
      enqueue_result::added, enqueue_result::replaced,   enqueue_result::added};
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(results[i].result, expected[i]) << i;
  EXPECT_EQ(results[4].id, results[0].id);
  std::vector<std::string> payloads;
  for (const auto& each : jobs().take(10)) payloads.push_back(each.payload);
  EXPECT_EQ(payloads, (std::vector<std::string>{"5", "4", "6"}));
}

/// Keys that are held shorter or longer.
class claim_key_scope : public claim_test {};
TABLEQ_ON_BACKENDS(claim_key_scope, all_backends);

TEST_P(claim_key_scope, waiting_frees_the_key_with_the_first_take) {
  auto queue = db_with_clock().claim("index", at_once({.keys = key_scope::waiting}));
  EXPECT_TRUE(queue.enqueue("1", {.key = "k"}).created());
  EXPECT_FALSE(queue.enqueue("2", {.key = "k"}).created());
  const auto mine = take_one(queue);
  EXPECT_EQ(mine.key, "k") << "what it was is still told";
  EXPECT_TRUE(queue.enqueue("3", {.key = "k"}).created());
  EXPECT_EQ(queue.fail(mine.receipt, "no"), settle_result::applied);
  EXPECT_EQ(take_one(queue).key, "k");
  EXPECT_EQ(take_one(queue).payload, "3");
}

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
