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

// Data that a quoting rule, an encoding or a format could damage.
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
  auto taken = jobs.take(10);
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0].receipt.id, ids[1]) << "the highest priority";
  EXPECT_EQ(taken[1].receipt.id, ids[0]);
  EXPECT_EQ(taken[2].headers.at(odd_text), odd_text);
  const std::vector<tableq::failure> failures = {
      {.receipt = taken[0].receipt, .error = odd_text, .options = {.give_up = true}},
      {.receipt = taken[1].receipt, .error = "NULL", .options = {.delay = 1h}}};
  EXPECT_EQ(jobs.fail_batch(failures), std::vector(2, tableq::settle_result::applied));
  EXPECT_EQ(jobs.complete(taken[2].receipt), tableq::settle_result::applied);
  taken = jobs.take(10);
  ASSERT_EQ(taken.size(), 1U) << "the next of its group";
  EXPECT_EQ(taken[0].headers.at("a"), "NULL");
  EXPECT_EQ(jobs.release(taken[0].receipt), tableq::settle_result::applied);
  EXPECT_EQ(jobs.set_priority(ids[4], 9), tableq::change_result::applied);
  EXPECT_EQ(jobs.redrive(std::array{ids[1]}), 1U);
  const auto running = jobs.take(1);
  ASSERT_EQ(running.size(), 1U);
  EXPECT_EQ(running[0].receipt.id, ids[4]);
  taken = jobs.take(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(jobs.get(ids[1])->errors.at(0).error, odd_text);
  EXPECT_EQ(jobs.fail(taken[0].receipt, "over", {.give_up = true}), tableq::settle_result::applied);
  EXPECT_EQ(jobs.purge(tableq::message_state::dead), 1U);
  EXPECT_EQ(jobs.cancel_batch(std::array{ids[0], ids[1], ids[3], ids[4]}),
            (std::vector{tableq::change_result::applied, tableq::change_result::not_found,
                         tableq::change_result::applied, tableq::change_result::running}));
  EXPECT_EQ(jobs.complete(running[0].receipt), tableq::settle_result::applied);
}

void work_with_schedules(tableq::database& db) {
  auto periodic = db.claim("periodic");
  tableq::schedules all = db.schedules();
  const std::string name = "it's \"odd\" $1 :name";
  const tableq::schedule rule{.name = name,
                              .queue = "periodic",
                              .every = 1s,
                              .payload = odd_bytes,
                              .headers = {{odd_text, odd_text}},
                              .key = odd_text,
                              .skip_if_running = true};
  all.add(rule);
  EXPECT_EQ(all.find(name)->rule, rule);
  const auto taken = periodic.take(1, {.wait = 1min});
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].payload, odd_bytes);
  EXPECT_EQ(taken[0].headers.at(odd_text), odd_text);
  EXPECT_EQ(periodic.complete(taken[0]), tableq::settle_result::applied);
  EXPECT_TRUE(all.pause(name));
  EXPECT_TRUE(all.resume(name));
  EXPECT_EQ(all.find(name)->problem, "");
  EXPECT_TRUE(all.remove(name));
}

}  // namespace

void work_within(tableq::database& db, tableq::transaction& tx) {
  for (const tableq::kind each :
       {tableq::kind::heap, tableq::kind::fifo, tableq::kind::lifo, tableq::kind::pending}) {
    any_queue queue(db, each, tableq::to_string(each));
    queue.in(tx).put(odd_bytes);
    queue.in(tx).put_all({odd_bytes, "", odd_bytes});
    const auto got = queue.in(tx).take_up_to(3);
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0].payload, odd_bytes);
    EXPECT_TRUE(queue.in(tx).take());
    EXPECT_FALSE(queue.in(tx).take());
  }
  auto jobs = db.claim("grouped", {.groups = tableq::group_options{}});
  std::vector<tableq::message_id> ids;
  for (const auto& each : jobs.in(tx).enqueue_batch(mixed_batch())) ids.push_back(each.id);
  ids.push_back(jobs.in(tx).enqueue(odd_bytes, {.key = "alone", .group = "alone"}).id);
  EXPECT_FALSE(jobs.in(tx).enqueue("twice", {.key = odd_text}).created());
  EXPECT_EQ(jobs.in(tx)
                .enqueue(odd_bytes, {.key = "alone", .on_duplicate = tableq::on_duplicate::replace})
                .id,
            ids[5]);
  EXPECT_EQ(jobs.in(tx).find("NULL")->id, ids[1]);
  EXPECT_EQ(jobs.in(tx).get(ids[0])->key, std::nullopt);
  const auto taken = jobs.in(tx).take(10);
  ASSERT_EQ(taken.size(), 4U);
  EXPECT_EQ(taken[2].headers.at(odd_text), odd_text);
  EXPECT_EQ(jobs.in(tx).complete_batch(std::array{taken[0].receipt, taken[1].receipt}),
            std::vector(2, tableq::settle_result::applied));
  EXPECT_EQ(jobs.in(tx).fail(taken[2].receipt, odd_text, {.delay = 1h}),
            tableq::settle_result::applied);
  EXPECT_EQ(jobs.in(tx).extend(taken[3].receipt, 1h), tableq::settle_result::applied);
  EXPECT_EQ(jobs.in(tx).complete(taken[3].receipt), tableq::settle_result::applied);
  EXPECT_EQ(jobs.in(tx).set_priority(ids[3], 7), tableq::change_result::applied);
  EXPECT_EQ(jobs.in(tx).cancel_batch(std::array{ids[0], ids[2], ids[3], ids[4]}),
            (std::vector{tableq::change_result::not_found, tableq::change_result::applied,
                         tableq::change_result::applied, tableq::change_result::applied}));
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
  EXPECT_FALSE(jobs.enqueue("twice", {.key = odd_text}).created());
  static_cast<void>(jobs.enqueue("later", {.delay = 1h}));
  const auto taken = jobs.take(1, {.lease = 1min});
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].receipt.id, stored.id);
  EXPECT_EQ(taken[0].payload, odd_bytes);
  EXPECT_EQ(taken[0].priority, 1'234'567);
  EXPECT_EQ(taken[0].key, odd_text);
  EXPECT_EQ(taken[0].headers.at(odd_text), odd_text);
  const auto lease = taken[0].lease_until - taken[0].created_at;
  EXPECT_TRUE(lease >= 1min && lease < 2min) << lease.count();
  EXPECT_EQ(jobs.extend(taken[0].receipt, 2min), tableq::settle_result::applied);
  EXPECT_EQ(jobs.fail(taken[0].receipt, odd_text), tableq::settle_result::applied);
  const auto again = jobs.take(1);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(jobs.get(again[0].receipt.id)->errors.at(0).error, odd_text);
  db.transact([&](tableq::transaction& tx) {
    EXPECT_EQ(jobs.in(tx).complete(again[0].receipt), tableq::settle_result::applied);
    static_cast<void>(jobs.in(tx).enqueue("next"));
  });
  const auto stats = jobs.stats();
  EXPECT_EQ(stats.ready, 1U);
  EXPECT_EQ(stats.delayed, 1U);
  jobs.set_limits({.rate = 2.5, .burst = 3});
  EXPECT_EQ(jobs.limits().rate, 2.5);
  const auto last = jobs.take(1);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(jobs.complete(last[0].receipt), tableq::settle_result::applied);
  jobs.set_limits({});
  EXPECT_FALSE(jobs.find(odd_text).has_value());
  for (const auto& each : jobs.list(tableq::message_state::delayed)) jobs.cancel(each.id);
  work_in_groups(db);
  work_with_schedules(db);
}

}  // namespace tableq_test
