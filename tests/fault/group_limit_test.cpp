// Limits of groups, with a fault at every call of what keeps them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "fault/stage.hpp"
#include "support/at_once.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class faults_of_group_limits : public on_each_backend {
 protected:
  struct players {
    tableq::claim_queue wrong;  ///< Its calls may fail.
    tableq::claim_queue right;
    tableq::delivery taken;  ///< By `right`.
  };
  using act = std::function<void(players&)>;

  static tableq::claim_options rules() {
    return tableq_test::at_once(
        {.lease = 10s, .max_attempts = 1000, .groups = tableq::group_options()});
  }

  /// One of three messages of a group with two running ones and a start a second is leased. Then
  /// `work`, with the nth call failing; then nobody runs more than the limit, and everything ends.
  /// @return false: it has fewer calls.
  bool run(std::size_t nth, const tableq::testing::fault& planned, const act& work) {
    auto right = db_with_clock().claim("tenants", rules());
    right.set_group_limits({.running = 2, .rate = 1.0});
    const tableq::testing::faults trouble;
    tableq::database victim = trouble.open(
        here().quick_url(), {.max_sessions = 1, .retry_for = 0ms, .clock = clock.source()});
    auto wrong = victim.claim("tenants", rules());
    clock.advance(10s);  // no start is used
    for (int i = 0; i < 3; ++i) right.enqueue("x", {.group = "a"});
    players all{wrong, right, right.take(9).at(0)};
    trouble.start_over();
    trouble.fail(nth, planned);
    try {
      work(all);
    } catch (const tableq::error&) {  // The checks below hold in any case.
    }
    const bool reached = trouble.failures() > 0;
    trouble.heal();
    static_cast<void>(right.take(1));  // looks at what has changed
    const auto limits = right.group_limits().groups;
    EXPECT_TRUE(limits.empty() || limits[0].limits.rate) << "whole or not at all, call " << nth;
    drain(right, nth);
    return reached;
  }

  void drain(tableq::claim_queue& right, std::size_t nth) {
    for (int i = 0; i < 60; ++i) {
      const auto taken = right.take(9);
      const auto figures = right.stats();
      EXPECT_LE(figures.ready - figures.due + figures.leased, 2U) << "call " << nth;
      for (const auto& each : taken) (void)right.complete(each);
      if (figures.ready + figures.leased + figures.held + figures.delayed == taken.size()) return;
      clock.advance(1s);
    }
    ADD_FAILURE() << "messages stay held after call " << nth;
  }

  void at_each_call(const act& work) {
    // Each call with one fault, or with each: scripts/soak.sh MINUTES faults.
    const auto faults = all_faults();
    const std::size_t rounds = std::getenv("TABLEQ_TEST_FAULTS") == nullptr ? 1 : faults.size();
    for (std::size_t round = 0; round < rounds; ++round) {
      const auto planned = [&](std::size_t nth) { return faults[(nth + round) % faults.size()]; };
      for (std::size_t nth = 1; run(nth, planned(nth), work) && !HasFailure(); ++nth) {
        ASSERT_LT(nth, 100U);
      }
    }
  }
};
TABLEQ_ON_BACKENDS(faults_of_group_limits, shared_backends);

TEST_P(faults_of_group_limits, of_an_enqueue) {
  at_each_call([](players& all) { all.wrong.enqueue("y", {.group = "a"}); });
}
TEST_P(faults_of_group_limits, of_a_completion) {
  at_each_call([](players& all) { (void)all.wrong.complete(all.taken.receipt); });
}
TEST_P(faults_of_group_limits, of_a_failure) {
  at_each_call([](players& all) { (void)all.wrong.fail(all.taken.receipt, "no"); });
}
TEST_P(faults_of_group_limits, of_a_release) {
  at_each_call([](players& all) { (void)all.wrong.release(all.taken.receipt); });
}
TEST_P(faults_of_group_limits, of_a_take_when_a_start_is_due) {
  at_each_call([this](players& all) {
    clock.advance(1s);
    (void)all.wrong.take(9);
  });
}
TEST_P(faults_of_group_limits, of_a_change) {
  at_each_call(
      [](players& all) { all.wrong.set_group_limits({.running = 1, .rate = 2.0, .burst = 1}); });
}

}  // namespace
