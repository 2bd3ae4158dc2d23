#include "crash/server_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// A primary with a synchronous standby, whose primary is lost in the middle of the work. Each test
/// has its own servers, because they cannot be repaired.
class lost_primary : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = postgresql_backend().missing()) GTEST_SKIP() << *reason;
  }
};

TEST_F(lost_primary, loses_nothing_that_was_acknowledged_and_everybody_goes_on) {
  const std::uint64_t rounds = chosen_outages(1);
  const time_budget time;
  std::uint64_t done = 0;
  std::size_t acknowledged = 0;
  std::size_t unknown = 0;
  std::chrono::milliseconds longest{0};
  const std::uint64_t seed = chosen_seed();
  SCOPED_TRACE("TABLEQ_TEST_SEED=" + std::to_string(seed));
  std::printf("[ seed     ] %s\n", std::to_string(seed).c_str());
  random_source random(seed);
  for (; done < rounds && !time.is_over() && !HasFailure(); ++done) {
    own_postgresql servers;
    servers.add_standby();
    const plain_sql sql = [&](const std::string& text) { return servers.sql(text); };
    make_tables(sql);
    crew actors({.url = servers.url_of_all("target_session_attrs=read-write"), .pause = 10ms});
    ASSERT_TRUE(actors.all_go_on(60s));
    actors.stand(std::chrono::milliseconds(random.below(500)));
    // In half of the rounds the standby is cut off before: data that did not reach it must not have
    // been acknowledged.
    const bool cut_off = done % 2 == 0;
    if (cut_off) {
      servers.stop_standby();
      actors.stand(200ms + std::chrono::milliseconds(random.below(500)));
    }
    servers.stop("immediate");
    actors.stand(std::chrono::milliseconds(random.below(500)));
    if (cut_off) servers.start_standby();
    servers.promote();
    const auto back = steady_clock::now();
    EXPECT_TRUE(actors.all_go_on(soon));
    longest = std::max(
        longest, std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - back));
    actors.finish();
    auto db = tableq::database::open(servers.url());
    actors.told().balance(db, sql);
    acknowledged += actors.told().acknowledged();
    unknown += actors.told().unknown();
  }
  report_injected("primary lost, synchronous standby promoted", "postgresql", done,
                  std::to_string(acknowledged) + " messages acknowledged; " +
                      std::to_string(unknown) + " unknown outcomes told; 0 lost, 0 twice; all at " +
                      "work again after " + std::to_string(longest.count()) + " ms at the most");
}

}  // namespace
