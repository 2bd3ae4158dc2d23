#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Long enough for a loaded machine; without an error nothing waits that long.
constexpr auto patience = 60s;

/// Payloads that handlers saw.
class seen_payloads {
 public:
  void add(const std::string& one) {
    const std::scoped_lock hold(mutex_);
    all_.insert(one);
  }
  [[nodiscard]] std::multiset<std::string> all() const {
    const std::scoped_lock hold(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::multiset<std::string> all_;
};

/// Makes the first read that finds a message slow: it returns when the test lets it.
class slow_read : public tableq::observer {
 public:
  void after(const tableq::observed_operation& operation,
             const tableq::operation_result& result) override {
    if (operation.name != "claim.take" || result.messages == 0 || done_.exchange(true)) return;
    done.set_value(std::chrono::steady_clock::now());
    return_.get_future().wait();
  }
  void let_it_return() { return_.set_value(); }

  std::promise<std::chrono::steady_clock::time_point> done;  ///< The message is leased.

 private:
  std::atomic<bool> done_ = false;
  std::promise<void> return_;
};

class workers : public on_each_backend {
 protected:
  tableq::claim_queue jobs(const tableq::claim_options& options = {}) {
    return db().claim("jobs", at_once(options));
  }
  /// Enqueues the numbers from 1 on.
  static std::multiset<std::string> fill(tableq::claim_queue queue, std::size_t count) {
    std::vector<std::string> payloads;
    for (std::size_t i = 1; i <= count; ++i) payloads.push_back(std::to_string(i));
    std::vector<tableq::new_claim_message> batch;
    for (const std::string& each : payloads) batch.push_back({.payload = each});
    queue.enqueue_batch(batch);
    return {payloads.begin(), payloads.end()};
  }
};
TABLEQ_ON_BACKENDS(workers, direct_backends);

TEST_P(workers, are_woken_by_what_is_enqueued) {
  std::promise<std::string> got;
  tableq::worker pool(jobs(), [&](const tableq::delivery& d) { got.set_value(d.payload); });
  jobs().enqueue("work");
  auto future = got.get_future();
  ASSERT_EQ(future.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(future.get(), "work");
}

TEST_P(workers, are_waited_for_until_their_end_however_long_the_time_is) {
  tableq::worker pool(jobs(), [](const tableq::delivery&) {});
  EXPECT_FALSE(pool.wait_for(std::chrono::milliseconds::min()));
  auto waits = std::async(std::launch::async,
                          [&] { return pool.wait_for(std::chrono::milliseconds::max()); });
  auto waits_for_centuries = std::async(
      std::launch::async, [&] { return pool.wait_for(std::chrono::hours{24 * 365 * 293}); });
  jobs().enqueue("work");
  while (pool.counts().completed == 0) std::this_thread::yield();
  pool.stop();
  EXPECT_TRUE(waits.get());
  EXPECT_TRUE(waits_for_centuries.get());
  EXPECT_TRUE(pool.stop_within(std::chrono::milliseconds::max()));
}

TEST_P(workers, can_be_called_by_the_callback_of_a_stop_token) {
  auto queue = db().claim("jobs");
  queue.enqueue("job");
  std::promise<void> begun;
  std::atomic<std::size_t> running = 0;
  std::optional<tableq::worker> pool;
  pool.emplace(queue, [&](const tableq::delivery&, const std::stop_token& stop) {
    const std::stop_callback asks(stop, [&] {
      pool->stop();
      running = pool->counts().running;
    });
    begun.set_value();
    while (!stop.stop_requested()) std::this_thread::yield();
    return tableq::handled::give_back();
  });
  ASSERT_EQ(begun.get_future().wait_for(for_ever), std::future_status::ready);
  pool->abandon();
  EXPECT_EQ(running, 1U);
  ASSERT_TRUE(pool->wait_for(for_ever));
  pool->join();
}

TEST_P(workers, obey_what_a_handler_says) {
  fill(jobs(), 4);
  std::atomic<bool> given_back = false;
  tableq::worker pool(jobs(),
                      [&](const tableq::delivery& d) {
                        if (d.payload == "1") return tableq::handled::give_up("never");
                        if (d.payload == "2" && d.attempt == 1)
                          return tableq::handled::retry_after("later", 1ms);
                        if (d.payload == "3" && !given_back.exchange(true))
                          return tableq::handled::give_back();
                        return tableq::handled::completed();
                      },
                      {.until_empty = true});
  ASSERT_TRUE(pool.wait_for(patience));
  const auto counts = pool.counts();
  EXPECT_EQ(counts.completed, 3U);
  EXPECT_EQ(counts.failed, 2U);
  EXPECT_EQ(counts.given_back, 1U);
  const auto dead = jobs().list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].payload, "1");
  EXPECT_EQ(dead[0].attempts, 1);
  EXPECT_EQ(dead[0].errors.at(0).error, "never");
}

TEST_P(workers, hold_a_lease_for_as_long_as_the_handler_runs) {
  jobs().enqueue("long");
  std::promise<tableq::receipt> taken;
  std::promise<void> go_on;
  auto wait = go_on.get_future().share();
  tableq::worker pool(jobs(),
                      [&](const tableq::delivery& d) {
                        taken.set_value(d.receipt);
                        wait.wait();
                      },
                      {.lease = 1s, .until_empty = true});
  const auto receipt = taken.get_future().get();
  // Without the worker's extensions the lease would be over: no other take gets the message.
  EXPECT_TRUE(jobs().take(1, {.wait = 2s}).empty());
  EXPECT_NE(receipt.id.value, 0);
  go_on.set_value();
  ASSERT_TRUE(pool.wait_for(patience));
  EXPECT_EQ(pool.counts().completed, 1U);
  EXPECT_EQ(pool.counts().lease_lost, 0U);
}

TEST_P(workers, count_a_lease_from_the_begin_of_its_read) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  jobs().enqueue("late");
  const tableq::testing::faults faults;
  open_with(faults);
  const auto read = std::make_shared<slow_read>();
  const auto lease = 1s;
  auto others = jobs();
  tableq::worker pool(open({.retry_for = 0ms, .observer = read}).claim("jobs"),
                      [](const tableq::delivery&) {}, {.lease = lease});
  const auto leased = read->done.get_future().get();
  // The lease ends during the read.
  ASSERT_EQ(others.take(1, {.wait = patience}).size(), 1U);
  while (std::chrono::steady_clock::now() < leased + lease) std::this_thread::yield();
  pool.stop();
  faults.fail("claim.release", {tableq::testing::trouble::busy});
  read->let_it_return();
  ASSERT_TRUE(pool.wait_for(patience));
  EXPECT_EQ(pool.counts().unknown, 1U) << "a lease that has ended is not worth a second attempt";
  EXPECT_EQ(faults.failures(), 1U);
}

TEST_P(workers, tell_a_handler_by_its_token_that_the_lease_is_lost) {
  jobs().enqueue("stolen");
  std::promise<tableq::receipt> taken;
  std::promise<bool> told;
  tableq::worker pool(jobs(),
                      [&](const tableq::delivery& d, const std::stop_token& stop) {
                        if (d.attempt > 1) return;
                        std::mutex mutex;
                        std::condition_variable_any stopped;
                        taken.set_value(d.receipt);
                        std::unique_lock lock(mutex);
                        stopped.wait_for(lock, stop, patience, [] { return false; });
                        told.set_value(stop.stop_requested());
                      },
                      {.lease = 300ms, .until_empty = true});
  // Another handle settles it without the worker.
  EXPECT_EQ(jobs().release(taken.get_future().get()), tableq::settle_result::applied);
  EXPECT_TRUE(told.get_future().get());
  ASSERT_TRUE(pool.wait_for(patience));
  EXPECT_EQ(pool.counts().lease_lost, 1U);
}

TEST_P(workers, stop_in_order_and_give_back_what_no_handler_has) {
  fill(jobs(), 10);
  std::promise<void> running;
  std::promise<void> go_on;
  auto wait = go_on.get_future().share();
  std::atomic<int> calls = 0;
  tableq::worker pool(jobs(),
                      [&](const tableq::delivery&) {
                        if (++calls == 1) running.set_value();
                        wait.wait();
                      },
                      {.threads = 1, .prefetch = 5});
  running.get_future().wait();
  pool.stop();
  go_on.set_value();
  ASSERT_TRUE(pool.wait_for(patience));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(pool.counts().completed, 1U);
  const auto stats = jobs().stats();
  EXPECT_EQ(stats.ready, 9U);
  EXPECT_EQ(stats.leased, 0U);
  EXPECT_EQ(jobs().take(1).at(0).attempt, 1) << "what was given back counts as not tried";
}

TEST_P(workers, give_back_at_the_deadline_what_still_runs) {
  jobs().enqueue("slow");
  std::promise<void> running;
  std::promise<void> go_on;
  auto wait = go_on.get_future().share();
  tableq::worker pool(jobs(), [&](const tableq::delivery&) {
    running.set_value();
    wait.wait();
  });
  running.get_future().wait();
  EXPECT_FALSE(pool.stop_within(1ms));
  const auto others = jobs().take(1, {.wait = patience});
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others[0].attempt, 1);
  go_on.set_value();
  ASSERT_TRUE(pool.wait_for(patience));
  EXPECT_EQ(pool.counts().completed, 0U) << "the late complete is refused";
  EXPECT_EQ(jobs().complete(others[0].receipt), tableq::settle_result::applied);
}

TEST_P(workers, that_are_late_while_handlers_return_leave_no_message_leased) {
  constexpr int rounds = 30;
  constexpr std::size_t many = 40;
  std::size_t completed = 0;
  for (int round = 0; round < rounds; ++round) {
    fill(jobs(), many);
    tableq::worker pool(jobs(), [](const tableq::delivery&) {}, {.threads = 8});
    while (pool.counts().completed == 0 && !pool.wait_for(1ms)) {
    }
    static_cast<void>(pool.stop_within(0ms));
    ASSERT_TRUE(pool.wait_for(patience));
    pool.join();
    completed += pool.counts().completed;
  }
  const auto stats = jobs().stats();
  EXPECT_EQ(stats.leased, 0U);
  EXPECT_EQ(stats.ready + completed, rounds * many);
}

TEST_P(workers, ask_handlers_to_end_when_they_are_destroyed) {
  jobs().enqueue("patient");
  std::promise<void> running;
  {
    const tableq::worker pool(jobs(), [&](const tableq::delivery&, const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any stopped;
      running.set_value();
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, stop, patience, [] { return false; });
      return tableq::handled::give_back();
    });
    running.get_future().wait();
  }
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(workers, that_were_late_are_destroyed_while_the_database_gives_no_answer) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  auto own = tableq::database::open(here().quick_url());
  auto queue = own.claim("slow");
  queue.enqueue("x");
  std::promise<tableq::receipt> running;
  auto pool = std::make_unique<tableq::worker>(
      queue, [&](const tableq::delivery& message, const std::stop_token& stop) {
        running.set_value(message.receipt);
        while (!stop.stop_requested()) std::this_thread::yield();
      });
  const tableq::receipt taken = running.get_future().get();
  auto other = open();
  auto holds = other.begin();
  EXPECT_EQ(other.claim("slow").in(holds).extend(taken, 1h), tableq::settle_result::applied);
  EXPECT_FALSE(pool->stop_within(1ms));
  const auto destroyed = std::async(std::launch::async, [&] { pool.reset(); });
  EXPECT_EQ(destroyed.wait_for(patience), std::future_status::ready);
  holds.rollback();
}

TEST_P(workers, end_with_the_error_that_will_not_mend) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  auto queue = jobs();
  here().sql("DROP TABLE jobs");
  tableq::worker pool(queue, [](const tableq::delivery&) {});
  ASSERT_TRUE(pool.wait_for(patience));
  EXPECT_CODE(not_found, pool.join());
}

TEST_P(workers, extend_the_other_leases_when_that_of_one_is_refused) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  fill(jobs(), 3);
  latch taken(3);
  std::promise<void> go_on;
  const auto wait = go_on.get_future().share();
  tableq::worker pool(jobs(),
                      [&](const tableq::delivery&) {
                        taken.count_down();
                        wait.wait();
                      },
                      {.threads = 3, .lease = 2s});
  taken.wait();
  if (!can().ids_from_one) {
    go_on.set_value();
    GTEST_SKIP() << "names messages by their ids";
  }
  const bool refuses = here().refuse("jobs", "UPDATE", "2");
  const auto end_of = [&](std::int64_t id) { return jobs().get({id})->due_at.value(); };
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto first = std::max(end_of(1), end_of(3));
  bool extended = !refuses;
  while (!extended && std::chrono::steady_clock::now() < until) {
    extended = std::min(end_of(1), end_of(3)) > first;
  }
  go_on.set_value();
  if (!refuses) GTEST_SKIP() << "triggers break the statements";
  EXPECT_TRUE(extended);
}

TEST_P(workers, report_each_message_and_their_end) {
  fill(jobs(), 2);
  std::mutex mutex;
  std::map<tableq::worker_event::kind, int> told;
  std::promise<void> ended;
  tableq::worker pool(jobs(),
                      [](const tableq::delivery& d) {
                        return d.payload == "1" ? tableq::handled::completed()
                                                : tableq::handled::give_up("no");
                      },
                      {.until_empty = true,
                       .observe =
                           [&](const tableq::worker_event& event) {
                             const std::scoped_lock hold(mutex);
                             ++told[event.what];
                           },
                       .ended = [&] { ended.set_value(); }});
  ended.get_future().wait();
  const std::scoped_lock hold(mutex);
  EXPECT_EQ(told[tableq::worker_event::kind::completed], 1);
  EXPECT_EQ(told[tableq::worker_event::kind::given_up], 1);
}

TEST_P(workers, refuse_to_be_joined_by_their_own_handlers_and_callbacks) {
  fill(jobs(), 1);
  std::promise<tableq::worker*> made;
  const auto worker = made.get_future().share();
  std::mutex mutex;
  std::vector<tableq::error> refused;
  const auto join = [&] {
    tableq::error failure = thrown_by([&] { worker.get()->join(); });
    const std::scoped_lock hold(mutex);
    refused.push_back(std::move(failure));
  };
  std::size_t held = 0;
  tableq::worker pool(jobs(),
                      [&](const tableq::delivery&) {
                        join();
                        held = worker.get()->counts().held;
                      },
                      {.until_empty = true,
                       .observe = [&](const tableq::worker_event&) { join(); },
                       .ended = [&] { join(); }});
  made.set_value(&pool);
  pool.join();
  EXPECT_EQ(held, 1U);
  EXPECT_EQ(pool.counts().held, 0U);
  EXPECT_EQ(pool.counts().completed, 1U);
  ASSERT_EQ(refused.size(), 3U);
  for (const tableq::error& each : refused) {
    EXPECT_EQ(each.code(), tableq::errc::invalid_argument) << each.what();
    EXPECT_NE(std::string(each.what()).find("would wait for itself"), std::string::npos);
  }
}

TEST_P(workers, refuse_options_out_of_range) {
  const auto nothing = [](const tableq::delivery&) {};
  EXPECT_CODE(invalid_argument, tableq::worker(jobs(), nothing, {.threads = 0}));
  EXPECT_CODE(invalid_argument, tableq::worker(jobs(), nothing, {.threads = 1001}));
  EXPECT_CODE(invalid_argument, tableq::worker(jobs(), nothing, {.prefetch = 10'001}));
  EXPECT_CODE(invalid_argument, tableq::worker(jobs(), nothing, {.lease = 0ms}));
  EXPECT_CODE(invalid_argument, tableq::worker(jobs(), nothing, {.retry_delay = -1ms}));
}

TEST_P(workers, of_two_processes_worth_share_the_messages) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  const auto sent = fill(jobs(), 300);
  seen_payloads seen;
  auto other = open();
  const auto work = [&](const tableq::delivery& d) { seen.add(d.payload); };
  tableq::worker one(jobs(), work, {.threads = 3, .until_empty = true});
  tableq::worker two(other.claim("jobs"), work, {.threads = 3, .until_empty = true});
  ASSERT_TRUE(one.wait_for(patience));
  ASSERT_TRUE(two.wait_for(patience));
  EXPECT_EQ(seen.all(), sent);
  EXPECT_EQ(one.counts().completed + two.counts().completed, 300U);
}

TEST_P(workers, that_give_up_in_a_batch_leave_the_others_their_attempts) {
  auto queue = jobs();
  fill(queue, 2);
  const auto taken = queue.take(2);
  ASSERT_EQ(taken.size(), 2U);
  const std::vector<tableq::failure> failures = {
      {.receipt = taken[0].receipt, .error = "for good", .options = {.give_up = true}},
      {.receipt = taken[1].receipt, .error = "for now", .options = {.delay = 1h}}};
  for (const tableq::settle_result each : queue.fail_batch(failures))
    EXPECT_EQ(each, tableq::settle_result::applied);
  EXPECT_EQ(queue.stats().dead, 1U);
  EXPECT_EQ(queue.stats().delayed, 1U);
}

}  // namespace
