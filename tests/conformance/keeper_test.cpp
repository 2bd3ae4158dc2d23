#include <gtest/gtest.h>

#include <vector>

#include "support/fixture.hpp"
#include "support/readable.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

bool tells(const tableq::keeper& keeper, std::chrono::milliseconds longest = 0ms) {
  return tableq_test::readable(keeper.descriptor(), longest);
}

class keepers : public on_each_backend {
 protected:
  tableq::claim_queue filled() {
    auto jobs = db().claim("jobs");
    jobs.enqueue("work");
    return jobs;
  }
};
TABLEQ_ON_BACKENDS(keepers, all_backends);

TEST_P(keepers, extends_a_lease_until_the_message_is_settled) {
  auto jobs = filled();
  tableq::keeper keeps(db());
  const auto taken = jobs.take_one({.lease = 600ms});
  ASSERT_TRUE(taken);
  keeps.add(jobs, *taken, 600ms);
  // Until a take would have made it ready again, twice.
  while (jobs.get(taken->receipt.id)->due_at < taken->lease_until + 600ms) {
    ASSERT_FALSE(tells(keeps, 10ms));
  }
  EXPECT_FALSE(jobs.take_one());
  EXPECT_EQ(keeps.size(), 1U);
  EXPECT_EQ(jobs.complete(*taken), tableq::settle_result::applied);
  EXPECT_EQ(keeps.size(), 0U);
  EXPECT_TRUE(keeps.lost().empty());
}

TEST_P(keepers, extends_many_messages_with_leases_of_different_lengths) {
  auto jobs = db().claim("jobs");
  auto others = db().claim("others");
  tableq::keeper keeps(db());
  std::vector<tableq::delivery> all;
  for (int i = 0; i < 40; ++i) {
    auto& queue = i % 2 == 0 ? jobs : others;
    queue.enqueue("work");
    const std::chrono::milliseconds length = 3s + (i % 8) * 250ms;
    all.push_back(*queue.take_one({.lease = length}));
    keeps.add(queue, all.back(), length);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& queue = i % 2 == 0 ? jobs : others;
    while (queue.get(all[i].receipt.id)->due_at == all[i].lease_until) {
      ASSERT_FALSE(tells(keeps, 10ms));
    }
  }
  EXPECT_EQ(keeps.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& queue = i % 2 == 0 ? jobs : others;
    EXPECT_EQ(queue.complete(all[i]), tableq::settle_result::applied);
  }
  EXPECT_EQ(keeps.size(), 0U);
}

TEST_P(keepers, lets_each_settlement_take_the_message_out) {
  auto jobs = db().claim("jobs", {.retry = tableq::retry_delays::none()});
  jobs.enqueue("work");
  tableq::keeper keeps(db());
  for (int i = 0; i < 3; ++i) {
    const auto taken = jobs.take_one();
    ASSERT_TRUE(taken);
    keeps.add(jobs, *taken);
    EXPECT_EQ(keeps.size(), 1U);
    tableq::settle_result settled = tableq::settle_result::lease_lost;
    if (i == 0) settled = jobs.release(*taken);
    if (i == 1) settled = jobs.fail(*taken, "why");
    if (i == 2) {
      db().transact([&](tableq::transaction& tx) { settled = jobs.in(tx).complete(*taken); });
    }
    EXPECT_EQ(settled, tableq::settle_result::applied);
    EXPECT_EQ(keeps.size(), 0U);
  }
}

TEST_P(keepers, tells_once_of_a_cancelled_batch_and_keeps_its_message) {
  auto jobs = db().claim("jobs", {.batches = true});
  auto all = jobs.begin_batch();
  jobs.enqueue("work", {.batch = all});
  jobs.enqueue("alone");
  all.seal();
  tableq::keeper keeps(db());
  const auto taken = jobs.take(2, {.lease = 1s});
  ASSERT_EQ(taken.size(), 2U);
  for (const tableq::delivery& each : taken) keeps.add(jobs, each, 1s);
  EXPECT_TRUE(all.cancel());
  ASSERT_TRUE(tells(keeps, 30s));
  const auto told = keeps.lost();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().receipt, taken.front().receipt);
  EXPECT_EQ(told.front().why, tableq::lost_lease::cause::batch_cancelled);
  EXPECT_EQ(keeps.size(), 2U);
  // It is still extended, and not told again.
  while (jobs.get(taken.front().receipt.id)->due_at < taken.front().lease_until + 600ms) {
    ASSERT_FALSE(tells(keeps, 10ms));
  }
  EXPECT_EQ(jobs.complete(taken.front()), tableq::settle_result::applied);
  EXPECT_EQ(keeps.size(), 1U);
}

TEST_P(keepers, keeps_a_message_whose_settlement_was_refused) {
  auto jobs = filled();
  tableq::keeper keeps(db());
  const auto taken = jobs.take_one();
  ASSERT_TRUE(taken);
  keeps.add(jobs, *taken);
  EXPECT_CODE(invalid_argument, (void)jobs.fail(*taken, "why", {.delay = -1ms}));
  EXPECT_EQ(keeps.size(), 1U);
  EXPECT_TRUE(keeps.remove(*taken));
  EXPECT_FALSE(keeps.remove(*taken));
}

TEST_P(keepers, refuses_what_it_could_not_extend) {
  auto jobs = filled();
  auto other = db().claim("other");
  tableq::keeper keeps(db());
  const auto taken = jobs.take_one();
  ASSERT_TRUE(taken);
  EXPECT_CODE(invalid_argument, keeps.add(other, *taken));
  EXPECT_CODE(invalid_argument, keeps.add(jobs, *taken, 0ms));
  db().transact([&](tableq::transaction& tx) {
    EXPECT_CODE(invalid_argument, keeps.add(jobs.in(tx), *taken));
  });
  const tableq::keeper moved = std::move(keeps);
  EXPECT_CODE(invalid_argument, keeps.add(jobs, *taken));  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(moved.size(), 0U);
}

class shared_keepers : public on_each_backend {};
TABLEQ_ON_BACKENDS(shared_keepers, shared_backends);

TEST_P(shared_keepers, tells_of_a_message_that_it_has_lost) {
  auto near = open();
  auto far = open();
  auto jobs = near.claim("jobs");
  auto there = far.claim("jobs");
  jobs.enqueue("work");
  tableq::keeper keeps(near);
  EXPECT_CODE(invalid_argument, keeps.add(there, tableq::receipt()));
  const auto taken = jobs.take_one();
  ASSERT_TRUE(taken);
  keeps.add(jobs, *taken, 300ms);
  EXPECT_EQ(there.release(*taken), tableq::settle_result::applied);
  ASSERT_TRUE(tells(keeps, for_ever));
  const auto lost = keeps.lost();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].receipt, taken->receipt);
  EXPECT_EQ(lost[0].queue, "jobs");
  EXPECT_EQ(lost[0].why, tableq::lost_lease::cause::lease_lost);
  EXPECT_FALSE(tells(keeps));
  EXPECT_EQ(keeps.size(), 0U);
}

TEST_P(shared_keepers, tells_of_a_lease_that_ended_while_the_database_was_away) {
  const tableq::testing::faults faults;
  open_with(faults);
  auto near = open({.retry_for = 0ms});
  auto jobs = near.claim("jobs");
  jobs.enqueue("work");
  tableq::keeper keeps(near);
  const auto taken = jobs.take_one({.lease = 400ms});
  ASSERT_TRUE(taken);
  keeps.add(jobs, *taken, 400ms);
  faults.fail_some(1, {{tableq::testing::trouble::lost_connection}});
  ASSERT_TRUE(tells(keeps, for_ever));
  const auto lost = keeps.lost();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].why, tableq::lost_lease::cause::not_confirmed);
  faults.heal();
}

}  // namespace
