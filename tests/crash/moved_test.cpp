#include <gtest/gtest.h>

#include <cstdlib>

#include "crash/crew.hpp"
#include "support/fixture.hpp"
#include "support/report.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// The tables go from one server of a cluster to another, while processes use all servers.
/// TABLEQ_TEST_MOVES: how many times.
class moved : public on_each_backend {};
TABLEQ_ON_BACKENDS(moved, distinct_backends);

TEST_P(moved, tables_lose_nothing_and_their_processes_do_nothing_twice) {
  const char* given = std::getenv("TABLEQ_TEST_MOVES");
  const std::uint64_t most = given == nullptr ? 3 : std::stoull(given);
  if (here().other_url() == here().url()) {
    GTEST_SKIP() << "the tables of " << GetParam()->name() << " stay on their server";
  }
  make_tables([this](const std::string& text) { return here().sql(text); });
  const crash_queues made(db());
  crew all({.url = here().url(), .other_url = here().other_url(), .retry = 5min, .pause = 20ms});

  for (std::uint64_t moves = 0; moves < most; ++moves) {
    ASSERT_TRUE(all.all_go_on(for_ever));
    ASSERT_TRUE(here().move());
  }
  EXPECT_TRUE(all.all_go_on(for_ever));
  all.finish();
  all.told().balance(db(), [this](const std::string& text) { return here().sql(text); });
  report_injected("tables moved", GetParam()->name(), most, all.told().summary());
}

}  // namespace
