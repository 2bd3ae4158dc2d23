// Messages that handlers keep.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "conformance/table_fixture.hpp"
#include "support/at_once.hpp"
#include "support/becomes.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using kind = tableq::worker_event::kind;

/// A kept message, as the application goes on with it.
struct job {
  tableq::delivery message;
  tableq::kept_delivery later;
};

/// Jobs that handlers have kept.
class job_box {
 public:
  /// A handler that keeps its message.
  tableq::handler keeper() {
    return [this](const tableq::delivery& d) {
      job one{d, {}};
      const tableq::handled verdict = tableq::handled::kept(one.later);
      const std::scoped_lock hold(mutex_);
      jobs_.push_back(std::move(one));
      changed_.notify_all();
      return verdict;
    };
  }
  /// Waits for one.
  job take() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, for_ever, [&] { return !jobs_.empty(); })) {
      throw std::runtime_error("no message was kept");
    }
    job out = std::move(jobs_.front());
    jobs_.pop_front();
    return out;
  }
  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock hold(mutex_);
    return jobs_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> jobs_;
};

class kept_messages : public on_each_backend {
 protected:
  tableq::claim_queue jobs(const tableq::claim_options& options = {}) {
    return db().claim("jobs", at_once(options));
  }
  static void fill(tableq::claim_queue queue, std::size_t count) {
    const std::vector<tableq::new_claim_message> batch(count, {.payload = "job"});
    queue.enqueue_batch(batch);
  }

  job_box box;
};
TABLEQ_ON_BACKENDS(kept_messages, direct_backends);

TEST_P(kept_messages, stay_the_workers_until_any_thread_ends_them) {
  fill(jobs(), 1);
  tableq::worker pool(jobs(), box.keeper(), {.lease = 300ms, .until_empty = true});
  const job one = box.take();
  // Without the worker's extensions the lease would be over: no other take gets the message.
  EXPECT_TRUE(jobs().take(1, {.wait = 1s}).empty());
  EXPECT_EQ(pool.counts().kept, 1U);
  EXPECT_EQ(pool.counts().running, 0U);
  std::thread([&] { EXPECT_TRUE(one.later.complete()); }).join();
  EXPECT_FALSE(one.later.complete());
  EXPECT_FALSE(one.later.fail("too late"));
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 1U);
  EXPECT_EQ(pool.counts().lease_lost + pool.counts().kept, 0U);
}

TEST_P(kept_messages, end_as_the_verdicts_of_handlers_do) {
  auto queue = jobs({.max_attempts = 2});
  for (const char* each : {"fails", "is given back", "is given up"}) queue.enqueue(each);
  tableq::worker pool(queue, box.keeper(), {.until_empty = true});
  std::map<std::string, int> runs;
  for (int i = 0; i < 5; ++i) {
    const job one = box.take();
    const std::string& what = one.message.payload;
    if (++runs[what] == 2) {
      EXPECT_EQ(one.message.attempt, what == "fails" ? 2 : 1);
      EXPECT_TRUE(one.later.complete());
    } else if (what == "fails") {
      EXPECT_TRUE(one.later.fail("at first", {.delay = 1ms}));
    } else if (what == "is given back") {
      EXPECT_TRUE(one.later.give_back());
    } else {
      EXPECT_TRUE(one.later.fail("never", {.give_up = true}));
    }
  }
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 2U);
  EXPECT_EQ(pool.counts().failed, 2U);
  EXPECT_EQ(pool.counts().given_back, 1U);
  const auto dead = jobs().list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].errors.at(0).error, "never");
}

TEST_P(kept_messages, may_end_before_their_handlers_return) {
  fill(jobs(), 20);
  tableq::worker pool(jobs(),
                      [](const tableq::delivery&) {
                        const tableq::kept_delivery later;
                        EXPECT_TRUE(later.complete());
                        EXPECT_FALSE(later.give_back());
                        return tableq::handled::kept(later);
                      },
                      {.threads = 3, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 20U);
}

TEST_P(kept_messages, are_no_more_than_their_bound) {
  constexpr std::size_t most = 3;
  constexpr std::size_t all = 30;
  fill(jobs(), all);
  tableq::worker pool(jobs(), box.keeper(),
                      {.threads = 2, .prefetch = 1, .max_kept = most, .until_empty = true});
  std::size_t highest = 0;
  for (std::size_t i = 0; i < all; ++i) {
    if (all - i >= most) {
      EXPECT_TRUE(becomes([&] { return box.size() == most; }));
    }
    highest = std::max({highest, box.size(), pool.counts().kept});
    // Those that have their end, but not in the table yet, are leased too.
    const std::size_t ending = i - pool.counts().completed;
    EXPECT_LE(jobs().stats().leased, most + 3 + ending);
    EXPECT_TRUE(box.take().later.complete());
  }
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, all);
  EXPECT_LE(highest, most);
}

TEST_P(kept_messages, of_a_thread_pool_are_all_completed_in_their_first_attempt) {
  constexpr std::size_t count = 500;
  fill(jobs(), count);
  std::atomic<std::size_t> ended = 0;
  std::atomic<int> later_attempts = 0;
  std::jthread finisher([&] {
    while (ended < count) {
      const job one = box.take();
      if (one.message.attempt > 1) ++later_attempts;
      EXPECT_TRUE(one.later.complete());
      ++ended;
    }
  });
  tableq::worker pool(jobs(), box.keeper(), {.threads = 4, .lease = 500ms, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, count);
  EXPECT_EQ(later_attempts, 0);
}

TEST_P(kept_messages, that_a_queue_settles_are_noticed) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  fill(jobs(), 2);
  std::atomic<int> told = 0;
  tableq::worker pool(jobs(), box.keeper(),
                      {.max_kept = 2,
                       .lease = 1500ms,
                       .until_empty = true,
                       .observe = [&](const tableq::worker_event& event) {
                         told += event.what == kind::settled_by_handler ? 1 : 0;
                       }});
  const job one = box.take();
  const job two = box.take();
  EXPECT_EQ(jobs().complete(one.message), tableq::settle_result::applied);
  EXPECT_TRUE(becomes([&] { return pool.counts().settled_by_handler == 1; }));
  EXPECT_FALSE(one.later.complete());
  {
    tableq::transaction tx = db().begin();
    EXPECT_EQ(jobs().in(tx).complete(two.message), tableq::settle_result::applied);
    tx.rollback();
  }
  EXPECT_TRUE(two.later.complete());
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 1U);
  EXPECT_EQ(pool.counts().lease_lost, 0U);
  EXPECT_EQ(told, 1);
}

TEST_P(kept_messages, whose_lease_is_lost_are_told_by_the_stop_token) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  const tableq::testing::faults faults;
  auto own = faults.open(here().url(), {.retry_for = 0ms});
  auto queue = own.claim("jobs");
  fill(queue, 1);
  constexpr std::size_t planned = 10'000;
  for (std::size_t nth = 1; nth <= planned; ++nth) {
    faults.fail("claim.heartbeat", {tableq::testing::trouble::busy}, nth);
  }
  std::promise<std::stop_token> given;
  tableq::kept_delivery later;
  tableq::worker pool(queue,
                      [&](const tableq::delivery&, const std::stop_token& stop) {
                        given.set_value(stop);
                        return tableq::handled::kept(later);
                      },
                      // No take of the worker waits, which could get the message again.
                      {.prefetch = 0, .lease = 200ms});
  const std::stop_token stop = given.get_future().get();
  auto other = open();
  ASSERT_EQ(other.claim("jobs").take(1, {.wait = for_ever, .lease = 1h}).size(), 1U);
  faults.heal();
  EXPECT_TRUE(becomes([&] { return pool.counts().lease_lost == 1; }));
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_FALSE(later.complete());
  EXPECT_EQ(pool.counts().kept, 0U);
}

TEST_P(kept_messages, are_waited_for_by_stop) {
  fill(jobs(), 5);
  tableq::worker pool(jobs(), box.keeper(), {.threads = 2});
  const job one = box.take();
  const job two = box.take();
  pool.stop();
  EXPECT_FALSE(pool.wait_for(50ms));
  EXPECT_TRUE(one.later.complete());
  EXPECT_FALSE(pool.wait_for(50ms));
  EXPECT_TRUE(two.later.fail("x"));
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 1U);
  EXPECT_EQ(pool.counts().failed, 1U);
  EXPECT_EQ(jobs().stats().leased, 0U);
}

TEST_P(kept_messages, are_given_back_by_abandon_a_deadline_and_the_destructor) {
  using ending = std::function<void(std::optional<tableq::worker>&)>;
  const std::vector<ending> endings = {[](auto& pool) {
                                         pool->abandon();
                                         ASSERT_TRUE(pool->wait_for(for_ever));
                                         // A take that ends just now may get it once more.
                                         EXPECT_GE(pool->counts().given_back, 1U);
                                       },
                                       [](auto& pool) {
                                         EXPECT_FALSE(pool->stop_within(1ms));
                                         ASSERT_TRUE(pool->wait_for(for_ever));
                                         EXPECT_GE(pool->counts().given_back, 1U);
                                       },
                                       [](auto& pool) { pool.reset(); }};
  for (const ending& end : endings) {
    fill(jobs(), 1);
    std::optional<tableq::worker> pool(std::in_place, jobs(), box.keeper());
    const job one = box.take();
    EXPECT_TRUE(becomes([&] { return pool->counts().kept == 1; }));
    end(pool);
    EXPECT_FALSE(one.later.complete());
    const auto again = jobs().take_one();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->attempt, 1);
    EXPECT_EQ(jobs().complete(*again), tableq::settle_result::applied);
  }
}

TEST_P(kept_messages, outlive_their_worker_and_their_database_without_effect) {
  std::optional<job> last;
  {
    auto own = open();
    auto queue = own.claim("jobs");
    fill(queue, 1);
    const tableq::worker pool(queue, box.keeper());
    last = box.take();
  }
  EXPECT_FALSE(last->later.complete());
  last.reset();
}

TEST_P(kept_messages, cannot_end_after_a_lasting_failure_of_their_worker) {
  auto queue = jobs();
  fill(queue, 2);
  tableq::worker pool(queue, box.keeper(), {.max_kept = 2});
  const job first = box.take();
  const job second = box.take();
  ASSERT_TRUE(becomes([&] { return pool.counts().kept == 2; }));
  db().drop("jobs");
  EXPECT_TRUE(first.later.complete()) << "the worker does not know yet";
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_FALSE(second.later.complete());
  EXPECT_THROW(pool.join(), tableq::error);
}

TEST_P(kept_messages, that_are_dropped_are_given_back) {
  fill(jobs(), 1);
  std::atomic<int> calls = 0;
  tableq::worker pool(jobs(),
                      [&](const tableq::delivery& d) {
                        EXPECT_EQ(d.attempt, 1);
                        if (++calls > 3) return tableq::handled::completed();
                        const tableq::kept_delivery later;
                        return tableq::handled::kept(later);
                      },
                      {.until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().given_back, 3U);
  EXPECT_EQ(pool.counts().completed, 1U);
}

TEST_P(kept_messages, need_an_object_each) {
  fill(jobs({.max_attempts = 1}), 2);
  const tableq::kept_delivery one;
  tableq::kept_delivery moved;
  const tableq::kept_delivery elsewhere(std::move(moved));
  tableq::worker pool(jobs({.max_attempts = 1}),
                      [&](const tableq::delivery&) { return tableq::handled::kept(one); },
                      {.threads = 2, .max_kept = 2});
  EXPECT_TRUE(becomes([&] { return pool.counts().failed == 1; }));
  EXPECT_TRUE(one.complete());
  EXPECT_TRUE(becomes([&] { return pool.counts().completed == 1; }));
  EXPECT_TRUE(contains(jobs().list(tableq::message_state::dead).at(0).errors.at(0).error,
                       "make one for each"));
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the question
  EXPECT_FALSE(moved.complete());
}

TEST_P(kept_messages, fail_in_a_handler_with_a_transaction) {
  fill(jobs({.max_attempts = 1}), 1);
  auto done = db().heap("done");
  tableq::kept_delivery later;
  tableq::worker pool(jobs({.max_attempts = 1}),
                      [&](tableq::transaction& tx, const tableq::delivery& d) {
                        done.in(tx).enqueue(d.payload);
                        return tableq::handled::kept(later);
                      },
                      {.until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(done.stats().waiting, 0U);
  EXPECT_FALSE(later.complete());
  EXPECT_TRUE(contains(jobs().list(tableq::message_state::dead).at(0).errors.at(0).error,
                       "without a transaction"));
}

TEST_P(kept_messages, settled_in_a_transaction_free_their_place_at_once) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  fill(jobs(), 3);
  // Without settled() each would keep its place until the next extension, ten minutes later.
  tableq::worker pool(jobs(), box.keeper(), {.max_kept = 1, .lease = 30min, .until_empty = true});
  for (int i = 0; i < 3; ++i) {
    const job one = box.take();
    db().transact([&](tableq::transaction& tx) {
      EXPECT_EQ(jobs().in(tx).complete(one.message), tableq::settle_result::applied);
    });
    EXPECT_TRUE(one.later.settled());
    EXPECT_FALSE(one.later.complete());
  }
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().settled_by_handler, 3U);
  EXPECT_EQ(pool.counts().lease_lost + pool.counts().completed, 0U);
}

TEST_P(kept_messages, fail_in_a_drain) {
  fill(jobs({.max_attempts = 1}), 1);
  EXPECT_EQ(tableq::drain(jobs({.max_attempts = 1}), box.keeper()), 1U);
  EXPECT_FALSE(box.take().later.complete());
  EXPECT_TRUE(contains(jobs().list(tableq::message_state::dead).at(0).errors.at(0).error, "drain"));
}

TEST_P(kept_messages, of_an_executor_are_kept_too) {
  fill(jobs(), 10);
  tableq::worker pool(jobs(), box.keeper(),
                      {.threads = 2,
                       .until_empty = true,
                       .executor = [](const std::function<void()>& one) { one(); }});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(box.take().later.complete());
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 10U);
}

TEST_P(kept_messages, hold_up_no_other_source) {
  fill(jobs(), 3);
  auto others = db().claim("others");
  fill(others, 20);
  tableq::worker pool({{.queue = jobs(), .work = box.keeper()},
                       {.queue = others, .work = [](const tableq::delivery&) {}}},
                      {.until_empty = true});
  EXPECT_TRUE(becomes([&] { return pool.counts(1).completed == 20; }));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(box.take().later.complete());
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts(0).completed, 3U);
}

TEST_P(kept_messages, refuse_a_bound_out_of_range) {
  const auto nothing = [](const tableq::delivery&) {};
  EXPECT_CODE(invalid_argument, tableq::worker(jobs(), nothing, {.max_kept = 0}));
  EXPECT_CODE(invalid_argument, tableq::worker(jobs(), nothing, {.max_kept = 10'001}));
}

class kept_rows : public on_own_table {};
TABLEQ_ON_BACKENDS(kept_rows, shared_backends);

TEST_P(kept_rows, stay_the_workers_until_any_thread_ends_them) {
  requests(2);
  job_box box;
  tableq::worker pool(emails(), box.keeper(), {.until_empty = true});
  EXPECT_TRUE(box.take().later.complete());
  EXPECT_TRUE(box.take().later.fail("never", {.give_up = true}));
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 1U);
  EXPECT_EQ(pool.counts().failed, 1U);
}

}  // namespace
