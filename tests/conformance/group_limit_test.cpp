#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <thread>

#include "conformance/claim_fixture.hpp"
#include "support/becomes.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::group_limits;
using tableq::group_options;
using tableq::group_policy;
using tableq::limited_group;
using tableq::message_state;
using tableq::settle_result;

class group_limit : public claim_test {
 protected:
  tableq::claim_queue tenants(const group_options& groups = {}, bool kept = false) {
    return db_with_clock().claim("tenants",
                                 at_once({.lease = 24h, .keep_completed = kept, .groups = groups}));
  }
  static void fill(tableq::claim_queue& queue, const std::string& group, int count) {
    for (int i = 1; i <= count; ++i) queue.enqueue(group + std::to_string(i), {.group = group});
  }
  /// How many of each group a take of all finds.
  static std::map<std::string, int> taken(tableq::claim_queue& queue) {
    std::map<std::string, int> out;
    for (const auto& each : queue.take(1000)) ++out[each.group.value_or("")];
    return out;
  }
  std::string number(const std::string& from) {
    return here().sql("SELECT COUNT(*) FROM tableq_" + from).at(0).at(0).value();
  }
  using names = std::vector<std::string>;
  using numbers = std::map<std::string, int>;
};
TABLEQ_ON_BACKENDS(group_limit, all_backends);

TEST_P(group_limit, holds_for_each_group_or_for_one_of_them) {
  auto queue = tenants();
  queue.set_group_limits({.running = 3});
  queue.set_group_limits({.running = 5}, "vip");
  EXPECT_EQ(queue.group_limits().groups,
            (std::vector<limited_group>{{"", {.running = 3}}, {"vip", {.running = 5}}}));
  for (const char* each : {"a", "b", "vip"}) fill(queue, each, 9);
  queue.enqueue("free");
  EXPECT_EQ(taken(queue), (numbers{{"a", 3}, {"b", 3}, {"vip", 5}, {"", 1}}));
  EXPECT_EQ(queue.stats().held, 6U + 6U + 4U);
}

TEST_P(group_limit, is_listed_page_by_page) {
  auto queue = tenants();
  EXPECT_FALSE(queue.group_limits().next);
  queue.set_group_limits({.running = 3});
  const group_limits own{.running = 5, .rate = 0.5, .burst = 4};
  for (const char* each : {"b", "a", "B", "\u00e9"}) queue.set_group_limits(own, each);
  names found;
  std::optional<std::string> first = "";
  for (int page = 0; first && page < 9; ++page) {
    const auto listed = queue.group_limits({.max = 2, .first = *first});
    EXPECT_LE(listed.groups.size(), 2U);
    for (const limited_group& each : listed.groups) found.push_back(each.group);
    first = listed.next;
  }
  EXPECT_EQ(found, (names{"", "B", "a", "b", "\u00e9"})) << "by their bytes";
  EXPECT_FALSE(queue.group_limits({.max = 5}).next) << "the last page knows that it is";
  EXPECT_EQ(queue.group_limits({.max = 1, .first = "a"}).groups,
            (std::vector<limited_group>{{"a", own}}));
  EXPECT_TRUE(queue.group_limits({.first = "\u00ea"}).groups.empty());
  EXPECT_CODE(invalid_argument, (void)queue.group_limits({.max = 0}));
  EXPECT_CODE(invalid_argument, (void)queue.group_limits({.max = 10'001}));
  EXPECT_CODE(invalid_argument, (void)queue.group_limits({.first = std::string("a\0b", 3)}));
}

TEST_P(group_limit, of_more_groups_than_a_page_has_are_all_known) {
  if (!can().shared) return;
  auto queue = tenants();
  queue.set_group_limits({.running = 2, .rate = 5.0}, "last");
  std::string rows;
  for (int i = 0; i < 600; ++i) {
    rows += (i == 0 ? "" : ", ") + std::string("('tenants', 'a") + std::to_string(i) + "', 2)";
  }
  here().sql("INSERT INTO tableq_group_limits (queue, name, running) VALUES " + rows);
  const auto info = [&] { return db_with_clock().find("tenants").value(); };
  queue.set_group_limits({.running = 3}, "a0");
  EXPECT_TRUE(info().group_rates);
  queue.set_group_limits({.running = 3}, "last");
  EXPECT_TRUE(info().group_limits);
  EXPECT_FALSE(info().group_rates);
  here().sql("UPDATE tableq_group_limits SET rate = 1000000 WHERE name = 'last'");
  const auto found = db_with_clock().inspect();
  EXPECT_TRUE(std::ranges::any_of(
      found, [](const auto& each) { return contains(each.what, "no process knows"); }));
  here().sql("DELETE FROM tableq_group_limits WHERE name LIKE 'a%'");
  queue.set_group_limits({}, "last");
  EXPECT_FALSE(info().group_limits);
}

TEST_P(group_limit, of_one_group_that_changes_leaves_the_rows_and_messages_of_others) {
  if (!can().shared) return;
  auto queue = tenants();
  queue.set_group_limits({.running = 2});
  queue.set_group_limits({.running = 4}, "b");
  for (const char* each : {"a", "b", "c"}) fill(queue, each, 9);
  static_cast<void>(queue.take(1));  // all messages follow
  here().sql("UPDATE tableq_group_limits SET running = 3 WHERE running = 2");  // tells nobody
  const auto changed = [&](const std::string& row) {
    return number("group_limits WHERE changes > 0 AND " + row);
  };
  queue.set_group_limits({.running = 6}, "a");
  EXPECT_EQ(queue.stats().ready, 5U + 4U + 2U) << "of a alone";
  EXPECT_EQ(changed("changes = applied"), "1") << "readers have nothing to do";
  EXPECT_EQ(changed("running = 3"), "1");
  EXPECT_EQ(changed("running > 3"), "0");
  EXPECT_EQ(number("group_limits"), "3");
  queue.set_group_limits({.running = 3});
  EXPECT_EQ(queue.stats().ready, 5U + 4U + 3U);
  queue.set_group_limits({}, "a");
  EXPECT_EQ(queue.group_limits().groups,
            (std::vector<limited_group>{{"", {.running = 3}}, {"b", {.running = 4}}}));
}

TEST_P(group_limit, of_one_group_moves_that_group_alone_also_while_others_still_follow) {
  if (!can().shared) return;
  auto queue = tenants();
  for (const char* each : {"a", "b"}) fill(queue, each, 9);
  queue.set_group_limits({.running = 2});  // readers make sure that all messages follow
  here().sql("UPDATE tableq_group_limits SET running = 3 WHERE running = 2");  // tells nobody
  queue.set_group_limits({.running = 6}, "a");
  EXPECT_EQ(queue.stats().ready, 6U + 2U);
  static_cast<void>(queue.take(1));
  EXPECT_EQ(queue.stats().ready + queue.stats().leased, 6U + 3U);
}

TEST_P(group_limit, of_starts_is_not_used_by_what_is_rolled_back) {
  auto queue = tenants();
  queue.set_group_limits({.running = 9, .rate = 1.0});
  {
    tableq::transaction tx = db_with_clock().begin();
    queue.in(tx).enqueue("undone", {.group = "a"});
    tx.rollback();
  }
  queue.enqueue("a1", {.group = "a"});
  EXPECT_EQ(payloads_of(queue.take(9)), (names{"a1"}));
}

TEST_P(group_limit,
       of_starts_is_told_by_the_due_time_and_a_cancelled_message_leaves_it_to_the_next) {
  auto queue = tenants();
  queue.set_group_limits({.running = 9, .rate = 1.0});
  fill(queue, "a", 4);
  EXPECT_EQ(queue.take(9).size(), 1U);
  const auto waiting = queue.list(message_state::delayed);
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0].payload, "a2");
  EXPECT_EQ(waiting[0].due_at, clock.now() + 1s);
  EXPECT_EQ(queue.list(message_state::held).size(), 2U);
  EXPECT_EQ(queue.cancel(waiting[0].id), tableq::change_result::applied);
  const auto next = queue.list(message_state::delayed);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].payload, "a3");
  clock.advance(1s);
  EXPECT_EQ(payloads_of(queue.take(9)), (names{"a3"}));
}

TEST_P(group_limit, of_starts_has_a_row_for_a_group_until_it_may_start_a_burst_again) {
  if (!can().shared) return;
  auto queue = tenants();
  queue.set_group_limits({.running = 9, .rate = 1.0, .burst = 2});
  EXPECT_EQ(number("group_starts"), "0");
  for (int i = 0; i < 20; ++i) fill(queue, "g" + std::to_string(i), 1);
  EXPECT_EQ(number("group_starts"), "20");
  EXPECT_EQ(queue.take(99).size(), 20U);
  EXPECT_EQ(number("group_starts"), "20");
  clock.advance(1s);
  static_cast<void>(queue.take(9));
  EXPECT_EQ(number("group_starts"), "0");
}

TEST_P(group_limit, of_starts_keeps_no_rows_of_groups_that_are_full_again_however_many_come) {
  if (!can().shared) return;
  auto queue = tenants();
  queue.set_group_limits({.running = 9, .rate = 1.0});
  constexpr std::size_t many = 1100;  // more than one statement removes
  std::vector<tableq::new_claim_message> some(many);
  for (std::size_t i = 0; i < many; ++i) some[i].options.group = "g" + std::to_string(i);
  queue.enqueue_batch(some);
  EXPECT_EQ(number("group_starts"), std::to_string(many));
  clock.advance(1s);
  static_cast<void>(queue.take(1));
  EXPECT_EQ(number("group_starts"), "0");
}

TEST_P(group_limit, leaves_nothing_when_it_ends) {
  if (!can().shared) return;
  auto queue = tenants();
  queue.set_group_limits({.running = 9, .rate = 0.01});
  fill(queue, "a", 3);
  EXPECT_EQ(number("group_starts"), "1");
  queue.set_group_limits({});
  EXPECT_EQ(number("group_limits"), "0");
  EXPECT_EQ(number("group_starts"), "0");
  EXPECT_EQ(payloads_of(queue.take(9)), (names{"a1"}));
}

TEST_P(group_limit, makes_no_message_ready_before_its_rest_or_its_postponement_is_over) {
  auto queue = tenants({.on_failure = group_policy::pass});
  queue.set_group_limits({.running = 9, .rate = 1.0});
  queue.enqueue("a1", {.group = "a"});
  queue.enqueue("a2", {.key = "k", .group = "a"});
  EXPECT_EQ(payloads_of(queue.take(9)), (names{"a1"}));
  ASSERT_EQ(queue.list(message_state::delayed).size(), 1U);
  queue.enqueue("a2 later",
                {.delay = 1h, .key = "k", .on_duplicate = tableq::on_duplicate::postpone});
  queue.enqueue("a3", {.group = "a"});
  clock.advance(2s);
  EXPECT_EQ(payloads_of(queue.take(9)), (names{"a3"}));
  EXPECT_TRUE(queue.take(9).empty());
  clock.advance(1h);
  EXPECT_EQ(payloads_of(queue.take(9)), (names{"a2 later"}));
}

TEST_P(group_limit, that_plain_sql_writes_is_followed_by_the_next_reads) {
  if (!can().shared) return;
  auto queue = tenants();
  queue.set_group_limits({.running = 1});
  for (const char* each : {"a", "vip"}) fill(queue, each, 9);
  here().sql(
      "UPDATE tableq_group_limits SET running = 2, changes = changes + 1 WHERE queue = 'tenants'");
  here().sql("INSERT INTO tableq_group_limits (queue, name, running) VALUES ('tenants', " +
             here().key_literal("vip") + ", 4)");
  static_cast<void>(queue.take(1));
  EXPECT_EQ(queue.stats().ready + queue.stats().leased, 6U);
  EXPECT_EQ(queue.group_limits().groups,
            (std::vector<limited_group>{{"", {.running = 2}}, {"vip", {.running = 4}}}));
  EXPECT_EQ(number("group_limits WHERE applied = changes AND changes > 0"), "1");
}

TEST_P(group_limit, that_changes_again_and_again_reaches_all_groups) {
  if (!can().shared) return;
  auto queue = tenants();
  queue.set_group_limits({.running = 1});
  constexpr std::size_t groups = 120;  // A look of a reader reaches 50 of them.
  std::vector<std::string> names_of_groups;
  std::vector<tableq::new_claim_message> messages;
  names_of_groups.reserve(groups);
  messages.reserve(2 * groups);
  for (std::size_t i = 0; i < groups; ++i) names_of_groups.push_back("g" + std::to_string(i));
  for (const std::string& each : names_of_groups) {
    for (int i = 0; i < 2; ++i) messages.push_back({.payload = each, .options = {.group = each}});
  }
  queue.enqueue_batch(messages);
  EXPECT_EQ(taken(queue).size(), groups);
  std::size_t more = 0;
  for (int i = 0; i < 5; ++i) {
    here().sql("UPDATE tableq_group_limits SET running = 2, changes = changes + 1 WHERE name = ''");
    more += taken(queue).size();
  }
  EXPECT_EQ(more, groups);
  for (int i = 0; i < 3; ++i) static_cast<void>(queue.take(1));
  EXPECT_EQ(number("group_limits WHERE applied = changes"), "1");
}

TEST_P(group_limit, whose_change_meets_a_locked_group_holds_up_no_read) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto queue = tenants();
  queue.set_group_limits({.running = 1});
  for (const char* each : {"a", "b"}) fill(queue, each, 2);
  auto theirs = open();
  auto mine = theirs.claim("tenants");
  auto holds = theirs.begin();
  mine.in(holds).enqueue("x", {.group = "a"});
  here().sql("UPDATE tableq_group_limits SET running = 2, changes = changes + 1 WHERE name = ''");
  auto reads = std::async(std::launch::async, [&] { return taken(queue); });
  EXPECT_EQ(reads.wait_for(for_ever), std::future_status::ready);
  holds.rollback();
  EXPECT_EQ(reads.get(), (numbers{{"a", 1}, {"b", 1}}));
  EXPECT_EQ(taken(queue), (numbers{{"a", 1}, {"b", 1}}));
}

TEST_P(group_limit, of_a_rate_lets_takes_pass_a_locked_group) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto queue = tenants();
  queue.set_group_limits({.running = 9, .rate = 1, .burst = 1});
  for (const char* each : {"a", "b"}) fill(queue, each, 2);
  EXPECT_EQ(taken(queue), (numbers{{"a", 1}, {"b", 1}}));
  auto holds = db_with_clock().begin();
  queue.in(holds).enqueue("x", {.group = "a"});
  clock.advance(1s);
  auto reads = std::async(std::launch::async, [&] { return taken(queue); });
  EXPECT_EQ(reads.wait_for(for_ever), std::future_status::ready);
  holds.rollback();
  EXPECT_EQ(reads.get(), (numbers{{"b", 1}}));
  EXPECT_EQ(taken(queue), (numbers{{"a", 1}}));
}

TEST_P(group_limit, of_a_rate_goes_on_after_the_clock_was_set_back) {
  auto queue = tenants();
  queue.set_group_limits({.running = 9, .rate = 0.5, .burst = 1});
  queue.set_group_limits({.running = 9, .rate = 2, .burst = 1}, "vip");
  for (const char* each : {"a", "b", "vip"}) fill(queue, each, 2);
  EXPECT_EQ(taken(queue), (numbers{{"a", 1}, {"b", 1}, {"vip", 1}}));
  clock.advance(-24h);
  EXPECT_EQ(taken(queue), (numbers{})) << "the next start counts from now";
  clock.advance(500ms);
  EXPECT_EQ(taken(queue), (numbers{{"vip", 1}}));
  clock.advance(1499ms);
  EXPECT_EQ(taken(queue), (numbers{}));
  clock.advance(1ms);
  EXPECT_EQ(taken(queue), (numbers{{"a", 1}, {"b", 1}}));
}

TEST_P(group_limit, whose_change_nobody_follows_is_found_by_doctor) {
  if (!can().shared) return;
  auto queue = tenants();
  const auto told = [&] {
    std::string out;
    for (const auto& each : db_with_clock().inspect()) out += each.what + "; ";
    return out;
  };
  queue.set_group_limits({.running = 1});
  static_cast<void>(queue.take(1));
  EXPECT_EQ(told().find("limits"), std::string::npos) << told();
  here().sql("UPDATE tableq_group_limits SET changes = changes + 1 WHERE queue = 'tenants'");
  EXPECT_NE(told().find("not all waiting messages have followed"), std::string::npos) << told();
  static_cast<void>(queue.take(1));
  here().sql("UPDATE tableq_group_limits SET rate = 1000000 WHERE queue = 'tenants'");
  EXPECT_NE(told().find("no process knows"), std::string::npos) << told();
}

TEST_P(group_limit, is_refused_where_it_makes_no_sense) {
  auto queue = tenants();
  EXPECT_CODE(invalid_argument, queue.set_group_limits({.running = 0}));
  EXPECT_CODE(invalid_argument, queue.set_group_limits({.running = 1001}));
  EXPECT_CODE(invalid_argument, queue.set_group_limits({.rate = 0.0}));
  EXPECT_CODE(invalid_argument, queue.set_group_limits({.rate = 1001.0}));
  EXPECT_CODE(invalid_argument, queue.set_group_limits({.burst = 2}));
  EXPECT_CODE(invalid_argument, queue.set_group_limits({.rate = 1.0, .burst = 0}));
  EXPECT_CODE(invalid_argument, queue.set_group_limits({.running = 1}, std::string(201, 'x')));
  EXPECT_CODE(invalid_argument, jobs().set_group_limits({.running = 1}));
  EXPECT_CODE(invalid_argument, queue.set_group_limits({.weight = 2}));
  EXPECT_CODE(
      invalid_argument,
      db().claim("turns", {.groups = {.by_turns = true}}).set_group_limits({.weight = 1001}));
  tableq::transaction tx = db_with_clock().begin();
  auto inside = queue.in(tx);
  EXPECT_CODE(invalid_argument, inside.set_group_limits({.running = 1}));
  tx.rollback();
  EXPECT_TRUE(queue.group_limits().groups.empty());
}

TEST_P(group_limit, ends_with_its_queue) {
  if (!can().shared) return;
  {
    auto queue = tenants();
    queue.set_group_limits({.running = 3, .rate = 1.0});
    fill(queue, "a", 2);
    EXPECT_TRUE(db_with_clock().find("tenants")->group_rates);
  }
  EXPECT_TRUE(db_with_clock().drop("tenants"));
  EXPECT_EQ(number("group_limits"), "0");
  EXPECT_EQ(number("group_starts"), "0");
  auto again = tenants();
  fill(again, "a", 5);
  EXPECT_TRUE(again.group_limits().groups.empty());
  EXPECT_EQ(again.take(9).size(), 1U);
}

TEST_P(group_limit, gives_turns_by_the_number_of_running_messages) {
  auto queue = tenants({.by_turns = true});
  queue.set_group_limits({.running = 3}, "heavy");
  fill(queue, "heavy", 60);
  fill(queue, "a", 60);
  fill(queue, "b", 60);
  numbers done;
  for (int i = 0; i < 50; ++i) {
    const auto one = take_one(queue);
    ++done[*one.group];
    clock.advance(1ms);
    EXPECT_EQ(queue.complete(one.receipt), settle_result::applied);
  }
  EXPECT_EQ(done, (numbers{{"a", 10}, {"b", 10}, {"heavy", 30}}));
}

TEST_P(group_limit, gives_turns_by_weight) {
  auto queue = tenants({.by_turns = true});
  queue.set_group_limits({.weight = 3}, "heavy");
  queue.set_group_limits({.running = 2, .weight = 2}, "double");
  EXPECT_EQ(queue.group_limits().groups,
            (std::vector<limited_group>{{"double", {.running = 2, .weight = 2}},
                                        {"heavy", {.weight = 3}}}));
  constexpr int plain = 20;
  const int all = plain + 3 + 2 * 2;
  std::vector<tableq::new_claim_message> messages;
  const auto add = [&](const std::string& group, int count) {
    for (int i = 0; i < count; ++i) messages.push_back({"x", {.group = group}});
  };
  for (int i = 0; i < plain; ++i) add("g" + std::to_string(i), 20);
  for (const char* each : {"heavy", "double"}) add(each, 90);
  queue.enqueue_batch(messages);
  const auto turns = [&](int rounds) {
    numbers out;
    for (int i = 0; i < rounds * all; ++i) {
      const auto one = take_one(queue);
      ++out[*one.group];
      clock.advance(9ms);
      EXPECT_EQ(queue.complete(one.receipt), settle_result::applied);
    }
    return out;
  };
  turns(3);  // The line gets its length.
  numbers got = turns(10);
  EXPECT_NEAR(got["heavy"], 30, 4);
  EXPECT_NEAR(got["double"], 40, 5) << "two in line, each of weight 2";
  for (int i = 0; i < plain; ++i) EXPECT_NEAR(got["g" + std::to_string(i)], 10, 2) << i;
}

TEST_P(group_limit, reaches_other_processes_within_a_second_and_moves_what_they_let_go_before) {
  if (!can().shared) return;
  auto here_open = db().claim("real", at_once({.groups = {.limit = 5}}));
  tableq::database elsewhere = open();
  auto there_open = elsewhere.claim("real");
  fill(there_open, "warm", 1);
  here_open.set_group_limits({.running = 2});
  fill(there_open, "a", 9);  // perhaps before it has heard
  EXPECT_TRUE(becomes([&] {
    static_cast<void>(there_open.take(1, {.lease = 1ms}));
    return number("group_limits WHERE applied = changes") == "1";
  }));
  EXPECT_LE(taken(there_open)["a"], 2);
}

TEST_P(group_limit, wakes_a_take_that_waits_for_a_start) {
  auto queue = db().claim("real", at_once({.groups = group_options()}));
  queue.set_group_limits({.running = 9, .rate = 20.0, .burst = 1});
  fill(queue, "a", 5);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.take_one({.wait = for_ever})) << i;
}

TEST_P(group_limit, of_starts_holds_in_any_time_for_threads_that_enqueue_and_take) {
  auto queue = db().claim("real", at_once({.groups = group_options()}));
  queue.set_group_limits({.running = 3, .rate = 50.0, .burst = 5});
  std::atomic<int> done = 0;
  const auto began = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 12; ++i) queue.enqueue("x", {.group = "a"});
        while (done < 36) {
          for (const auto& each : queue.take(2, {.wait = 20ms})) {
            EXPECT_EQ(queue.complete(each.receipt), settle_result::applied);
            ++done;
          }
        }
      });
    }
  }
  EXPECT_EQ(done, 36);
  // 36 starts are 5 at once, and 31 of 20 ms.
  EXPECT_GE(std::chrono::steady_clock::now() - began, 31 * 20ms - 5ms);
}

}  // namespace
