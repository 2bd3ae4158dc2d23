#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "conformance/claim_fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class concurrency : public claim_test {
 protected:
  void fill(std::size_t count) {
    for (const std::string& each : numbered(count)) jobs().enqueue(each);
  }
};
TABLEQ_ON_BACKENDS(concurrency, all_backends);

TEST_P(concurrency, holds_a_waiting_take_until_a_lease_is_given_back) {
  fill(2);
  jobs().set_limits({.concurrency = 1});
  const auto held = take_one();
  EXPECT_TRUE(jobs().take(1, {.wait = 30ms}).empty());
  latch started(1);
  std::size_t got = 0;
  {
    const std::jthread waiter([&, own = jobs()]() mutable {
      started.count_down();
      got = own.take(2, {.wait = for_ever}).size();
    });
    started.wait();
    EXPECT_EQ(jobs().complete(held.receipt), tableq::settle_result::applied);
  }
  EXPECT_EQ(got, 1U);
}

class shared_concurrency : public on_each_backend {};
TABLEQ_ON_BACKENDS(shared_concurrency, shared_backends);

TEST_P(shared_concurrency, is_never_exceeded_by_threads_of_two_database_objects) {
  constexpr int most = 3;
  constexpr std::size_t messages = 60;
  auto near = db().claim("jobs", {.lease = 1h});
  for (const std::string& each : numbered(messages)) near.enqueue(each);
  near.set_limits({.concurrency = most});
  auto elsewhere = open({.retry_for = 5min});
  auto far = elsewhere.claim("jobs", {.lease = 1h});
  std::atomic<int> running{0};
  std::atomic<int> highest{0};
  std::atomic<std::size_t> done{0};
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < 8; ++i) {
      workers.emplace_back([&, own = i % 2 == 0 ? near : far]() mutable {
        while (done < messages) {
          for (const auto& each : own.take(2, {.wait = 20ms})) {
            const int now = ++running;
            for (int seen = highest; seen < now && !highest.compare_exchange_weak(seen, now);) {
            }
            EXPECT_LE(own.stats().leased, static_cast<std::size_t>(most)) << "some work";
            --running;
            if (own.complete(each.receipt) == tableq::settle_result::applied) ++done;
          }
        }
      });
    }
  }
  EXPECT_EQ(done, messages);
  EXPECT_LE(highest, most);
  EXPECT_EQ(near.stats().leased, 0U);
}

TEST_P(shared_concurrency, counts_the_leases_of_others) {
  auto near = db().claim("jobs", {.lease = 1h});
  for (int i = 0; i < 6; ++i) near.enqueue("work");
  near.set_limits({.concurrency = 4});
  auto elsewhere = open();
  auto far = elsewhere.claim("jobs", {.lease = 1h});
  EXPECT_EQ(near.take(3).size(), 3U);
  const auto theirs = far.take(3);
  ASSERT_EQ(theirs.size(), 1U);
  EXPECT_TRUE(near.take(1).empty());
  EXPECT_EQ(far.complete(theirs[0].receipt), tableq::settle_result::applied);
  EXPECT_EQ(near.take(3).size(), 1U);
}

}  // namespace
