#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

using kind = tableq::worker_event::kind;

/// Handlers with the transaction in which their message is completed; the queue `done` has their
/// work.
class handlers_with_a_transaction : public on_each_backend {
 protected:
  using work = std::function<tableq::handled(tableq::transaction&, const tableq::delivery&)>;

  tableq::claim_queue jobs(const tableq::claim_options& options = {}) {
    return db().claim("jobs", options);
  }
  tableq::heap_queue done() { return db().heap("done"); }
  /// Runs a worker until the queue is empty. @return its figures.
  tableq::worker_counts run(const work& handler, tableq::worker_options options = {}) {
    options.until_empty = true;
    tableq::worker pool(jobs(), handler, std::move(options));
    EXPECT_TRUE(pool.wait_for(for_ever));
    EXPECT_NO_THROW(pool.join());
    return pool.counts();
  }
  /// As the worker's observer. @return how many ends it received.
  static std::function<void(const tableq::worker_event&)> count(kind which, std::atomic<int>& of) {
    return [which, &of](const tableq::worker_event& event) { of += event.what == which ? 1 : 0; };
  }
};
TABLEQ_ON_BACKENDS(handlers_with_a_transaction, direct_backends);

TEST_P(handlers_with_a_transaction, that_pass_on_one_of_their_own_leave_no_trace_in_the_thread) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  for (const char* each : {"first", "second"}) jobs({.max_attempts = 1}).enqueue(each);
  auto out = done();
  std::optional<tableq::transaction> passed_on;
  tableq::worker pool(jobs(),
                      [&](const tableq::delivery& d) {
                        if (d.payload == "first") {
                          passed_on.emplace(db().begin());
                          out.in(*passed_on).enqueue("in it");
                        } else {
                          out.enqueue("beside it");
                        }
                      },
                      {.threads = 1, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  pool.join();
  ASSERT_EQ(pool.counts().completed, 2U);
  EXPECT_EQ(out.dequeue()->payload, "beside it");
  passed_on->commit();
  EXPECT_EQ(out.dequeue()->payload, "in it");
}

TEST_P(handlers_with_a_transaction, commit_their_work_with_the_completion) {
  constexpr std::size_t many = 20;
  for (std::size_t i = 0; i < many; ++i) jobs().enqueue("job");
  auto out = done();
  const auto counts = run(
      [&](tableq::transaction& tx, const tableq::delivery& d) {
        out.in(tx).enqueue(d.payload);
        return tableq::handled::completed();
      },
      {.threads = 3});
  EXPECT_EQ(counts.completed, many);
  EXPECT_EQ(counts.lease_lost + counts.failed + counts.unknown, 0U);
  EXPECT_EQ(out.stats().waiting, many);
  EXPECT_EQ(jobs().stats().ready + jobs().stats().leased, 0U);
}

TEST_P(handlers_with_a_transaction, leave_nothing_behind_when_they_fail) {
  auto queue = jobs({.max_attempts = 1});
  auto out = done();
  for (const char* each : {"throws", "fails", "gives up", "works"}) queue.enqueue(each);
  const work handler = [&](tableq::transaction& tx, const tableq::delivery& d) {
    out.in(tx).enqueue(d.payload);
    if (d.payload == "throws") throw std::runtime_error("it threw");
    if (d.payload == "fails") return tableq::handled::failed("it failed");
    if (d.payload == "gives up") return tableq::handled::give_up("it gave up");
    return tableq::handled::completed();
  };
  const auto counts = run(handler);
  EXPECT_EQ(counts.completed, 1U);
  EXPECT_EQ(counts.failed, 3U);
  const auto left = out.dequeue_batch(10);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].payload, "works");
  const auto dead = queue.list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 3U);
  EXPECT_EQ(dead[0].errors.at(0).error, "it threw");
}

TEST_P(handlers_with_a_transaction, cannot_commit_it_themselves) {
  jobs({.max_attempts = 2}).enqueue("job");
  auto out = done();
  const auto counts = run([&](tableq::transaction& tx, const tableq::delivery& d) {
    out.in(tx).enqueue(d.payload);
    tx.commit();
    return tableq::handled::completed();
  });
  EXPECT_EQ(counts.failed, 2U);
  EXPECT_EQ(out.stats().waiting, 0U);
}

TEST_P(handlers_with_a_transaction, are_called_again_after_a_conflict) {
  jobs().enqueue("job");
  auto out = done();
  std::atomic<int> calls = 0;
  const auto counts = run([&](tableq::transaction& tx, const tableq::delivery& d) {
    out.in(tx).enqueue(d.payload);
    if (++calls < 3) {
      throw tableq::error(tableq::errc::conflict, tableq::advice::transaction, "made by the test");
    }
    return tableq::handled::completed();
  });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(counts.completed, 1U);
  EXPECT_EQ(counts.failed, 0U);
  EXPECT_EQ(out.stats().waiting, 1U);
}

TEST_P(handlers_with_a_transaction, lose_their_work_with_the_lease) {
  auto queue = jobs();
  queue.enqueue("job");
  auto out = done();
  std::atomic<int> calls = 0;
  const auto counts = run(
      [&](tableq::transaction& tx, const tableq::delivery& d) {
        out.in(tx).enqueue(d.payload);
        // From then on the receipt is invalid; the rollback undoes that, too.
        if (++calls == 1) {
          EXPECT_EQ(queue.in(tx).release(d), tableq::settle_result::applied);
        }
        return tableq::handled::completed();
      },
      {.lease = 300ms});
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(counts.lease_lost, 1U);
  EXPECT_EQ(counts.completed, 1U);
  EXPECT_EQ(out.stats().waiting, 1U);
}

TEST_P(handlers_with_a_transaction, may_settle_in_it_themselves) {
  jobs().enqueue("job");
  auto out = done();
  auto queue = jobs();
  std::atomic<int> told = 0;
  const auto counts = run(
      [&](tableq::transaction& tx, const tableq::delivery& d) {
        out.in(tx).enqueue(d.payload);
        EXPECT_EQ(queue.in(tx).complete(d), tableq::settle_result::applied);
        return tableq::handled::settled();
      },
      {.observe = count(kind::settled_by_handler, told)});
  EXPECT_EQ(counts.settled_by_handler, 1U);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(counts.completed + counts.lease_lost, 0U);
  EXPECT_EQ(out.stats().waiting, 1U);
}

TEST_P(handlers_with_a_transaction, are_not_repeated_when_nobody_knows_of_the_commit) {
  if (!can().shared) GTEST_SKIP() << "a database in memory is lost with its session";
  const tableq::testing::faults faults;
  open_with(faults);
  jobs().enqueue("job");
  auto out = done();
  std::atomic<int> calls = 0;
  std::atomic<int> told = 0;
  tableq::worker pool(jobs(),
                      [&](tableq::transaction& tx, const tableq::delivery& d) {
                        ++calls;
                        out.in(tx).enqueue(d.payload);
                        faults.fail("commit", {.when = tableq::testing::moment::after});
                      },
                      {.observe = count(kind::unknown, told)});
  while (pool.counts().unknown == 0 && !pool.wait_for(10ms)) {
  }
  pool.stop();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_NO_THROW(pool.join());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(out.stats().waiting, 1U);
}

TEST_P(handlers_with_a_transaction, get_the_stop_token_too) {
  jobs().enqueue("job");
  std::promise<void> running;
  {
    const tableq::worker pool(
        jobs(), [&](tableq::transaction&, const tableq::delivery&, const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any stopped;
          running.set_value();
          std::unique_lock lock(mutex);
          stopped.wait_for(lock, stop, for_ever, [] { return false; });
          return tableq::handled::give_back();
        });
    running.get_future().wait();
  }
  EXPECT_EQ(jobs().stats().ready, 1U);
}

class handlers_of_each_shape : public on_each_backend {};
TABLEQ_ON_BACKENDS(handlers_of_each_shape, direct_backends);

TEST_P(handlers_of_each_shape, serve_workers_and_drains) {
  auto jobs = db().claim("jobs");
  const auto both = [&](auto make) {
    jobs.enqueue("x");
    tableq::worker pool(jobs, make(), {.until_empty = true});
    ASSERT_TRUE(pool.wait_for(for_ever));
    EXPECT_NO_THROW(pool.join());
    EXPECT_EQ(pool.counts().completed, 1U);
    jobs.enqueue("x");
    EXPECT_EQ(tableq::drain(jobs, make()), 1U);
  };
  both([] { return [](const tableq::delivery&) {}; });
  both([] { return [](const tableq::delivery&) { return tableq::handled::completed(); }; });
  both([] { return [](const tableq::delivery&, const std::stop_token&) {}; });
  both([] { return [](tableq::delivery, std::stop_token) {}; });
  both([] { return [](const auto&, const auto&) { return tableq::handled::completed(); }; });
  both([] { return [calls = 0](const tableq::delivery&) mutable { EXPECT_GT(++calls, 0); }; });
  both([] {
    return [own = std::make_unique<int>(1)](const tableq::delivery&) { EXPECT_EQ(*own, 1); };
  });
  both([] { return std::function<void(const tableq::delivery&)>([](const auto&) {}); });
  both([] { return +[](const tableq::delivery&) {}; });
  both([] { return [](tableq::transaction&, const tableq::delivery&) {}; });
  EXPECT_EQ(jobs.stats().ready + jobs.stats().leased + jobs.stats().dead, 0U);
}

TEST_P(handlers_of_each_shape, keep_what_a_mutable_one_remembers) {
  auto jobs = db().claim("jobs");
  for (int i = 0; i < 3; ++i) jobs.enqueue("x");
  std::vector<int> seen;
  tableq::drain(jobs, [&, calls = 0](const tableq::delivery&) mutable { seen.push_back(++calls); });
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

TEST_P(handlers_of_each_shape, are_refused_when_they_are_empty) {
  auto jobs = db().claim("jobs");
  const std::function<void(const tableq::delivery&)> empty;
  void (*const null)(const tableq::delivery&) = nullptr;
  EXPECT_CODE(invalid_argument, tableq::worker(jobs, empty));
  EXPECT_CODE(invalid_argument, tableq::worker(jobs, nullptr));
  EXPECT_CODE(invalid_argument, tableq::drain(jobs, null));
}

}  // namespace
