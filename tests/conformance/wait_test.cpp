#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class waiting : public on_each_kind {
 protected:
  /// A thread waits on `mail`; then `send` ends its wait.
  template <class F>
  static std::vector<std::string> wait_while(any_queue mail, F&& send, std::size_t max = 1) {
    latch started(1);
    std::vector<item> got;
    {
      const std::jthread waiter([&] {
        started.count_down();
        got = mail.take_up_to(max, for_ever);
      });
      started.wait();
      send();
    }
    return payloads_of(got);
  }
};
TABLEQ_ON_KINDS(waiting, all_backends);

TEST_P(waiting, read_is_woken_by_an_enqueue_of_another_thread) {
  any_queue mail = make("mail");
  EXPECT_EQ(wait_while(mail, [&] { mail.put("woken"); }), (std::vector<std::string>{"woken"}));
}

TEST_P(waiting, read_is_woken_by_a_batch) {
  any_queue mail = make("mail");
  const auto got = wait_while(
      mail, [&] { mail.put_all(numbered(5)); }, 5);
  EXPECT_EQ(got.size(), 5U);
}

TEST_P(waiting, read_is_woken_by_a_commit) {
  any_queue mail = make("mail");
  const auto got = wait_while(
      mail, [&] { db().transact([&](tableq::transaction& tx) { mail.in(tx).put("committed"); }); });
  EXPECT_EQ(got, (std::vector<std::string>{"committed"}));
}

TEST_P(waiting, read_returns_at_once_what_is_there) {
  any_queue mail = make("mail");
  mail.put("there");
  EXPECT_EQ(payloads_of(mail.take_up_to(10, for_ever)), (std::vector<std::string>{"there"}));
}

TEST_P(waiting, read_ends_empty_when_its_time_is_over) {
  any_queue mail = make("mail");
  EXPECT_TRUE(mail.take_up_to(1, 1ms).empty());
  EXPECT_TRUE(mail.take_up_to(10, 30ms).empty());
}

TEST_P(waiting, read_ends_empty_when_it_is_stopped) {
  any_queue mail = make("mail");
  latch started(1);
  std::vector<item> got(1);
  std::jthread waiter([&](const std::stop_token& stop) {
    started.count_down();
    got = mail.take_up_to(1, for_ever, stop);
  });
  started.wait();
  waiter.request_stop();
  waiter.join();
  EXPECT_TRUE(got.empty());
}

TEST_P(waiting, read_that_was_stopped_before_does_not_wait) {
  any_queue mail = make("mail");
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_TRUE(mail.take_up_to(1, for_ever, stopped.get_token()).empty());
}

TEST_P(waiting, readers_share_what_comes) {
  any_queue mail = make("mail");
  std::atomic<int> got{0};
  latch started(4);
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 4; ++i) {
      readers.emplace_back([&, own = mail]() mutable {
        started.count_down();
        got += static_cast<int>(own.take_up_to(1, for_ever).size());
      });
    }
    started.wait();
    for (const std::string& each : numbered(4)) mail.put(each);
  }
  EXPECT_EQ(got, 4);
  EXPECT_EQ(mail.waiting(), 0U);
}

class shared_waiting : public waiting {};
TABLEQ_ON_KINDS(shared_waiting, shared_backends);

TEST_P(shared_waiting, read_finds_a_plain_insert) {
  any_queue mail = make("mail");
  const auto got = wait_while(mail, [&] {
    here().sql("INSERT INTO mail (payload) VALUES (" + here().bytes_literal("by hand") + ")");
  });
  EXPECT_EQ(got, (std::vector<std::string>{"by hand"}));
}

class due_times : public on_each_backend {};
TABLEQ_ON_BACKENDS(due_times, all_backends);

TEST_P(due_times, wake_a_waiting_read) {
  auto later = db().pending("later");
  auto jobs = db().claim("jobs");
  later.enqueue("due", {.delay = 50ms});
  EXPECT_TRUE(jobs.enqueue("due", {.delay = 50ms}).created());
  EXPECT_EQ(later.dequeue({.wait = for_ever})->payload, "due");
  EXPECT_EQ(jobs.take(1, {.wait = for_ever}).at(0).payload, "due");
}

TEST_P(due_times, of_leases_wake_a_waiting_take) {
  auto jobs = db().claim("jobs", {.lease = 50ms});
  jobs.enqueue("work");
  EXPECT_EQ(jobs.take(1).at(0).attempt, 1);
  EXPECT_EQ(jobs.take(1, {.wait = for_ever}).at(0).attempt, 2);
}

TEST_P(due_times, of_what_comes_after_the_clock_was_set_back_wake_a_waiting_read) {
  auto later = db_with_clock().pending("later");
  auto jobs = db_with_clock().claim("jobs", {.lease = 1h});
  later.enqueue("before");
  jobs.enqueue("before");
  EXPECT_TRUE(later.dequeue());
  EXPECT_EQ(jobs.take(1).size(), 1U);
  const auto comes_soon = [&](auto read, auto add) {
    std::jthread reader(read);
    add();
    const auto begin = std::chrono::steady_clock::now();
    clock.advance(100ms);
    reader.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, for_ever / 2);
  };
  for (const std::chrono::milliseconds back : {30'000ms, 3'600'000ms}) {
    clock.advance(-back);
    comes_soon([&] { EXPECT_TRUE(later.dequeue({.wait = for_ever})); },
               [&] { later.enqueue("delayed", {.delay = 100ms}); });
    comes_soon([&] { EXPECT_EQ(jobs.take(1, {.wait = for_ever}).size(), 1U); },
               [&] { static_cast<void>(jobs.enqueue("delayed", {.delay = 100ms})); });
  }
}

class reads_that_follow_schedules : public on_each_backend {};
TABLEQ_ON_BACKENDS(reads_that_follow_schedules, shared_backends);

TEST_P(reads_that_follow_schedules, wait_briefly_for_a_queue_that_a_transaction_locks) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto theirs = open();
  auto locked = theirs.fifo("locked", {.ordering = tableq::ordering::strict});
  auto other = db_with_clock().fifo("other");
  for (const char* const each : {"locked", "other"}) {
    db_with_clock().schedules().add({.name = each, .queue = each, .every = 10s});
  }
  auto holds = theirs.begin();
  locked.in(holds).enqueue("x");
  clock.advance(11s);
  auto reads = std::async(std::launch::async, [&] { return other.dequeue(); });
  EXPECT_EQ(reads.wait_for(for_ever), std::future_status::ready);
  holds.rollback();
  EXPECT_TRUE(reads.get());
  EXPECT_FALSE(other.dequeue());
  EXPECT_TRUE(locked.dequeue());
}

}  // namespace
