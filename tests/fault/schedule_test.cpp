// Rules of periodic messages, with a fault at every call of a read that follows them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fault/stage.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::testing::fault;

bool of_rules(const std::string& call) {
  return call.starts_with("schedules.") || call.starts_with("fifo.enqueue") || call == "begin" ||
         call == "commit" || call == "rollback" || call.starts_with("catalog.");
}

class rules_with_faults : public on_each_backend {};
TABLEQ_ON_BACKENDS(rules_with_faults, shared_backends);

TEST_P(rules_with_faults, add_each_message_once_and_fail_no_read) {
  const tableq::testing::faults trouble;
  tableq::database victim = trouble.open(
      here().quick_url(), {.max_sessions = 1, .retry_for = 0ms, .clock = clock.source()});
  auto idle = victim.claim("idle");
  auto periodic = db_with_clock().fifo("periodic");
  db_with_clock().schedules().add({.name = "idle", .queue = "idle", .cron = "@yearly"});
  db_with_clock().schedules().add({.name = "r", .queue = "periodic", .every = 1h});
  static_cast<void>(idle.take(1));
  std::size_t faults = 0;
  for (const fault& planned : all_faults()) {
    for (std::size_t nth = 1;; ++nth) {
      clock.advance(1h);
      const tableq::timestamp due = clock.now();
      trouble.start_over();
      trouble.fail(nth, planned);
      try {
        static_cast<void>(idle.take(1));
      } catch (const tableq::error& failure) {
        const auto history = trouble.history();
        const auto failed =
            std::ranges::find_if(history, [](const auto& each) { return each.failed.has_value(); });
        ASSERT_NE(failed, history.end());
        // Only the read's own calls may fail it: those of the rule it does not tell of.
        EXPECT_FALSE(of_rules(failed->name) && failed->name != "begin" &&
                     failed->name != "commit" && failed->name != "rollback")
            << failed->name << ": " << failure.what();
      }
      const bool reached = trouble.failures() > 0;
      trouble.start_over();
      static_cast<void>(idle.take(1));
      static_cast<void>(idle.take(1));
      const auto found = periodic.dequeue_batch(10);
      ASSERT_EQ(found.size(), 1U) << to_string(planned.what) << " " << to_string(planned.when)
                                  << " at call " << nth;
      EXPECT_EQ(found[0].created_at, due);
      if (!reached) break;
      ++faults;
    }
  }
  EXPECT_GT(faults, 50U);
}

TEST_P(rules_with_faults, are_changed_whole_or_not_at_all) {
  const tableq::testing::faults trouble;
  tableq::database victim = trouble.open(
      here().quick_url(), {.max_sessions = 1, .retry_for = 0ms, .clock = clock.source()});
  static_cast<void>(db_with_clock().fifo("periodic"));
  tableq::schedules rules = db_with_clock().schedules();
  const tableq::schedule before{.name = "a", .queue = "periodic", .every = 1h};
  tableq::schedule after = before;
  after.payload = "new";
  const tableq::schedule another{.name = "b", .queue = "periodic", .every = 2h};
  for (const fault& planned : all_faults()) {
    for (std::size_t nth = 1;; ++nth) {
      rules.declare("app", {before});
      trouble.start_over();
      trouble.fail(nth, planned);
      bool done = true;
      try {
        victim.schedules().declare("app", {after, another});
      } catch (const tableq::error&) {
        done = false;
      }
      const bool reached = trouble.failures() > 0;
      trouble.start_over();
      const bool whole = rules.find("b").has_value();
      EXPECT_TRUE(whole || !done);
      EXPECT_EQ(rules.find("a")->rule, whole ? after : before);
      EXPECT_TRUE(db_with_clock().find("periodic")->schedules);
      if (!reached) break;
    }
  }
}

TEST_P(rules_with_faults, are_tried_again_soon_however_seldom_readers_poll) {
  const tableq::testing::faults trouble;
  tableq::database victim =
      trouble.open(here().quick_url(), {.retry_for = 0ms, .poll_interval = 1h});
  auto periodic = victim.fifo("periodic");
  victim.schedules().add({.name = "r", .queue = "periodic", .every = 1s});
  trouble.fail("schedules.fire", {tableq::testing::trouble::deadlock});
  const auto found = periodic.dequeue({.wait = 20s});
  EXPECT_EQ(trouble.failures(), 1U);
  EXPECT_TRUE(found);
}

}  // namespace
