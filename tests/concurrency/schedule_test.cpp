#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "concurrency/actor.hpp"
#include "support/fixture.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class rules_between : public on_each_backend {
 protected:
  std::unique_ptr<actor> start(std::int64_t ahead) {
    return std::make_unique<actor>(nlohmann::json{{"do", "follow"},
                                                  {"url", here().quick_url()},
                                                  {"queue", "idle"},
                                                  {"base", base_},
                                                  {"speed", 20},
                                                  {"ahead", ahead}});
  }

 private:
  // Of the test's machine, as the database's clock is.
  const std::int64_t base_ = std::chrono::duration_cast<std::chrono::milliseconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
};
TABLEQ_ON_BACKENDS(rules_between, distinct_backends);

TEST_P(rules_between, ten_processes_that_are_killed_add_each_message_once) {
  constexpr int processes = 10;
  constexpr int kills = 30;
  const std::uint64_t seed = chosen_seed();
  SCOPED_TRACE("TABLEQ_TEST_SEED=" + std::to_string(seed));
  random_source random(seed);
  auto periodic = db().fifo("periodic");
  auto idle = db().fifo("idle");
  db().schedules().add({.name = "idle", .queue = "idle", .cron = "@yearly"});
  db().schedules().add({.name = "often", .queue = "periodic", .every = 1s, .catch_up = 1000});
  const auto ahead = [&] { return static_cast<std::int64_t>(random.below(6000)) - 3000; };
  std::vector<std::unique_ptr<actor>> all;
  for (int i = 0; i < processes; ++i) all.push_back(start(ahead()));
  ASSERT_TRUE(all.back()->has_written(1));
  for (int i = 0; i < kills; ++i) {
    std::unique_ptr<actor>& victim = all[random.below(processes)];
    // Half of them in their first steps.
    if (random.one_in(2)) static_cast<void>(victim->has_written(1));
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::microseconds(random.below(60'000));
    while (std::chrono::steady_clock::now() < until) static_cast<void>(idle.dequeue());
    victim->kill();
    EXPECT_EQ(victim->wait(), 128 + 9);
    victim = start(ahead());
  }
  ASSERT_TRUE(all.front()->has_written(1));
  for (auto& each : all) each->let_go();
  for (auto& each : all) EXPECT_EQ(each->wait(), 0);

  std::vector<tableq::timestamp> times;
  for (const tableq::message& each : periodic.dequeue_batch(10'000)) {
    times.push_back(each.created_at);
  }
  ASSERT_GT(times.size(), 20U);
  std::ranges::sort(times);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_EQ(times[i] - times[i - 1], 1s) << i;
  EXPECT_EQ(db().schedules().find("often")->last, times.back());
}

}  // namespace
