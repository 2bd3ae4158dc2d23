#include <gtest/gtest.h>

#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "conformance/claim_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::group_options;
using tableq::settle_result;

class claim_group : public claim_test {
 protected:
  tableq::claim_queue grouped(const group_options& groups = {}, int max_attempts = 3) {
    return db_with_clock().claim("grouped", {.max_attempts = max_attempts, .groups = groups});
  }
  using names = std::vector<std::string>;
};
TABLEQ_ON_BACKENDS(claim_group, all_backends);

TEST_P(claim_group, hands_out_further_messages_while_it_has_room) {
  auto queue = grouped({.limit = 2});
  for (const char* each : {"a1", "a2", "a3"}) queue.enqueue(each, {.group = "a"});
  const auto taken = queue.take(10);
  EXPECT_EQ(payloads_of(taken), (names{"a1", "a2"}));
  for (const auto& each : taken) EXPECT_EQ(queue.complete(each), settle_result::applied);
  EXPECT_EQ(take_one(queue).payload, "a3");
  queue.enqueue_batch({{"a4", {.group = "a"}}, {"a5", {.group = "a"}}});
  EXPECT_EQ(payloads_of(queue.take(10)), (names{"a4"}));
}

TEST_P(claim_group, goes_on_after_plain_sql_has_deleted_its_ready_message) {
  if (!can().shared) GTEST_SKIP() << "no other session reaches this database";
  auto queue = grouped();
  const auto first = queue.enqueue("a1", {.group = "a"});
  queue.enqueue("a2", {.group = "a"});
  here().sql("DELETE FROM grouped WHERE id = " + std::to_string(first.id.value));
  queue.enqueue("a3", {.group = "a"});
  EXPECT_EQ(payloads_of(queue.take(10)), (names{"a2"}));
}

TEST_P(claim_group, is_passed_by_takes_while_an_open_transaction_has_its_lock) {
  if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
  auto queue = grouped({}, 1);
  for (const char* each : {"a1", "a2"}) queue.enqueue(each, {.group = "a"});
  for (const char* each : {"b1", "b2"}) queue.enqueue(each, {.group = "b"});
  queue.enqueue("c1", {.group = "c", .time_to_live = 30s});
  EXPECT_EQ(payloads_of(queue.take(2)), (names{"a1", "b1"}));
  auto tx = db_with_clock().begin();
  queue.in(tx).enqueue("a3", {.group = "a"});
  queue.in(tx).enqueue("c2", {.group = "c"});
  clock.advance(31s);
  auto taken = std::async(std::launch::async, [&] { return payloads_of(queue.take(10)); });
  EXPECT_EQ(taken.wait_for(for_ever), std::future_status::ready);
  tx.commit();
  EXPECT_EQ(taken.get(), (names{"b2"})) << "the last lease of a1 has ended, and c1 has expired";
  EXPECT_EQ(payloads_of(queue.take(10)), (names{"a2"}));
  clock.advance(31s);
  EXPECT_EQ(payloads_of(queue.take(10)), (names{"a3", "c2"}));
  EXPECT_EQ(queue.stats().dead, 5U);
}

TEST_P(claim_group, that_is_locked_holds_up_no_later_message_however_many_of_its_own_are_due) {
  if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
  constexpr std::size_t many = 900;
  auto queue = grouped({.limit = many}, 1);
  for (const char* each : {"a", "b", "c", "d"}) {
    const std::vector<tableq::new_claim_message> batch(
        many, {.payload = each, .options = {.group = each}});
    queue.enqueue_batch(batch);
    EXPECT_EQ(queue.take(many).size(), many);
  }
  queue.enqueue("late", {.delay = 24h});
  queue.enqueue("later", {.delay = 24h});
  clock.advance(24h);
  auto tx = db_with_clock().begin();
  for (const char* each : {"a", "b", "c", "d"}) queue.in(tx).enqueue("next", {.group = each});
  EXPECT_EQ(payloads_of(queue.outside().take(10)), (names{"late", "later"}));
  tx.rollback();
  EXPECT_TRUE(queue.take(10).empty());
  EXPECT_EQ(queue.stats().dead, 4 * many) << "their leases ended";
}

TEST_P(claim_group, in_a_transaction_goes_on_when_and_only_when_that_commits) {
  auto queue = grouped();
  for (const char* each : {"a1", "a2"}) queue.enqueue(each, {.group = "a"});
  const auto mine = take_one(queue);
  {
    tableq::transaction tx = db_with_clock().begin();
    EXPECT_EQ(queue.in(tx).complete(mine.receipt), settle_result::applied);
    tx.rollback();
  }
  EXPECT_TRUE(queue.take(1).empty());
  db_with_clock().transact([&](tableq::transaction& tx) {
    EXPECT_EQ(queue.in(tx).complete(mine.receipt), settle_result::applied);
  });
  EXPECT_EQ(take_one(queue).payload, "a2");
}

TEST_P(claim_group, of_many_threads_never_has_two_at_once_and_keeps_its_order) {
  auto queue = db().claim("many", {.groups = group_options{}});
  constexpr int groups = 7;
  constexpr int each = 12;
  {
    std::vector<std::jthread> producers;
    for (int g = 0; g < groups; ++g) {
      producers.emplace_back([queue, g]() mutable {
        for (int i = 0; i < each; ++i) {
          queue.enqueue(std::to_string(i), {.group = "g" + std::to_string(g)});
        }
      });
    }
  }
  std::mutex mutex;
  std::map<std::string, int> next;
  std::map<std::string, int> running;
  int wrong = 0;
  int done = 0;
  {
    std::vector<std::jthread> consumers;
    for (int t = 0; t < 4; ++t) {
      consumers.emplace_back([&, queue]() mutable {
        for (;;) {
          const auto taken = queue.take(3, {.wait = 200ms});
          for (const auto& one : taken) {
            {
              const std::scoped_lock hold(mutex);
              if (++running[*one.group] != 1) ++wrong;
              if (next[*one.group]++ != std::stoi(one.payload)) ++wrong;
            }
            {
              const std::scoped_lock hold(mutex);
              --running[*one.group];
            }
            if (queue.complete(one.receipt) != settle_result::applied)
              throw std::runtime_error("lost");
            const std::scoped_lock hold(mutex);
            ++done;
          }
          const std::scoped_lock hold(mutex);
          if (taken.empty() && done == groups * each) return;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(done, groups * each);
}

TEST_P(claim_group, is_refused_with_a_delay_or_where_the_queue_has_none) {
  auto queue = grouped();
  EXPECT_CODE(invalid_argument, queue.enqueue("x", {.delay = 1s, .group = "a"}));
  EXPECT_CODE(invalid_argument, queue.enqueue("x", {.group = ""}));
  EXPECT_CODE(invalid_argument, queue.enqueue("x", {.group = std::string(201, 'g')}));
  EXPECT_CODE(invalid_argument, jobs().enqueue("x", {.group = "a"}));
  EXPECT_CODE(invalid_argument,
              (void)db_with_clock().claim("none", {.groups = group_options{.limit = 0}}));
  EXPECT_CODE(options_mismatch,
              (void)db_with_clock().claim("grouped", {.groups = group_options{.limit = 5}}));
  EXPECT_EQ(db_with_clock().find("grouped")->groups, group_options{});
}

}  // namespace
