#include <gtest/gtest.h>

#include "crash/crew.hpp"
#include "crash/queues.hpp"
#include "support/fixture.hpp"
#include "support/report.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Producers, movers and workers are killed at random instants, while the others continue.
/// TABLEQ_TEST_KILLS: how many times.
class killed : public on_each_backend {
 protected:
  void kill_many(const std::string& url, const std::string& other_url, const std::string& where) {
    const std::uint64_t seed = chosen_seed();
    SCOPED_TRACE("TABLEQ_TEST_SEED=" + std::to_string(seed));
    std::printf("[ seed     ] %s\n", std::to_string(seed).c_str());
    random_source random(seed);
    const char* given = std::getenv("TABLEQ_TEST_KILLS");
    const std::uint64_t most = given == nullptr ? 16 : std::stoull(given);
    const time_budget time;
    make_tables([this](const std::string& text) { return here().sql(text); });
    // Else one of the processes makes the queues, and may be killed meanwhile.
    if (other_url != url) const crash_queues made(db());
    // A number of messages that can be completed in the end, in spite of the killed processes.
    crew all({.url = url, .other_url = other_url, .retry = 5min, .count = 40});

    std::uint64_t kills = 0;
    while (kills < most && !time.is_over() && !HasFailure()) {
      const auto which = random.below(all.size());
      const bool early = random.one_in(8);
      // Half of them within the first statements, the others later.
      const auto instant =
          std::chrono::microseconds(random.below(random.one_in(2) ? 5'000 : 60'000));
      all.kill(which, instant, early);
      if (++kills % 50 == 0) {
        EXPECT_EQ(here().damage(), std::nullopt);
      }
    }
    all.finish();
    EXPECT_EQ(here().damage(), std::nullopt);
    all.told().balance(db(), [this](const std::string& text) { return here().sql(text); });
    clear_database();
    EXPECT_EQ(here().held(), std::nullopt);
    report_injected("kill -9", where, kills, all.told().summary());
  }
};
TABLEQ_ON_BACKENDS(killed, distinct_backends);

TEST_P(killed, processes_lose_nothing_and_do_nothing_twice) {
  kill_many(here().url(), here().other_url(), GetParam()->name());
}

TEST_P(killed, processes_lose_nothing_either_where_commits_do_not_wait_for_the_disk) {
  const auto url = here().hasty_url();
  if (!url) GTEST_SKIP() << "commits of " << GetParam()->name() << " always wait for the disk";
  kill_many(*url, *url, GetParam()->name() + ", commits not synchronous");
}

}  // namespace
