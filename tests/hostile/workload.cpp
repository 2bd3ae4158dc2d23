#include "hostile/workload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "support/any_queue.hpp"

namespace tableq_test {

using namespace std::chrono_literals;

namespace {

// Everything that a quoting rule, an encoding or a format could spoil.
const std::string odd_text = "it's \\ \"x\" $1 :name {a,NULL} \xC3\xA4\xE2\x82\xAC 1,5";
const std::string odd_bytes = odd_text + std::string("\0\x01\xFF\r\n", 5);

/// A batch in which each option is given for some messages, and left out for others.
std::vector<tableq::new_claim_message> mixed_batch() {
  return {{.payload = odd_bytes},
          {.payload = "", .options = {.priority = 3, .key = "NULL", .group = "NULL"}},
          {.payload = "NULL", .options = {.headers = {{odd_text, odd_text}}, .group = odd_text}},
          {.payload = odd_bytes,
           .options = {.delay = 1h, .key = odd_text, .time_to_live = 2h, .max_attempts = 2}},
          {.payload = odd_bytes, .options = {.headers = {{"a", "NULL"}}, .group = odd_text}}};
}

void work_in_groups(tableq::database& db) {
  auto jobs = db.claim("grouped", {.groups = tableq::group_options{}});
  const auto stored = jobs.enqueue_batch(mixed_batch());
  ASSERT_EQ(stored.size(), 5U);
  std::vector<tableq::message_id> ids;
  for (const auto& each : stored) ids.push_back(each.id);
  EXPECT_EQ(jobs.find("NULL")->id, ids[1]);
  EXPECT_EQ(jobs.find(odd_text)->id, ids[3]);
  EXPECT_EQ(jobs.get(ids[2])->group, odd_text);
  EXPECT_EQ(jobs.get(ids[0])->group, std::nullopt);
  EXPECT_EQ(jobs.get(ids[0])->key, std::nullopt);
  EXPECT_EQ(jobs.stats().held, 1U);
  auto taken = jobs.take({.max = 10});
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0].receipt.id, ids[1]) << "the highest priority";
  EXPECT_EQ(taken[1].receipt.id, ids[0]);
  EXPECT_EQ(taken[2].headers.at(odd_text), odd_text);
  const std::vector<tableq::failure> failures = {
      {.receipt = taken[0].receipt, .error = odd_text, .options = {.give_up = true}},
      {.receipt = taken[1].receipt, .error = "NULL", .options = {.delay = 1h}}};
  EXPECT_EQ(jobs.fail(failures), std::vector(2, tableq::settled::done));
  EXPECT_EQ(jobs.complete(taken[2].receipt), tableq::settled::done);
  taken = jobs.take({.max = 10});
  ASSERT_EQ(taken.size(), 1U) << "the next of its group";
  EXPECT_EQ(taken[0].headers.at("a"), "NULL");
  EXPECT_EQ(jobs.release(taken[0].receipt), tableq::settled::done);
  EXPECT_EQ(jobs.set_priority(ids[4], 9), tableq::altered::done);
  EXPECT_EQ(jobs.redrive(std::array{ids[1]}), 1U);
  const auto running = jobs.take();
  ASSERT_EQ(running.size(), 1U);
  EXPECT_EQ(running[0].receipt.id, ids[4]);
  taken = jobs.take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(jobs.get(ids[1])->errors.at(0).error, odd_text);
  EXPECT_EQ(jobs.fail(taken[0].receipt, "over", {.give_up = true}), tableq::settled::done);
  EXPECT_EQ(jobs.purge(tableq::retained::dead), 1U);
  EXPECT_EQ(jobs.cancel(std::array{ids[0], ids[1], ids[3], ids[4]}),
            (std::vector{tableq::altered::done, tableq::altered::not_found, tableq::altered::done,
                         tableq::altered::running}));
  EXPECT_EQ(jobs.complete(running[0].receipt), tableq::settled::done);
}

}  // namespace

void work_within(tableq::database& db, tableq::transaction& tx) {
  for (const tableq::kind each :
       {tableq::kind::heap, tableq::kind::fifo, tableq::kind::lifo, tableq::kind::pending}) {
    any_queue queue(db, each, tableq::to_string(each));
    queue.put(tx, odd_bytes);
    queue.put_all(tx, {odd_bytes, "", odd_bytes});
    const auto got = queue.take_up_to(tx, 3);
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0].payload, odd_bytes);
    EXPECT_TRUE(queue.take(tx));
    EXPECT_FALSE(queue.take(tx));
  }
  auto jobs = db.claim("grouped", {.groups = tableq::group_options{}});
  std::vector<tableq::message_id> ids;
  for (const auto& each : jobs.enqueue_batch(tx, mixed_batch())) ids.push_back(each.id);
  ids.push_back(jobs.enqueue(tx, odd_bytes, {.key = "alone", .group = "alone"}).id);
  EXPECT_TRUE(jobs.enqueue(tx, "twice", {.key = odd_text}).existed());
  EXPECT_EQ(
      jobs.enqueue(tx, odd_bytes, {.key = "alone", .on_duplicate = tableq::on_duplicate::replace})
          .id,
      ids[5]);
  EXPECT_EQ(jobs.find(tx, "NULL")->id, ids[1]);
  EXPECT_EQ(jobs.get(tx, ids[0])->key, std::nullopt);
  const auto taken = jobs.take(tx, {.max = 10});
  ASSERT_EQ(taken.size(), 4U);
  EXPECT_EQ(taken[2].headers.at(odd_text), odd_text);
  EXPECT_EQ(jobs.complete(tx, std::array{taken[0].receipt, taken[1].receipt}),
            std::vector(2, tableq::settled::done));
  EXPECT_EQ(jobs.fail(tx, taken[2].receipt, odd_text, {.delay = 1h}), tableq::settled::done);
  EXPECT_EQ(jobs.extend(tx, taken[3].receipt, 1h), tableq::settled::done);
  EXPECT_EQ(jobs.complete(tx, taken[3].receipt), tableq::settled::done);
  EXPECT_EQ(jobs.set_priority(tx, ids[3], 7), tableq::altered::done);
  EXPECT_EQ(jobs.cancel(tx, std::array{ids[0], ids[2], ids[3], ids[4]}),
            (std::vector{tableq::altered::not_found, tableq::altered::done, tableq::altered::done,
                         tableq::altered::done}));
}

void work_with(tableq::database& db) {
  for (const tableq::kind each :
       {tableq::kind::heap, tableq::kind::fifo, tableq::kind::lifo, tableq::kind::pending}) {
    any_queue queue(db, each, tableq::to_string(each));
    queue.put(odd_bytes);
    EXPECT_EQ(queue.put_all({odd_bytes, "", odd_bytes}).size(), 3U);
    EXPECT_EQ(queue.waiting(), 4U);
    const auto got = queue.take_up_to(10);
    ASSERT_EQ(got.size(), 4U);
    EXPECT_EQ(got[0].payload, odd_bytes);
    EXPECT_EQ(got[3].payload, odd_bytes);
  }
  auto jobs = db.claim("claim", {.retry = tableq::retry_delays{.after = {0ms, 1h}, .jitter = 50}});
  const auto stored = jobs.enqueue(odd_bytes, {.priority = 1'234'567,
                                               .headers = {{odd_text, odd_text}},
                                               .key = odd_text,
                                               .max_attempts = 2});
  EXPECT_TRUE(jobs.enqueue("twice", {.key = odd_text}).existed());
  static_cast<void>(jobs.enqueue("later", {.delay = 1h}));
  const auto taken = jobs.take({.lease = 1min});
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].receipt.id, stored.id);
  EXPECT_EQ(taken[0].payload, odd_bytes);
  EXPECT_EQ(taken[0].priority, 1'234'567);
  EXPECT_EQ(taken[0].key, odd_text);
  EXPECT_EQ(taken[0].headers.at(odd_text), odd_text);
  const auto lease = taken[0].lease_until - taken[0].created_at;
  EXPECT_TRUE(lease >= 1min && lease < 2min) << lease.count();
  EXPECT_EQ(jobs.extend(taken[0].receipt, 2min), tableq::settled::done);
  EXPECT_EQ(jobs.fail(taken[0].receipt, odd_text), tableq::settled::done);
  const auto again = jobs.take();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(jobs.get(again[0].receipt.id)->errors.at(0).error, odd_text);
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
  EXPECT_FALSE(jobs.find(odd_text).has_value());
  for (const auto& each : jobs.list(tableq::message_state::delayed)) jobs.cancel(each.id);
  work_in_groups(db);
}

}  // namespace tableq_test
