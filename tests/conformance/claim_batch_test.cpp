#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class claim_batch : public claim_test {
 protected:
  /// Twelve receipts; the lease of every third one was lost.
  std::vector<tableq::receipt> some_lost() {
    for (const std::string& each : numbered(12)) jobs().enqueue(each);
    std::vector<tableq::receipt> receipts;
    for (const auto& each : jobs().take(12)) receipts.push_back(each.receipt);
    EXPECT_EQ(receipts.size(), 12U);
    for (std::size_t i = 0; i < receipts.size(); i += 3) {
      EXPECT_EQ(jobs().complete(receipts[i]), settle_result::applied);
    }
    return receipts;
  }
  static std::vector<settle_result> expected() {
    std::vector<settle_result> out;
    for (int i = 0; i < 12; ++i)
      out.push_back(i % 3 == 0 ? settle_result::lease_lost : settle_result::applied);
    return out;
  }
};
TABLEQ_ON_BACKENDS(claim_batch, all_backends);

TEST_P(claim_batch, complete_answers_per_item_and_in_order) {
  EXPECT_EQ(jobs().complete_batch(some_lost()), expected());
  EXPECT_EQ(jobs().stats().leased, 0U);
}

TEST_P(claim_batch, release_answers_per_item_and_in_order) {
  EXPECT_EQ(jobs().release_batch(some_lost()), expected());
  EXPECT_EQ(jobs().stats().ready, 8U);
}

TEST_P(claim_batch, extend_answers_per_item_and_in_order) {
  EXPECT_EQ(jobs().extend_batch(some_lost(), 2h), expected());
  clock.advance(2h - 1ms);
  EXPECT_TRUE(jobs().take(1).empty());
  clock.advance(1ms);
  EXPECT_EQ(jobs().take(100).size(), 8U);
}

TEST_P(claim_batch, fail_answers_per_item_and_in_order) {
  std::vector<tableq::failure> failures;
  std::vector<std::string> texts = numbered(12, "error ");
  const auto receipts = some_lost();
  for (std::size_t i = 0; i < receipts.size(); ++i) {
    failures.push_back({.receipt = receipts[i],
                        .error = texts[i],
                        .options = {.delay = std::chrono::seconds(i % 2)}});
  }
  EXPECT_EQ(jobs().fail_batch(failures), expected());
  EXPECT_EQ(jobs().stats().ready, 4U);
  EXPECT_EQ(jobs().stats().delayed, 4U);
  clock.advance(1s);
  for (const auto& each : jobs().peek(20)) {
    ASSERT_EQ(each.errors.size(), 1U);
    EXPECT_EQ(each.errors[0].error, "error " + each.payload.substr(1));
  }
}

TEST_P(claim_batch, of_many_answers_for_the_receipt_that_is_stale_and_the_one_that_comes_twice) {
  for (const bool in_transaction : {false, true}) {
    for (const std::string& each : numbered(100)) jobs().enqueue(each);
    std::vector<tableq::receipt> receipts;
    for (const auto& each : jobs().take(100)) receipts.push_back(each.receipt);
    ASSERT_EQ(receipts.size(), 100U);
    EXPECT_EQ(jobs().complete(receipts[70]), settle_result::applied);
    receipts.push_back(receipts[30]);
    std::vector wanted(101, settle_result::applied);
    wanted[70] = wanted[100] = settle_result::lease_lost;
    if (in_transaction) {
      auto tx = db_with_clock().begin();
      jobs().in(tx).enqueue("before");
      EXPECT_EQ(jobs().in(tx).complete_batch(receipts), wanted);
      tx.commit();
      EXPECT_EQ(take_one().payload, "before");
    } else {
      EXPECT_EQ(jobs().complete_batch(receipts), wanted);
    }
    EXPECT_EQ(jobs().stats().ready, 0U);
    EXPECT_EQ(jobs().stats().leased, in_transaction ? 1U : 0U);
  }
}

TEST_P(claim_batch, answers_for_each_of_several_receipts_of_one_message) {
  const std::vector wanted{settle_result::lease_lost, settle_result::applied,
                           settle_result::lease_lost};
  // Which fence is higher, is chance.
  for (int i = 0; i < 8; ++i) {
    jobs().enqueue("work");
    tableq::receipt undone;
    {
      auto tx = db_with_clock().begin();
      undone = jobs().in(tx).take(1).at(0).receipt;
    }
    const tableq::receipt held = take_one().receipt;
    const std::vector<tableq::receipt> all{undone, held, undone};
    EXPECT_EQ(jobs().extend_batch(all, 1h), wanted);
    if (i % 2 == 0) {
      EXPECT_EQ(jobs().complete_batch(all), wanted);
      continue;
    }
    auto tx = db_with_clock().begin();
    EXPECT_EQ(jobs().in(tx).complete_batch(all), wanted);
    tx.commit();
  }
}

TEST_P(claim_batch, of_several_takes_completes_by_no_stale_receipt) {
  for (const std::string& each : numbered(10)) jobs().enqueue(each);
  const auto before = jobs().take(10);
  clock.advance(1h);
  std::vector<tableq::delivery> now = jobs().take(5);
  std::ranges::move(jobs().take(5), std::back_inserter(now));
  ASSERT_EQ(now.size(), 10U);
  std::vector wanted(10, settle_result::lease_lost);
  EXPECT_EQ(jobs().complete_batch(before), wanted);
  EXPECT_EQ(jobs().stats().leased, 10U);
  now[3].receipt = before.at(3).receipt;
  wanted.assign(10, settle_result::applied);
  wanted[3] = settle_result::lease_lost;
  EXPECT_EQ(jobs().complete_batch(now), wanted);
  EXPECT_EQ(jobs().stats().leased, 1U);
}

TEST_P(claim_batch, extends_a_lease_that_is_given_twice) {
  jobs().enqueue("a");
  const auto taken = jobs().take_one();
  ASSERT_TRUE(taken);
  const std::vector twice{taken->receipt, taken->receipt};
  const std::vector both(2, settle_result::applied);
  EXPECT_EQ(jobs().extend_batch(twice, 1h), both);
  auto tx = db_with_clock().begin();
  EXPECT_EQ(jobs().in(tx).extend_batch(twice, 2h), both);
  tx.commit();
}

TEST_P(claim_batch, of_payloads_alone_stores_what_a_batch_with_an_option_stores) {
  std::vector<tableq::new_claim_message> batch;
  for (const std::string& each : numbered(20)) batch.push_back({.payload = each});
  auto ids = jobs().enqueue_batch(batch);
  batch.back().options.priority = -1;
  for (const auto& each : jobs().enqueue_batch(batch)) ids.push_back(each);
  const auto stored = jobs().peek(40);
  ASSERT_EQ(stored.size(), 40U);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    EXPECT_EQ(stored[i].id, ids[i].id);
    EXPECT_EQ(ids[i].result, tableq::enqueue_result::added);
    EXPECT_EQ(stored[i].payload, batch[i % 20].payload);
    EXPECT_EQ(stored[i].created_at, clock.now());
    EXPECT_EQ(stored[i].state, tableq::message_state::ready);
    EXPECT_FALSE(stored[i].due_at || stored[i].key || stored[i].group || stored[i].expires_at);
    EXPECT_EQ(stored[i].priority, i < 39 ? 0 : -1);
  }
}

TEST_P(claim_batch, of_payloads_alone_has_the_ids_of_its_messages_although_a_trigger_adds_others) {
  jobs().enqueue("before");
  const std::string again = "INSERT INTO jobs (payload, priority) VALUES (NEW.payload, 1)";
  const bool triggered =
      can().shared && (here().takes("CREATE TRIGGER twice AFTER INSERT ON jobs WHEN NEW.priority = "
                                    "0 BEGIN " +
                                    again + "; END") ||
                       (here().takes("CREATE FUNCTION twice() RETURNS trigger LANGUAGE plpgsql AS "
                                     "$$ BEGIN " +
                                     again + "; RETURN NULL; END $$") &&
                        here().takes("CREATE TRIGGER twice AFTER INSERT ON jobs FOR EACH ROW WHEN "
                                     "(NEW.priority = 0) EXECUTE FUNCTION twice()")));
  if (!triggered) GTEST_SKIP() << "no such triggers here";
  std::vector<tableq::new_claim_message> batch;
  const std::vector<std::string> texts = numbered(30);
  for (const std::string& each : texts) batch.push_back({.payload = each});
  const auto ids = jobs().enqueue_batch(batch);
  ASSERT_EQ(ids.size(), 30U);
  std::map<tableq::message_id, tableq::stored_message> stored;
  for (const auto& each : jobs().peek(100)) stored.insert_or_assign(each.id, each);
  EXPECT_EQ(stored.size(), 61U);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(stored.at(ids[i].id).payload, texts[i]);
    EXPECT_EQ(stored.at(ids[i].id).priority, 0);
  }
}

TEST_P(claim_batch, of_nothing_does_nothing) {
  EXPECT_TRUE(jobs().enqueue_batch({}).empty());
  EXPECT_TRUE(jobs().complete_batch(std::vector<tableq::receipt>{}).empty());
  EXPECT_TRUE(jobs().release_batch(std::vector<tableq::receipt>{}).empty());
  EXPECT_TRUE(jobs().extend_batch(std::vector<tableq::receipt>{}, 1s).empty());
  EXPECT_TRUE(jobs().fail_batch(std::vector<tableq::failure>{}).empty());
  EXPECT_TRUE(db_with_clock().fifo("mail").enqueue_batch({}).empty());
  EXPECT_TRUE(db_with_clock().pending("later").enqueue_batch({}).empty());
}

TEST_P(claim_batch, of_many_is_whole) {
  std::vector<tableq::new_claim_message> many;
  const std::vector<std::string> texts = numbered(5000);
  for (const std::string& each : texts) {
    many.push_back({.payload = each, .options = {.headers = {{"n", each}}}});
  }
  const auto results = jobs().enqueue_batch(many);
  ASSERT_EQ(results.size(), 5000U);
  const auto taken = jobs().take(10'000);
  ASSERT_EQ(taken.size(), 5000U);
  std::vector<tableq::receipt> receipts;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    ASSERT_EQ(taken[i].receipt.id, results[i].id);
    ASSERT_EQ(taken[i].payload, texts[i]);
    ASSERT_EQ(taken[i].headers.at("n"), texts[i]);
    receipts.push_back(taken[i].receipt);
  }
  EXPECT_EQ(jobs().complete_batch(receipts),
            std::vector<settle_result>(5000, settle_result::applied));
}

}  // namespace
