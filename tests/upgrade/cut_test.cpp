#include <chrono>

#include <gtest/gtest.h>

#include "upgrade/old_tables.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::testing::moment;
using tableq::testing::trouble;

/// Those whose tables some step changes.
const std::vector<std::string> with_steps{"tableq", "jobs", "later"};

/// The session ends at every call of a migration in turn; then it is run again.
class a_cut_migration : public old_tables_test {
 protected:
  /// Cuts a migration after its n-th call. @return whether it had so many.
  bool cut_after(std::size_t n, int to) {
    const auto last_try = std::chrono::steady_clock::now() + 60s;
    for (;;) {
      tableq::testing::faults faults;
      auto cut = faults.open(here().url());
      faults.fail(n, {.what = trouble::lost_connection, .when = moment::after});
      try {
        cut.migrate({.queues = with_steps, .to = to, .wait = 0ms});
      } catch (const tableq::error& failure) {
        // The server may still be ending the session of an earlier cut, which holds the lock.
        if (failure.code() == tableq::errc::busy && std::chrono::steady_clock::now() < last_try) {
          continue;
        }
        EXPECT_TRUE(failure.code() == tableq::errc::connection_lost ||
                    failure.code() == tableq::errc::connection_failed ||
                    failure.code() == tableq::errc::outcome_unknown)
            << n << ": " << failure.what();
      }
      return faults.failures() != 0;
    }
  }
};
TABLEQ_ON_BACKENDS(a_cut_migration, distinct_backends);

TEST_P(a_cut_migration, goes_on_from_every_call) {
  make_old_tables();
  const auto before = messages();
  db().migrate({.queues = {"line", "pile", "stack"}});
  // Between the end of a call and the next one nothing changes.
  for (std::size_t n = 1;; ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    const bool up = cut_after(n, 3);
    db().migrate({.queues = with_steps, .to = 3});
    expect_newest(before);
    const bool down = cut_after(n, 1);
    db().migrate({.queues = with_steps, .to = 1});
    EXPECT_EQ(messages(), before);
    EXPECT_EQ(layouts().at("jobs"), "1");
    if (HasFailure() || (!up && !down)) break;
  }
}

TEST_P(a_cut_migration, waits_for_locks_and_lost_sessions) {
  make_old_tables();
  const auto before = messages();
  tableq::testing::faults faults;
  auto shaken = faults.open(here().url());
  for (std::size_t n = 3; n < 40; n += 6) {
    faults.fail(n, {.what = trouble::busy});
    faults.fail(n + 3, {.what = trouble::deadlock, .when = moment::after});
  }
  shaken.migrate({.wait = for_ever});
  EXPECT_GT(faults.failures(), 3U);
  expect_newest(before);
}

}  // namespace
