#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <tableq/testing.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::testing::fault;
using tableq::testing::moment;
using tableq::testing::trouble;

/// The unit of work in which a worker settles and takes.
class faults_of_joint_units : public on_each_backend {
 protected:
  static constexpr std::size_t count = 100;

  /// A worker handles all messages, while the first commit with settlements fails.
  tableq::worker_counts work(const fault& planned) {
    handled_.clear();
    const tableq::testing::faults trouble;
    tableq::database db = trouble.open(here().quick_url(), {.retry_for = 0s});
    tableq::claim_queue jobs = db.claim("jobs", {.lease = 300ms});
    std::vector<tableq::new_claim_message> batch;
    for (const std::string& each : numbered(count)) batch.push_back({.payload = each});
    jobs.enqueue_batch(batch);
    trouble.start_over();
    // The first take commits alone where it is more than a statement.
    trouble.fail("commit", planned, can().concurrent_writers ? 1 : 2);
    tableq::worker pool(jobs,
                        [&](const tableq::delivery& message) {
                          const std::scoped_lock hold(mutex_);
                          handled_[message.payload].push_back(message.attempt);
                        },
                        {.threads = 4, .until_empty = true});
    EXPECT_TRUE(pool.wait_for(for_ever));
    pool.join();
    EXPECT_EQ(trouble.failures(), 1U);
    const tableq::claim_stats left = jobs.stats();
    EXPECT_EQ(left.ready + left.delayed + left.leased + left.dead, 0U);
    EXPECT_EQ(handled_.size(), count);
    return pool.counts();
  }

  std::mutex mutex_;
  std::map<std::string, std::vector<int>> handled_;  ///< The attempts of each message.
};
TABLEQ_ON_BACKENDS(faults_of_joint_units, shared_backends);

TEST_P(faults_of_joint_units, repeat_each_part_and_hand_nothing_over_that_was_undone) {
  for (const trouble what : {trouble::busy, trouble::deadlock}) {
    for (const moment when : {moment::before, moment::after}) {
      const tableq::worker_counts counts = work({what, when});
      EXPECT_EQ(counts.completed, count);
      EXPECT_EQ(counts.unknown + counts.lease_lost, 0U);
      for (const auto& [payload, attempts] : handled_) {
        EXPECT_EQ(attempts, std::vector<int>{1}) << payload;
      }
    }
  }
}

TEST_P(faults_of_joint_units, report_unknown_ends_and_hand_nothing_over_that_is_in_doubt) {
  for (const moment when : {moment::before, moment::after}) {
    const tableq::worker_counts counts = work({trouble::unknown_commit, when});
    EXPECT_GE(counts.unknown, 1U);
    const bool done = when == moment::after;
    EXPECT_EQ(counts.completed, done ? count - counts.unknown : count);
    EXPECT_EQ(counts.lease_lost, 0U);
    for (const auto& [payload, attempts] : handled_) {
      // A message whose take is in doubt comes once, after its lease. A message whose settlement
      // failed comes again.
      EXPECT_LE(attempts.size(), done ? 1U : 2U) << payload;
    }
  }
}

}  // namespace
