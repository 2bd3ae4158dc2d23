#include "hostile/workload.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/any_queue.hpp"

namespace tableq_test {

using namespace std::chrono_literals;

void work_with(tableq::database& db) {
  // Everything that a quoting rule, an encoding or a format could spoil.
  const std::string text = "it's \\ \"x\" $1 :name {a,NULL} \xC3\xA4\xE2\x82\xAC 1,5";
  const std::string odd = text + std::string("\0\x01\xFF\r\n", 5);
  for (const tableq::kind each :
       {tableq::kind::heap, tableq::kind::fifo, tableq::kind::lifo, tableq::kind::pending}) {
    any_queue queue(db, each, tableq::to_string(each));
    queue.put(odd);
    EXPECT_EQ(queue.put_all({odd, "", odd}).size(), 3U);
    EXPECT_EQ(queue.waiting(), 4U);
    const auto got = queue.take_up_to(10);
    ASSERT_EQ(got.size(), 4U);
    EXPECT_EQ(got[0].payload, odd);
    EXPECT_EQ(got[3].payload, odd);
  }
  auto jobs = db.claim("claim", {.retry = tableq::retry_delays{.after = {0ms, 1h}, .jitter = 50}});
  const auto stored = jobs.enqueue(
      odd, {.priority = 1'234'567, .headers = {{text, text}}, .key = text, .max_attempts = 2});
  EXPECT_TRUE(jobs.enqueue("twice", {.key = text}).existed());
  static_cast<void>(jobs.enqueue("later", {.delay = 1h}));
  const auto taken = jobs.take({.lease = 1min});
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].receipt.id, stored.id);
  EXPECT_EQ(taken[0].payload, odd);
  EXPECT_EQ(taken[0].priority, 1'234'567);
  EXPECT_EQ(taken[0].key, text);
  EXPECT_EQ(taken[0].headers.at(text), text);
  const auto lease = taken[0].lease_until - taken[0].created_at;
  EXPECT_TRUE(lease >= 1min && lease < 2min) << lease.count();
  EXPECT_EQ(jobs.extend(taken[0].receipt, 2min), tableq::settled::done);
  EXPECT_EQ(jobs.fail(taken[0].receipt, text), tableq::settled::done);
  const auto again = jobs.take();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(jobs.get(again[0].receipt.id)->errors.at(0).error, text);
  db.transact([&](tableq::transaction& tx) {
    EXPECT_EQ(jobs.complete(tx, again[0].receipt), tableq::settled::done);
    static_cast<void>(jobs.enqueue(tx, "next"));
  });
  const auto stats = jobs.stats();
  EXPECT_EQ(stats.ready, 1U);
  EXPECT_EQ(stats.delayed, 1U);
  jobs.set_limits({.rate = 2.5, .burst = 3});
  EXPECT_EQ(jobs.limits().rate, 2.5);
  const auto last = jobs.take();
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(jobs.complete(last[0].receipt), tableq::settled::done);
  jobs.set_limits({});
  EXPECT_FALSE(jobs.find(text).has_value());
  for (const auto& each : jobs.list(tableq::message_state::delayed)) jobs.cancel(each.id);
}

}  // namespace tableq_test
