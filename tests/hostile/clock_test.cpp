#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "support/fixture.hpp"
#include "support/text.hpp"
#include "tools/command.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Clients with a wrong clock, and a server with the right one.
class wrong_clock : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!here().session_count_sql()) GTEST_SKIP() << "this database has no clock but the client's";
  }
  [[nodiscard]] start_options wrong(int seconds, bool jumps) {
    start_options options;
    // From 17 on, libpq limits the time to connect by this clock.
    const bool unlimited = jumps && here().url().starts_with("postgresql");
    const std::string url = unlimited ? here().url_with("connect_timeout", "0") : here().url();
    options.environment = {"TABLEQ_DB=" + url, "LD_PRELOAD=" TABLEQ_WRONG_CLOCK,
                           "WRONG_CLOCK_SECONDS=" + std::to_string(seconds)};
    if (jumps) options.environment.emplace_back("WRONG_CLOCK_JUMPS=1");
    return options;
  }
  std::string run(const std::vector<std::string>& arguments, int seconds, bool jumps) {
    const ended end = command(TABLEQ_COMMAND, arguments, wrong(seconds, jumps)).wait();
    EXPECT_LE(end.status, 1) << end.err;
    return end.out;
  }
};
TABLEQ_ON_BACKENDS(wrong_clock, distinct_backends);

TEST_P(wrong_clock, of_a_client_decides_nothing) {
  auto later = db().pending("later");
  auto jobs = db().claim("jobs", {.lease = 10min});
  auto wait = db().claim("wait");
  const auto now = [&] { return jobs.get(jobs.enqueue("now").id)->created_at; };
  for (const auto& [seconds, jumps] : {std::pair{3600, false}, {-3600, false}, {3600, true}}) {
    SCOPED_TRACE(std::to_string(seconds) + (jumps ? " jumping" : ""));
    const auto before = now();
    run({"enqueue", "later", "in an hour", "--delay", "1h"}, seconds, jumps);
    run({"enqueue", "later", "at once"}, seconds, jumps);
    EXPECT_EQ(run({"dequeue", "later", "--count", "2"}, seconds, jumps), "at once\n");
    run({"enqueue", "later", "soon", "--delay", "200ms"}, seconds, jumps);
    EXPECT_EQ(run({"dequeue", "later", "--wait", "60s"}, seconds, jumps), "soon\n");
    EXPECT_EQ(later.stats().delayed, 1U);
    run({"enqueue", "wait", "leased"}, seconds, jumps);
    EXPECT_EQ(run({"work", "wait", "--until-empty", "--", "cat"}, seconds, jumps), "leased");
    EXPECT_EQ(wait.stats().leased, 0U);
    run({"enqueue", "jobs", "timed"}, seconds, jumps);
    bool found = false;
    for (const auto& each : jobs.list(tableq::message_state::ready)) {
      if (each.payload != "timed") continue;
      found = true;
      EXPECT_TRUE(each.created_at >= before && each.created_at <= now());
      jobs.cancel(each.id);
    }
    EXPECT_TRUE(found);
    later.purge();
  }
}

TEST_P(wrong_clock, of_a_client_takes_nobodys_lease) {
  auto jobs = db().claim("jobs", {.lease = 10min});
  jobs.enqueue("held");
  const auto held = jobs.take(1);
  ASSERT_EQ(held.size(), 1U);
  for (const int seconds : {3600, -3600}) {
    jobs.enqueue("free");
    command works(TABLEQ_COMMAND, {"work", "jobs", "--", "cat"}, wrong(seconds, false));
    while (jobs.stats().ready + jobs.stats().leased > 1) {
      std::this_thread::yield();
    }
    works.signal(SIGTERM);
    EXPECT_EQ(works.wait().out, "free");
  }
  EXPECT_EQ(jobs.complete(held[0].receipt), tableq::settle_result::applied);
}

TEST_P(wrong_clock, is_wrong_indeed) {
  // The difference between the server's and the client's times shows that the shim works.
  start_options options;
  options.environment = {"LD_PRELOAD=" TABLEQ_WRONG_CLOCK, "WRONG_CLOCK_SECONDS=3600"};
  const ended wrong = command("/bin/date", {"+%s"}, options).wait();
  const ended right = command("/bin/date", {"+%s"}).wait();
  const long off = std::stol(wrong.out) - std::stol(right.out);
  EXPECT_TRUE(off > 3500 && off < 3700) << off;
}

}  // namespace
