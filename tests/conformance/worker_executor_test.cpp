#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/fixture.hpp"
#include "support/latch.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

using task = std::function<void()>;

/// Tasks that wait until the test runs them.
class task_box {
 public:
  void put(task one) {
    const std::scoped_lock hold(mutex_);
    tasks_.push_back(std::move(one));
    changed_.notify_all();
  }
  /// Waits for this number of tasks. @return all.
  std::vector<task> take(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tasks_.size() >= count; });
    return std::exchange(tasks_, {});
  }
  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock hold(mutex_);
    return tasks_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<task> tasks_;
};

class executors : public on_each_backend {
 protected:
  tableq::claim_queue filled(int count) {
    auto jobs = db().claim("jobs");
    for (int i = 0; i < count; ++i) jobs.enqueue("x");
    return jobs;
  }
};
TABLEQ_ON_BACKENDS(executors, direct_backends);

TEST_P(executors, run_every_handler_in_their_own_threads) {
  auto jobs = filled(20);
  std::mutex mutex;
  std::set<std::thread::id> handlers;
  std::set<std::thread::id> own;
  std::vector<std::thread> threads;
  tableq::worker pool(
      jobs,
      [&](const tableq::delivery&) {
        const std::scoped_lock hold(mutex);
        handlers.insert(std::this_thread::get_id());
      },
      {.threads = 2, .until_empty = true, .executor = [&](task one) {
         std::promise<void> go_on;
         threads.emplace_back([&, one = std::move(one), begun = go_on.get_future()]() mutable {
           begun.wait();
           one();
         });
         const std::scoped_lock hold(mutex);
         own.insert(threads.back().get_id());
         go_on.set_value();
       }});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_NO_THROW(pool.join());
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(pool.counts().completed, 20U);
  EXPECT_TRUE(std::includes(own.begin(), own.end(), handlers.begin(), handlers.end()));
}

TEST_P(executors, have_no_more_tasks_than_the_worker_may_have_threads) {
  auto jobs = filled(5);
  task_box box;
  std::atomic<std::size_t> most = 0;
  tableq::worker pool(jobs, [](const tableq::delivery&) {},
                      {.threads = 2, .until_empty = true, .executor = [&](task one) {
                         box.put(std::move(one));
                         most = std::max<std::size_t>(most, box.size());
                       }});
  const auto first = box.take(2);
  EXPECT_EQ(first.size(), 2U);
  EXPECT_EQ(pool.counts().running, 2U);
  for (const task& each : first) each();
  for (int left = 3; left > 0;) {
    for (const task& each : box.take(1)) {
      each();
      each();  // One run is enough.
      --left;
    }
  }
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 5U);
  EXPECT_LE(most, 2U);
}

TEST_P(executors, that_throw_or_drop_a_task_give_its_message_back) {
  auto jobs = filled(1);
  std::atomic<int> posts = 0;
  std::mutex mutex;
  std::vector<std::string> troubles;
  tableq::worker pool(jobs, [](const tableq::delivery& d) { EXPECT_EQ(d.attempt, 1); },
                      {.until_empty = true,
                       .executor =
                           [&](const task& one) {
                             const int post = ++posts;
                             if (post == 1) throw std::runtime_error("no room");
                             if (post == 2) throw 2;
                             if (post > 3) one();
                           },
                       .observe =
                           [&](const tableq::worker_event& event) {
                             if (event.what != tableq::worker_event::kind::trouble) return;
                             const std::scoped_lock hold(mutex);
                             troubles.emplace_back(event.why);
                           }});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_NO_THROW(pool.join());
  EXPECT_EQ(posts, 4);
  EXPECT_EQ(pool.counts().completed, 1U);
  EXPECT_EQ(pool.counts().given_back, 3U);
  ASSERT_EQ(troubles.size(), 3U);
  EXPECT_TRUE(contains(troubles[0], "no room")) << troubles[0];
  EXPECT_TRUE(contains(troubles[1], "no std::exception")) << troubles[1];
  EXPECT_TRUE(contains(troubles[2], "destroyed")) << troubles[2];
}

TEST_P(executors, are_waited_for_by_the_end_of_the_worker) {
  auto jobs = filled(1);
  task_box box;
  std::atomic<bool> called = false;
  std::vector<task> posted;
  std::future<void> end;
  {
    auto pool = std::make_unique<tableq::worker>(
        jobs, [&](const tableq::delivery&) { called = true; },
        tableq::worker_options{.executor = [&](task one) { box.put(std::move(one)); }});
    posted = box.take(1);
    pool->stop();
    EXPECT_FALSE(pool->wait_for(50ms)) << "the executor still has a task";
    end = std::async(std::launch::async, [own = std::move(pool)]() mutable { own.reset(); });
  }
  for (const task& each : posted) each();
  end.get();
  EXPECT_FALSE(called) << "the worker was stopped before the task ran";
  EXPECT_EQ(jobs.stats().ready, 1U);
  for (const task& each : posted) each();  // Long after the worker: does nothing.
}

TEST_P(executors, let_handlers_have_a_transaction) {
  auto jobs = filled(3);
  auto done = db().heap("done");
  tableq::worker pool(
      jobs,
      [&](tableq::transaction& tx, const tableq::delivery& d) { done.in(tx).enqueue(d.payload); },
      {.until_empty = true, .executor = [](const task& one) { one(); }});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 3U);
  EXPECT_EQ(done.stats().waiting, 3U);
}

/// Counts checks for the end of the queue.
class looks : public tableq::observer {
 public:
  void after(const tableq::observed_operation& operation,
             const tableq::operation_result& result) override {
    if (operation.name == "claim.take" && result.messages == 0) empty_.count_down();
  }
  void wait_for_one() { empty_.wait(); }

 private:
  latch empty_{1};
};

TEST_P(executors, and_workers_end_soon_after_the_last_message_of_an_empty_queue) {
  auto shortest = std::chrono::steady_clock::duration::max();
  for (int round = 0; round < 5; ++round) {
    const auto empty = std::make_shared<looks>();
    auto own = open({.observer = empty});
    auto jobs = own.claim("jobs");
    jobs.enqueue("x");
    std::promise<void> go_on;
    auto wait = go_on.get_future().share();
    tableq::worker pool(jobs, [&](const tableq::delivery&) { wait.wait(); }, {.until_empty = true});
    empty->wait_for_one();
    const auto begin = std::chrono::steady_clock::now();
    go_on.set_value();
    ASSERT_TRUE(pool.wait_for(for_ever));
    shortest = std::min(shortest, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(shortest, 500ms);
}

TEST_P(executors, refuse_a_handler_that_joins_its_worker) {
  auto jobs = filled(1);
  task_box box;
  std::promise<tableq::worker*> made;
  std::optional<tableq::error> refused;
  tableq::worker pool(
      jobs,
      [&, worker = made.get_future().share()](const tableq::delivery&) {
        refused = thrown_by([&] { worker.get()->join(); });
      },
      {.until_empty = true, .executor = [&](task one) { box.put(std::move(one)); }});
  made.set_value(&pool);
  for (const task& one : box.take(1)) one();
  pool.join();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code(), tableq::errc::invalid_argument);
  EXPECT_TRUE(contains(refused->what(), "would wait for itself")) << refused->what();
}

}  // namespace
