#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "concurrency/mortal_workers.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Workers of several processes on one queue with limits.
class limited_queue_of_processes : public mortal_workers {
 protected:
  tableq::claim_queue jobs() {
    return db().claim(
        "jobs", {.lease = 500ms, .max_attempts = 1'000'000, .retry = tableq::retry_delays::none()});
  }
  static void add(tableq::claim_queue& queue, std::size_t count) {
    std::vector<tableq::new_claim_message> all;
    for (const std::string& each : numbered(count)) all.push_back({.payload = each});
    EXPECT_EQ(queue.enqueue_batch(all).size(), count);
  }
};
TABLEQ_ON_BACKENDS(limited_queue_of_processes, distinct_backends);

TEST_P(limited_queue_of_processes,
       keeps_to_a_new_concurrency_after_a_second_also_when_workers_die) {
  constexpr std::size_t most_leased = 2;
  auto queue = jobs();
  add(queue, 200);
  // First alone: the others would leave it no message if it starts slowly.
  auto workers = start(1, true);
  ASSERT_TRUE(workers[0]->has_written(1));
  for (auto& each : start(3, true)) workers.push_back(std::move(each));
  queue.set_limits({.concurrency = most_leased});
  EXPECT_FALSE(workers[0]->ends_within(1500ms)) << "a second, and the leases from before";
  kill_one_by_one(std::move(workers), 6, [&](actor& victim, random_source& random) {
    add(queue, 50);
    for (int i = 0; i < 5; ++i) {
      EXPECT_LE(queue.stats().leased, most_leased);
      EXPECT_FALSE(victim.ends_within(std::chrono::microseconds(random.below(20'000))));
    }
  });
  // The places of the dead come back when their leases end.
  auto survivor = start(false);
  for (;;) {
    const auto figures = queue.stats();
    EXPECT_LE(figures.leased, most_leased);
    if (figures.ready + figures.leased + figures.delayed == 0) break;
    EXPECT_FALSE(survivor->ends_within(20ms));
  }
  survivor->let_go();
  EXPECT_EQ(survivor->wait(), 0);
}

TEST_P(limited_queue_of_processes, hands_out_no_more_than_its_rate_between_four_processes) {
  auto queue = jobs();
  queue.set_limits({.rate = 40.0, .burst = 4});
  auto workers = start(4, false);
  const auto began = std::chrono::steady_clock::now();
  add(queue, 44);
  for (;;) {
    const auto figures = queue.stats();
    if (figures.ready + figures.leased + figures.delayed == 0) break;
    EXPECT_FALSE(workers[0]->ends_within(5ms));
  }
  // 4 messages at once, and 40 of 25 ms; clocks of two kinds, each cut to the millisecond.
  EXPECT_GE(std::chrono::steady_clock::now() - began, 40 * 25ms - 10ms);
  let_go(workers);
}

}  // namespace
