#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "concurrency/actor.hpp"
#include "support/fixture.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Workers of several processes on one queue with limits.
class limited_queue_of_processes : public on_each_backend {
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
  [[nodiscard]] std::unique_ptr<actor> start(bool immortal) {
    return std::make_unique<actor>(nlohmann::json{
        {"do", "work"}, {"url", here().other_url()}, {"queue", "jobs"}, {"immortal", immortal}});
  }
};
TABLEQ_ON_BACKENDS(limited_queue_of_processes, distinct_backends);

TEST_P(limited_queue_of_processes,
       keeps_to_its_concurrency_a_second_after_a_change_whoever_is_killed) {
  constexpr std::size_t most_leased = 2;
  const char* given = std::getenv("TABLEQ_TEST_KILLS");
  const std::uint64_t most = given == nullptr ? 6 : std::stoull(given);
  const std::uint64_t seed = chosen_seed();
  SCOPED_TRACE("TABLEQ_TEST_SEED=" + std::to_string(seed));
  random_source random(seed);
  auto queue = jobs();
  add(queue, 200);
  std::vector<std::unique_ptr<actor>> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(start(true));
  ASSERT_TRUE(workers[0]->has_written(1));
  queue.set_limits({.concurrency = most_leased});
  EXPECT_FALSE(workers[0]->ends_within(1500ms)) << "a second, and the leases from before";
  for (std::uint64_t kills = 0; kills < most; ++kills) {
    add(queue, 50);
    auto& victim = workers[random.below(workers.size())];
    for (int i = 0; i < 5; ++i) {
      EXPECT_LE(queue.stats().leased, most_leased);
      EXPECT_FALSE(victim->ends_within(std::chrono::microseconds(random.below(20'000))));
    }
    victim->kill();
    EXPECT_EQ(victim->wait(), 128 + 9);
    victim = start(true);
  }
  for (auto& each : workers) {
    each->kill();
    (void)each->wait();
  }
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
  std::vector<std::unique_ptr<actor>> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(start(false));
  const auto began = std::chrono::steady_clock::now();
  add(queue, 44);
  for (;;) {
    const auto figures = queue.stats();
    if (figures.ready + figures.leased + figures.delayed == 0) break;
    EXPECT_FALSE(workers[0]->ends_within(5ms));
  }
  // 4 messages at once, and 40 of 25 ms; clocks of two kinds, each cut to the millisecond.
  EXPECT_GE(std::chrono::steady_clock::now() - began, 40 * 25ms - 10ms);
  for (auto& each : workers) each->let_go();
  for (auto& each : workers) EXPECT_EQ(each->wait(), 0);
}

}  // namespace
