// One worker that serves several queues.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "support/becomes.hpp"
#include "support/expect.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Long enough for a loaded machine; without an error nothing waits that long.
constexpr auto longest_wait = 60s;

/// Counts the messages of each queue whose leases were extended: the worker has them at hand.
class kept_leases : public tableq::observer {
 public:
  void after(const tableq::observed_operation& operation,
             const tableq::operation_result& /*result*/) override {
    if (operation.name != "claim.heartbeat") return;
    if (operation.queue == "a") a = operation.given;
    if (operation.queue == "b") b = operation.given;
  }
  std::atomic<std::size_t> a = 0;
  std::atomic<std::size_t> b = 0;
};

class sources_of_a_worker : public on_each_backend {
 protected:
  tableq::claim_queue filled(const std::string& name, std::size_t count) {
    tableq::claim_queue queue = db().claim(name);
    for (std::size_t i = 0; i < count; ++i) queue.enqueue("work");
    return queue;
  }

  /// The order in which one thread begins eight messages of A and four of B. Another message keeps
  /// it busy until the worker has those of B at hand, and of A if both are equal.
  std::string order(std::size_t weight_of_a, int precedence_of_b) {
    const auto kept = std::make_shared<kept_leases>();
    tableq::database watched = open({.observer = kept});
    std::mutex guard;
    std::string seen;
    const auto named = [&](char name) -> tableq::handler {
      return [&, name](const tableq::delivery&) {
        const std::scoped_lock hold(guard);
        seen += name;
      };
    };
    std::promise<void> begun;
    std::promise<void> open_gate;
    static_cast<void>(filled("gate", 1));
    static_cast<void>(filled("a", 0));
    static_cast<void>(filled("b", 0));
    tableq::worker pool(
        {{.queue = watched.claim("a"), .work = named('A'), .weight = weight_of_a},
         {.queue = watched.claim("b"), .work = named('B'), .precedence = precedence_of_b},
         {.queue = watched.claim("gate"),
          .work =
              [&](const tableq::delivery&) {
                begun.set_value();
                open_gate.get_future().wait();
              }}},
        {.threads = 1, .prefetch = 20, .lease = 3s, .until_empty = true});
    begun.get_future().wait();
    static_cast<void>(filled("b", 4));
    EXPECT_TRUE(becomes([&] { return kept->b == 4; }));
    static_cast<void>(filled("a", 8));
    EXPECT_TRUE(becomes([&] { return precedence_of_b > 0 || kept->a == 8; }));
    open_gate.set_value();
    EXPECT_TRUE(pool.wait_for(longest_wait));
    pool.join();
    EXPECT_EQ(pool.counts(0).completed, 8U);
    EXPECT_EQ(pool.counts(1).completed, 4U);
    EXPECT_EQ(pool.counts().completed, 13U);
    return seen;
  }
};
TABLEQ_ON_BACKENDS(sources_of_a_worker, direct_backends);

TEST_P(sources_of_a_worker, take_turns_by_their_weights) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  EXPECT_EQ(order(3, 0), "ABAAABAAABAB");
}

TEST_P(sources_of_a_worker, of_higher_precedence_come_first) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  EXPECT_EQ(order(1000, 1), "BBBBAAAAAAAA");
}

TEST_P(sources_of_a_worker, of_lower_precedence_are_left_to_others_while_higher_ones_wait) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  const auto kept = std::make_shared<kept_leases>();
  tableq::database watched = open({.observer = kept});
  static_cast<void>(filled("gate", 1));
  static_cast<void>(filled("a", 0));
  static_cast<void>(filled("b", 0));
  std::promise<void> begun;
  std::promise<void> open_gate;
  tableq::worker pool(
      {{.queue = watched.claim("a"), .work = [](const tableq::delivery&) {}},
       {.queue = watched.claim("b"), .work = [](const tableq::delivery&) {}, .precedence = 1},
       {.queue = watched.claim("gate"),
        .work =
            [&](const tableq::delivery&) {
              begun.set_value();
              open_gate.get_future().wait();
            }}},
      {.threads = 1, .lease = 3s, .until_empty = true});
  begun.get_future().wait();
  static_cast<void>(filled("a", 1));
  EXPECT_TRUE(becomes([&] { return kept->a == 1; }));
  static_cast<void>(filled("b", 1));
  EXPECT_TRUE(becomes([&] { return pool.counts(0).given_back == 1; }));
  EXPECT_EQ(db().claim("a").stats().ready, 1U);
  open_gate.set_value();
  EXPECT_TRUE(pool.wait_for(longest_wait));
  EXPECT_EQ(pool.counts().completed, 3U);
}

TEST_P(sources_of_a_worker, are_not_held_up_by_one_whose_database_is_away) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  static_cast<void>(filled("b", 0));
  tableq::claim_queue a = filled("a", 1);
  const tableq::testing::faults faults;
  open_with(faults);
  const auto kept = std::make_shared<kept_leases>();
  tableq::database other = open({.retry_for = 24h, .observer = kept});
  std::promise<void> begun;
  std::promise<void> open_gate;
  std::atomic<bool> first = true;
  tableq::worker pool(
      {{.queue = a,
        .work =
            [&](const tableq::delivery&) {
              if (!first.exchange(false)) return;
              begun.set_value();
              open_gate.get_future().wait();
            }},
       {.queue = other.claim("b"), .work = [](tableq::transaction&, const tableq::delivery&) {}}},
      {.threads = 1, .prefetch = 20, .lease = 3s});
  begun.get_future().wait();
  static_cast<void>(filled("b", 3));
  ASSERT_TRUE(becomes([&] { return kept->b == 3; }));
  faults.fail_some(1, {{tableq::testing::trouble::lost_connection}});
  for (int i = 0; i < 5; ++i) a.enqueue("work");
  open_gate.set_value();
  EXPECT_TRUE(becomes([&] { return pool.counts(0).completed == 6; }));
  EXPECT_EQ(pool.counts(1).completed, 0U);
  faults.heal();
  EXPECT_TRUE(becomes([&] { return pool.counts(1).completed == 3; }));
  pool.stop();
  EXPECT_TRUE(pool.wait_for(longest_wait));
}

TEST_P(sources_of_a_worker, are_not_left_while_a_handler_of_another_fills_them) {
  tableq::claim_queue first = filled("first", 5);
  tableq::claim_queue second = db().claim("second");
  tableq::worker pool(
      {{.queue = second, .work = [](const tableq::delivery&) {}},
       {.queue = first, .work = [&](const tableq::delivery& d) { second.enqueue(d.payload); }}},
      {.threads = 2, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(longest_wait));
  pool.join();
  EXPECT_EQ(pool.counts(0).completed, 5U);
  EXPECT_EQ(pool.counts(1).completed, 5U);
  EXPECT_EQ(second.stats().ready, 0U);
}

TEST_P(sources_of_a_worker, are_named_by_events) {
  std::mutex guard;
  std::vector<std::string> seen;
  tableq::worker pool({{.queue = filled("a", 1), .work = [](const tableq::delivery&) {}},
                       {.queue = filled("b", 1), .work = [](const tableq::delivery&) {}}},
                      {.until_empty = true, .observe = [&](const tableq::worker_event& event) {
                         const std::scoped_lock hold(guard);
                         seen.push_back(std::string(event.queue) + std::to_string(event.source));
                       }});
  ASSERT_TRUE(pool.wait_for(longest_wait));
  pool.join();
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::string>{"a0", "b1"}));
}

TEST_P(sources_of_a_worker, are_refused_when_one_is_unusable) {
  const tableq::handler work = [](const tableq::delivery&) {};
  const tableq::claim_queue jobs = db().claim("jobs");
  const auto with = [&](const tableq::worker_source& second) {
    return std::vector<tableq::worker_source>{{.queue = jobs, .work = work}, second};
  };
  EXPECT_CODE(invalid_argument, tableq::worker(std::vector<tableq::worker_source>()));
  EXPECT_CODE(invalid_argument, tableq::worker(with({.queue = jobs})));
  EXPECT_CODE(invalid_argument, tableq::worker(with({.queue = jobs, .work = work, .weight = 0})));
  EXPECT_CODE(invalid_argument,
              tableq::worker(with({.queue = jobs, .work = work, .weight = 1001})));
}

}  // namespace
