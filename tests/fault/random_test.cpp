#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "fault/stage.hpp"
#include "support/report.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class faults_by_lot : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    trouble_.emplace(told_seed());
  }
  tableq::database open_faulty(tableq::open_options options = {}) {
    return trouble_->open(here().quick_url(), options);
  }

  std::optional<tableq::testing::faults> trouble_;
};
TABLEQ_ON_BACKENDS(faults_by_lot, shared_backends);

TEST_P(faults_by_lot, leave_every_acknowledged_message_and_no_rejected_one) {
  auto db = open_faulty();
  auto jobs = db.claim("jobs");
  trouble_->fail_some(0.1, all_faults());
  std::map<std::string, std::string> told;
  const std::uint64_t steps = chosen_steps(60);
  for (std::uint64_t i = 0; i < steps; ++i) {
    const std::string name = "m" + std::to_string(i);
    std::string& result = told[name];
    try {
      jobs.enqueue(name, {.key = name});
      result = "stored";
    } catch (const tableq::error& failure) {
      result = tableq::to_string(failure.code());
    }
  }
  trouble_->heal();
  for (const auto& [name, result] : told) {
    const bool there = jobs.find(name).has_value();
    if (result == "stored") {
      EXPECT_TRUE(there) << name;
    } else if (result != "outcome_unknown") {
      EXPECT_FALSE(there) << name << ": " << result;
    }
    // The key resolves an unknown outcome.
    EXPECT_NE(jobs.enqueue(name, {.key = name}).created(), there);
  }
  EXPECT_EQ(jobs.stats({.exact = true}).ready, told.size());
}

TEST_P(faults_by_lot, let_a_worker_complete_every_message_and_hand_none_to_two_at_once) {
  // Messages leased by a lost answer return at the end of their leases.
  auto db = open_faulty({.retry_for = 100ms});
  auto jobs = db.claim("jobs", {.lease = 500ms, .max_attempts = 1'000'000});
  auto clean = tableq::database::open(here().quick_url()).claim("jobs");
  const std::uint64_t steps = chosen_steps(20);
  for (std::uint64_t i = 0; i < steps; ++i) clean.enqueue(std::to_string(i));
  std::mutex mutex;
  std::map<std::string, int> handled;
  std::map<std::string, tableq::timestamp> lease;
  trouble_->fail_some(0.05, all_faults());
  tableq::worker pool(jobs,
                      [&](const tableq::delivery& d) {
                        const std::scoped_lock hold(mutex);
                        ++handled[d.payload];
                        // By the database's clock: no other call had the message at that time.
                        EXPECT_GE(d.lease_until, lease[d.payload] + 500ms) << d.payload;
                        lease[d.payload] = d.lease_until;
                      },
                      {.threads = 2, .until_empty = true});
  EXPECT_TRUE(pool.wait_for(5min));
  trouble_->heal();
  pool.join();
  EXPECT_EQ(handled.size(), steps);
  const tableq::claim_stats left = clean.stats();
  EXPECT_EQ(left.ready + left.leased + left.delayed + left.dead, 0U);
}

}  // namespace
