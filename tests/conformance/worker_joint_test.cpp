#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <tableq/testing.hpp>

#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Checks the pairs of each thread, and adds up the messages of each operation.
class strict_observer final : public tableq::observer {
 public:
  void before(const tableq::observed_operation& operation) override {
    const std::scoped_lock hold(mutex_);
    std::vector<std::string>& mine = running_[std::this_thread::get_id()];
    EXPECT_TRUE(mine.empty() || mine.back() == "transact")
        << operation.name << " within " << mine.back();
    mine.emplace_back(operation.name);
  }
  void after(const tableq::observed_operation& operation,
             const tableq::operation_result& result) override {
    const std::scoped_lock hold(mutex_);
    std::vector<std::string>& mine = running_[std::this_thread::get_id()];
    ASSERT_FALSE(mine.empty());
    EXPECT_EQ(mine.back(), operation.name);
    mine.pop_back();
    messages_[std::string(operation.name)] += result.messages;
  }
  [[nodiscard]] std::size_t messages(const std::string& name) {
    const std::scoped_lock hold(mutex_);
    return messages_[name];
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, std::vector<std::string>> running_;
  std::map<std::string, std::size_t> messages_;
};

class joint_units : public on_each_backend {
 protected:
  static void fill(tableq::claim_queue queue, std::size_t count) {
    std::vector<tableq::new_claim_message> batch;
    for (const std::string& each : numbered(count)) batch.push_back({.payload = each});
    queue.enqueue_batch(batch);
  }
};
TABLEQ_ON_BACKENDS(joint_units, shared_backends);

TEST_P(joint_units, settle_what_a_worker_has_done_and_take_what_is_next) {
  constexpr std::size_t count = 300;
  const tableq::testing::faults calls;
  tableq::database db = calls.open(here().quick_url());
  const tableq::claim_queue jobs = db.claim("jobs");
  fill(jobs, count);
  calls.start_over();
  tableq::worker pool(jobs, [](const tableq::delivery& /*one*/) {},
                      {.threads = 4, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  pool.join();
  EXPECT_EQ(pool.counts().completed, count);
  const auto history = calls.history();
  const auto within = [&](const char* name) {
    return std::ranges::count_if(
        history, [name](const auto& each) { return each.name == name && !each.lasting; });
  };
  // Each unit saves a commit.
  EXPECT_GE(within("claim.complete"), 5);
  EXPECT_GE(within("claim.take"), 5);
}

TEST_P(joint_units, are_observed_in_their_own_threads_and_count_each_message_once) {
  constexpr std::size_t count = 400;
  const auto seen = std::make_shared<strict_observer>();
  tableq::database db = open({.observer = seen});
  tableq::claim_queue jobs = db.claim("jobs");
  {
    // Beside callers with which the worker may share its units.
    const std::jthread producer([jobs]() mutable {
      for (std::size_t i = 0; i < count / 2; ++i) jobs.enqueue("single");
    });
    fill(jobs, count / 2);
    std::atomic<std::size_t> handled = 0;
    std::promise<void> all;
    tableq::worker pool(jobs,
                        [&](const tableq::delivery& /*one*/) {
                          if (++handled == count) all.set_value();
                        },
                        {.threads = 4});
    ASSERT_EQ(all.get_future().wait_for(for_ever), std::future_status::ready);
    pool.stop();
    pool.join();
    EXPECT_EQ(pool.counts().completed, count);
  }
  EXPECT_EQ(seen->messages("claim.take"), count);
  EXPECT_EQ(seen->messages("claim.complete"), count);
}

TEST_P(joint_units, leave_limits_to_the_take) {
  constexpr std::size_t most = 3;
  tableq::database db = open();
  tableq::claim_queue jobs = db.claim("jobs");
  jobs.set_limits({.concurrency = most});
  fill(jobs, 60);
  std::atomic<std::size_t> highest = 0;
  tableq::worker pool(jobs,
                      [&](const tableq::delivery& /*one*/) {
                        const std::size_t now = jobs.stats().leased;
                        std::size_t before = highest;
                        while (now > before && !highest.compare_exchange_weak(before, now)) {
                        }
                      },
                      {.threads = 8, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  pool.join();
  EXPECT_EQ(pool.counts().completed, 60U);
  EXPECT_LE(highest, most);
}

TEST_P(joint_units, return_expired_leases_while_a_worker_is_never_idle) {
  tableq::database db = open();
  tableq::claim_queue jobs = db.claim("jobs", {.lease = 1h});
  jobs.enqueue("left behind");
  ASSERT_TRUE(jobs.take_one({.lease = 1ms}));
  fill(jobs, 20);
  std::promise<void> found;
  std::atomic<bool> ended = false;
  tableq::worker pool(jobs,
                      [&](const tableq::delivery& message) {
                        if (message.payload == "left behind") {
                          ended = true;
                          found.set_value();
                        } else if (!ended) {
                          tableq::claim_queue(jobs).enqueue(message.payload);
                        }
                      },
                      {.threads = 2});
  EXPECT_EQ(found.get_future().wait_for(for_ever), std::future_status::ready);
  ended = true;
  pool.stop();
  pool.join();
}

/// Databases that lock rows.
class stuck_settlement : public on_each_backend {};
TABLEQ_ON_BACKENDS(stuck_settlement, shared_backends);

TEST_P(stuck_settlement, does_not_hold_up_the_takes_of_its_worker) {
  constexpr std::size_t others = 12;
  if (!can().concurrent_writers) return;  // An open transaction holds up all of them.
  tableq::database db = open();
  tableq::claim_queue jobs = db.claim("jobs");
  jobs.enqueue("stuck");
  std::promise<tableq::receipt> taken;
  std::promise<void> locked;
  latch gate(1);
  std::atomic<std::size_t> handled = 0;
  std::promise<void> all;
  tableq::worker pool(jobs,
                      [&, lock = locked.get_future().share()](const tableq::delivery& message) {
                        if (message.payload == "stuck") {
                          taken.set_value(message.receipt);
                          lock.wait();
                          gate.count_down();
                          return;
                        }
                        gate.wait();
                        if (++handled == others) all.set_value();
                      },
                      {.threads = 4});
  tableq::transaction tx = db.begin();
  EXPECT_EQ(jobs.in(tx).complete(taken.get_future().get()), tableq::settle_result::applied);
  std::vector<tableq::new_claim_message> batch(others, {.payload = "other"});
  jobs.outside().enqueue_batch(batch);
  locked.set_value();
  EXPECT_EQ(all.get_future().wait_for(for_ever), std::future_status::ready);
  tx.rollback();
  pool.stop();
  pool.join();
  EXPECT_EQ(pool.counts().completed, others + 1);
}

}  // namespace
