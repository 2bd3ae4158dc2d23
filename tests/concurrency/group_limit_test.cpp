#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "concurrency/mortal_workers.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class limited_groups_of_processes : public mortal_workers {
 protected:
  static constexpr int groups = 5;

  tableq::claim_queue jobs() {
    return db().claim("jobs", {.lease = 500ms,
                               .max_attempts = 1'000'000,
                               .retry = tableq::retry_delays::none(),
                               .groups = tableq::group_options()});
  }
  void add(tableq::claim_queue& queue, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string group = "g" + std::to_string(next_ % groups);
      queue.enqueue(std::to_string(next_++), {.group = group});
    }
  }
  /// No group has more ready and leased messages than its limit. One statement sees both.
  void expect_within(int limit) {
    for (const auto& row : here().sql("SELECT COUNT(*) FROM jobs WHERE state IN (0, 1) AND "
                                      "group_key IS NOT NULL GROUP BY group_key")) {
      EXPECT_LE(std::stoi(row.at(0).value()), limit);
    }
  }
  int next_ = 0;
};
TABLEQ_ON_BACKENDS(limited_groups_of_processes, distinct_backends);

TEST_P(limited_groups_of_processes, keep_to_their_limits_whoever_is_killed) {
  auto queue = jobs();
  queue.set_group_limits({.running = 2, .rate = 200.0, .burst = 4});
  kill_one_by_one(start(4, true), 12, [&](actor& victim, random_source& random) {
    add(queue, 20);
    expect_within(2);
    EXPECT_FALSE(victim.ends_within(std::chrono::microseconds(random.below(60'000))));
    expect_within(2);
  });
  // The places of the dead come back by themselves, and no message is lost or stays held.
  auto survivor = start(false);
  const auto until = std::chrono::steady_clock::now() + for_ever;
  while (std::chrono::steady_clock::now() < until) {
    expect_within(2);
    const auto figures = queue.stats();
    if (figures.ready + figures.leased + figures.held + figures.delayed == 0) break;
    EXPECT_FALSE(survivor->ends_within(20ms));
  }
  survivor->let_go();
  EXPECT_EQ(survivor->wait(), 0);
  EXPECT_EQ(here().sql("SELECT COUNT(*) FROM jobs").at(0).at(0), "0");
}

TEST_P(limited_groups_of_processes, start_no_more_than_their_rate_between_four_processes) {
  auto queue = jobs();
  queue.set_group_limits({.running = 4, .rate = 20.0, .burst = 2});
  auto workers = start(4, false);
  const auto began = std::chrono::steady_clock::now();
  add(queue, 20 * groups);
  for (;;) {
    const auto figures = queue.stats();
    if (figures.ready + figures.leased + figures.held + figures.delayed == 0) break;
    EXPECT_FALSE(workers[0]->ends_within(5ms));
  }
  // 20 starts of a group are 2 at once, and 18 of 50 ms.
  EXPECT_GE(std::chrono::steady_clock::now() - began, 18 * 50ms - 10ms);
  let_go(workers);
}

}  // namespace
