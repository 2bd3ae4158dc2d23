#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "conformance/claim_fixture.hpp"
#include "support/becomes.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Reads may begin after the deleted rows. They still find messages that appear before that place.
class messages_before_others : public on_each_backend {
 protected:
  static std::vector<tableq::new_message> copies(std::size_t count, const char* payload) {
    return std::vector<tableq::new_message>(count, {.payload = payload});
  }
  /// Enough reads for a read floor.
  static void read_on(tableq::fifo_queue& from) {
    for (int i = 0; i < 100; ++i) ASSERT_EQ(from.dequeue()->payload, "x");
    for (int i = 0; i < 30; ++i) ASSERT_EQ(from.dequeue_batch(20).size(), 20U);
  }
};
TABLEQ_ON_BACKENDS(messages_before_others, all_backends);

TEST_P(messages_before_others, come_next_when_they_are_committed_late) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto mail = db().fifo("mail").outside();
  auto tx = db().begin();
  mail.in(tx).enqueue_batch(copies(3, "late"));
  mail.enqueue_batch(copies(1000, "x"));
  read_on(mail);
  tx.commit();
  for (const auto& each : mail.dequeue_batch(3)) EXPECT_EQ(each.payload, "late");
  EXPECT_EQ(mail.dequeue()->payload, "x");
}

TEST_P(messages_before_others, come_next_when_their_read_is_rolled_back) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto mail = db().fifo("mail").outside();
  mail.enqueue_batch(copies(3, "held"));
  mail.enqueue_batch(copies(1000, "x"));
  {
    auto tx = db().begin();
    ASSERT_EQ(mail.in(tx).dequeue_batch(3).size(), 3U);
    read_on(mail);
  }
  for (const auto& each : mail.dequeue_batch(3)) EXPECT_EQ(each.payload, "held");
  EXPECT_EQ(mail.dequeue()->payload, "x");
}

TEST_P(messages_before_others, are_found_soon_when_they_were_given_a_low_id_by_hand) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  auto mail = db().fifo("mail");
  mail.enqueue_batch(copies(1000, "x"));
  read_on(mail);
  here().sql(here().insert_with_id("mail", "payload", "-7, " + here().bytes_literal("by hand")));
  EXPECT_TRUE(becomes(
      [&] {
        mail.enqueue("x");
        return mail.dequeue()->payload == "by hand";
      },
      1min));
}

TEST_P(messages_before_others, come_next_when_they_were_due_before_they_came) {
  auto later = db().pending("later");
  const auto read_some = [&] {
    for (int i = 0; i < 1000; ++i) later.enqueue("x");
    for (int i = 0; i < 100; ++i) ASSERT_EQ(later.dequeue()->payload, "x");
    for (int i = 0; i < 30; ++i) ASSERT_EQ(later.dequeue_batch(20).size(), 20U);
  };
  const tableq::timestamp then{std::chrono::milliseconds(1'000'000'000'000)};
  for (const auto& given : {tableq::pending_options{.due_at = then},
                            tableq::pending_options{.due_at = then + 1h, .created_at = then}}) {
    read_some();
    later.enqueue("past", given);
    EXPECT_EQ(later.dequeue()->payload, "past");
    later.enqueue("past", given);
    const auto next = later.dequeue_batch(2);
    ASSERT_EQ(next.size(), 2U);
    EXPECT_EQ(next.front().payload, "past");
    EXPECT_EQ(next.back().payload, "x");
  }
}

TEST_P(messages_before_others, come_next_in_a_stack_that_is_read_and_filled_by_turns) {
  auto stack = db().lifo("stack");
  std::vector<std::string> model;
  const auto check = [&](std::size_t count) {
    for (const auto& each : stack.dequeue_batch(count)) {
      ASSERT_FALSE(model.empty());
      ASSERT_EQ(each.payload, model.back());
      model.pop_back();
    }
  };
  std::minstd_rand random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<tableq::new_message> added;
    const std::size_t before = model.size();
    for (std::size_t i = random() % 40; i > 0; --i) model.push_back(std::to_string(random()));
    for (std::size_t i = before; i < model.size(); ++i) added.push_back({.payload = model[i]});
    if (!added.empty()) stack.enqueue_batch(added);
    check(1 + random() % 60);
    for (int i = 0; i < 3; ++i) check(1);
  }
  check(10'000);
  EXPECT_TRUE(model.empty());
}

/// The same for a claim queue, in which messages return in many ways.
class claims_before_others : public claim_test {
 protected:
  static void add_others(tableq::claim_queue& to) {
    to.enqueue_batch(std::vector<tableq::new_claim_message>(400, {.payload = "x"}));
  }
  /// Enough takes for a read floor.
  static void take_others(tableq::claim_queue& from) {
    for (int i = 0; i < 20; ++i) finish_others(from, 1);
    for (int i = 0; i < 18; ++i) finish_others(from, 10);
  }
  static void finish_others(tableq::claim_queue& from, std::size_t count) {
    std::vector<tableq::receipt> receipts;
    for (const auto& each : from.take(count)) {
      ASSERT_EQ(each.payload, "x");
      receipts.push_back(each.receipt);
    }
    ASSERT_EQ(receipts.size(), count);
    for (const auto each : from.complete_batch(receipts))
      ASSERT_EQ(each, tableq::settle_result::applied);
  }
  /// Looks show these first, and all ready messages once.
  static void expect_seen(const tableq::claim_queue& in, const std::vector<std::string>& payloads) {
    const std::size_t count = payloads.size();
    EXPECT_EQ(payloads_of(in.peek(count)), payloads);
    std::vector<std::string> listed;
    std::optional<tableq::stored_message> last;
    do {
      const auto page = in.list(tableq::message_state::ready, {.max = 3, .after = last});
      if (page.empty()) break;
      for (const auto& each : page) listed.push_back(each.payload);
      last = page.back();
    } while (true);
    EXPECT_EQ(in.stats().ready, listed.size());
    listed.resize(count);
    EXPECT_EQ(listed, payloads);
  }
  /// @return their receipts.
  static std::vector<tableq::receipt> expect_next(tableq::claim_queue& from,
                                                  const std::vector<std::string>& payloads) {
    std::vector<tableq::receipt> out;
    for (const std::string& each : payloads) {
      const auto next = take_one(from);
      EXPECT_EQ(next.payload, each);
      out.push_back(next.receipt);
    }
    return out;
  }
};
TABLEQ_ON_BACKENDS(claims_before_others, all_backends);

TEST_P(claims_before_others, come_next_however_they_have_come_back) {
  auto jobs = db_with_clock().claim("jobs", {.groups = tableq::group_options{}});
  for (const char* each : {"released", "failed", "expired"}) jobs.enqueue(each);
  jobs.enqueue("delayed", {.delay = 1h});
  const auto dead = jobs.enqueue("dead", {.max_attempts = 1}).id;
  for (const char* each : {"head", "second"}) jobs.enqueue(each, {.group = "g"});
  jobs.enqueue("replaced", {.priority = -1, .key = "k"});
  const auto raised = jobs.enqueue("raised", {.priority = -1}).id;
  add_others(jobs);
  const auto taken = jobs.take(5);
  ASSERT_EQ(taken.at(4).payload, "head");
  take_others(jobs);
  EXPECT_EQ(jobs.release(taken[0].receipt), tableq::settle_result::applied);
  EXPECT_EQ(jobs.fail(taken[1].receipt, "no", {.delay = 0ms}), tableq::settle_result::applied);
  EXPECT_EQ(jobs.fail(taken[3].receipt, "no"), tableq::settle_result::applied);
  EXPECT_EQ(jobs.redrive({dead}), 1U);
  EXPECT_EQ(jobs.complete(taken[4].receipt), tableq::settle_result::applied);
  jobs.enqueue("replaced", {.key = "k", .on_duplicate = tableq::on_duplicate::replace});
  EXPECT_EQ(jobs.set_priority(raised, 0), tableq::change_result::applied);
  clock.advance(1h);
  const std::vector<std::string> order = {"released", "failed", "expired",  "delayed",
                                          "dead",     "second", "replaced", "raised"};
  const auto receipts = expect_next(jobs, order);
  for (const auto each : jobs.release_batch(receipts))
    EXPECT_EQ(each, tableq::settle_result::applied);
  expect_seen(jobs, order);
  const auto together = jobs.take(order.size() + 1);
  ASSERT_EQ(together.size(), order.size() + 1);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(together[i].payload, order[i]);
  EXPECT_EQ(together.back().payload, "x");
}

TEST_P(claims_before_others, come_in_the_order_of_priorities_that_were_not_there_before) {
  add_others(jobs());
  take_others(jobs());
  for (int round = 0; round < 2; ++round) {
    jobs().enqueue("low", {.priority = -round - 1});
    for (int i = 0; i < 20; ++i) {
      jobs().enqueue("high", {.priority = 5});
      expect_next(jobs(), {"high"});
    }
    jobs().enqueue("between", {.priority = 3});
    jobs().enqueue("higher", {.priority = 7 + round});
    expect_next(jobs(), {"higher", "between"});
    finish_others(jobs(), 50);
  }
  finish_others(jobs(), 100);
  expect_next(jobs(), {"low", "low"});
  EXPECT_TRUE(jobs().take(1).empty());
}

TEST_P(claims_before_others, come_next_when_they_are_committed_late_or_rolled_back) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto jobs = this->jobs().outside();
  auto late = db_with_clock().begin();
  jobs.in(late).enqueue("late");
  jobs.enqueue("held");
  add_others(jobs);
  {
    auto tx = db_with_clock().begin();
    ASSERT_EQ(jobs.in(tx).take(1).at(0).payload, "held");
    take_others(jobs);
  }
  late.commit();
  expect_next(jobs, {"late", "held", "x"});
}

TEST_P(claims_before_others, are_found_soon_when_plain_sql_has_put_them_there) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  auto jobs = db().claim("jobs");
  jobs.enqueue("by hand", {.priority = -1});
  add_others(jobs);
  take_others(jobs);
  here().sql("UPDATE jobs SET priority = 0 WHERE priority = -1");
  EXPECT_TRUE(becomes(
      [&] {
        jobs.enqueue("x");
        return take_one(jobs).payload == "by hand";
      },
      1min));
}

TEST_P(claims_before_others, are_found_soon_when_plain_sql_gave_them_a_time_that_has_passed) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  auto jobs = db().claim("jobs");
  jobs.enqueue("by hand", {.delay = 1h});
  add_others(jobs);
  take_others(jobs);
  here().sql("UPDATE jobs SET due_at = 1000 WHERE state = 2");
  EXPECT_TRUE(becomes(
      [&] {
        jobs.enqueue("x");
        return take_one(jobs).payload == "by hand";
      },
      10s))
      << "however many others are ready";
}

TEST_P(claims_before_others, of_a_group_come_one_after_the_other_with_low_ids_by_hand) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  auto jobs = db().claim("jobs", {.groups = tableq::group_options{}});
  add_others(jobs);
  take_others(jobs);
  for (const char* each : {"-7", "-6", "-5"}) {
    here().sql(here().insert_with_id("jobs", "payload, state, fence, group_key",
                                     std::string(each) + ", " + here().bytes_literal(each) +
                                         ", 2, -1, " + here().key_literal("g")));
  }
  for (const char* each : {"-7", "-6", "-5"}) {
    const auto until = std::chrono::steady_clock::now() + 1min;
    std::optional<tableq::delivery> found;
    while (!found && std::chrono::steady_clock::now() < until) {
      jobs.enqueue("x");
      const auto next = take_one(jobs);
      if (next.payload != "x") {
        found = next;
      } else {
        EXPECT_EQ(jobs.complete(next), tableq::settle_result::applied);
      }
    }
    ASSERT_TRUE(found);
    EXPECT_EQ(found->payload, each);
    EXPECT_EQ(jobs.complete(*found), tableq::settle_result::applied);
  }
}

}  // namespace
