#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class capacity : public on_each_kind {
 protected:
  any_queue bounded(std::size_t by) {
    any_queue mail = make("mail");
    mail.base().set_limits({.capacity = by});
    return mail;
  }
  /// Enqueues into a full queue in a waiting thread, calls `make_room`, and returns when the
  /// message is stored.
  template <class F>
  static void put_while(any_queue mail, F&& make_room) {
    latch started(1);
    std::string failed;
    {
      const std::jthread waiter([&] {
        started.count_down();
        try {
          mail.put("last", {.wait = for_ever});
        } catch (const tableq::error& failure) {
          failed = failure.what();
        }
      });
      started.wait();
      make_room();
    }
    EXPECT_EQ(failed, "");
  }
};
TABLEQ_ON_KINDS(capacity, all_backends);

TEST_P(capacity, is_exact_when_it_is_large) {
  any_queue mail = bounded(1000);
  for (int i = 0; i < 10; ++i) mail.put_all(numbered(70));
  db().transact([&](tableq::transaction& tx) {
    for (int i = 0; i < 300; ++i) mail.in(tx).put("fits");
  });
  EXPECT_CODE(queue_full, mail.put("one too many"));
  EXPECT_EQ(mail.waiting(), 1000U);
  EXPECT_EQ(mail.take_up_to(400).size(), 400U);
  for (int i = 0; i < 4; ++i) mail.put_all(numbered(100));
  EXPECT_CODE(queue_full, mail.put("one too many"));
  EXPECT_EQ(mail.waiting(), 1000U);
}

TEST_P(capacity, lets_an_enqueue_wait_until_something_is_read) {
  any_queue mail = bounded(2);
  mail.put_all(numbered(2));
  put_while(mail, [&] { EXPECT_TRUE(mail.take()); });
  EXPECT_EQ(mail.waiting(), 2U);
}

TEST_P(capacity, lets_an_enqueue_wait_until_a_transaction_commits) {
  any_queue mail = bounded(2);
  mail.put_all(numbered(2));
  put_while(mail, [&] {
    db().transact([&](tableq::transaction& tx) { EXPECT_TRUE(mail.in(tx).take()); });
  });
  EXPECT_EQ(mail.waiting(), 2U);
}

TEST_P(capacity, lets_an_enqueue_wait_until_it_is_raised) {
  any_queue mail = bounded(1);
  mail.put("first");
  put_while(mail, [&] { mail.base().set_limits({.capacity = 2}); });
  put_while(mail, [&] { mail.base().set_limits({}); });
  EXPECT_EQ(mail.waiting(), 3U);
}

TEST_P(capacity, ends_waiting_in_time_and_on_request) {
  any_queue mail = bounded(1);
  mail.put("first");
  EXPECT_CODE(queue_full, mail.put("late", {.wait = 30ms}));
  EXPECT_CODE(queue_full, mail.put_all(numbered(2), {.wait = for_ever})) << "no room is enough";
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_CODE(queue_full, mail.put("stopped", {.wait = for_ever, .stop = stopped.get_token()}));
  EXPECT_CODE(invalid_argument, mail.put("never", {.wait = -1ms}));
  EXPECT_CODE(invalid_argument, mail.put("never", {.wait = 24h * 366}));
  EXPECT_EQ(mail.waiting(), 1U);
}

class shared_capacity : public capacity {};
TABLEQ_ON_KINDS(shared_capacity, shared_backends);

TEST_P(shared_capacity, counts_what_others_add_and_take) {
  any_queue mail = bounded(3);
  auto elsewhere = open();
  any_queue far(elsewhere, kind(), "mail");
  far.put_all(numbered(3));
  EXPECT_CODE(queue_full, mail.put("one too many"));
  put_while(mail, [&] { EXPECT_TRUE(far.take()); });
  EXPECT_EQ(mail.waiting(), 3U);
}

TEST_P(shared_capacity, is_exceeded_by_no_more_than_is_documented) {
  constexpr std::size_t most = 100;
  constexpr std::size_t threads = 8;
  any_queue mail = bounded(most);
  auto elsewhere = open({.retry_for = 5min});
  any_queue far(elsewhere, kind(), "mail");
  {
    std::vector<std::jthread> writers;
    for (std::size_t i = 0; i < threads; ++i) {
      writers.emplace_back([&, own = i % 2 == 0 ? mail : far]() mutable {
        try {
          for (;;) own.put("mine");
        } catch (const tableq::error& failure) {
          EXPECT_EQ(failure.code(), tableq::errc::queue_full) << failure.what();
        }
      });
    }
  }
  EXPECT_GE(mail.waiting(), most);
  // One other object: the messages that its threads are adding, and 1/32 of the room.
  EXPECT_LE(mail.waiting(), most + threads / 2 + most / 32);
}

class claim_capacity : public on_each_backend {};
TABLEQ_ON_BACKENDS(claim_capacity, all_backends);

TEST_P(claim_capacity, is_exact_when_messages_come_back) {
  auto jobs = db_with_clock().claim("jobs", {.lease = 1min, .max_attempts = 1});
  jobs.set_limits({.capacity = 3});
  for (const char* const each : {"a", "b", "c"}) {
    EXPECT_TRUE(jobs.enqueue(each, {.key = each}).created());
  }
  const std::vector<tableq::new_claim_message> held(2, {.payload = "x", .options = {.key = "a"}});
  const auto add_nothing = [&] {
    for (const auto& each : jobs.enqueue_batch(held)) EXPECT_FALSE(each.created());
  };
  {
    tableq::transaction tx = db_with_clock().begin();
    const auto taken = jobs.in(tx).take(3);
    ASSERT_EQ(taken.size(), 3U);
    for (const auto i : {1, 2}) {
      EXPECT_EQ(jobs.in(tx).complete(taken[static_cast<std::size_t>(i)].receipt),
                tableq::settle_result::applied);
    }
    EXPECT_EQ(jobs.in(tx).enqueue_batch(held).size(), 2U);
    tx.rollback();
  }
  EXPECT_CODE(queue_full, jobs.enqueue("one too many"));
  EXPECT_EQ(jobs.cancel(jobs.find("c")->id), tableq::change_result::applied);
  EXPECT_EQ(jobs.cancel(jobs.find("b")->id), tableq::change_result::applied);
  jobs.enqueue("dies", {.priority = 1});
  jobs.enqueue("dies too", {.priority = 1});
  EXPECT_EQ(jobs.take(2).size(), 2U);
  EXPECT_CODE(queue_full, jobs.enqueue("one too many"));
  clock.advance(1min);
  EXPECT_EQ(jobs.take(1).size(), 1U);
  EXPECT_EQ(jobs.stats().dead, 2U);
  add_nothing();
  EXPECT_EQ(jobs.redrive_all().count, 2U);
  EXPECT_CODE(queue_full, jobs.enqueue("one too many"));
}

TEST_P(claim_capacity, of_a_dead_letter_queue_is_free_as_soon_as_its_letters_return) {
  constexpr std::size_t letters = 50;
  auto jobs = db().claim("jobs", {.max_attempts = 1, .dead_letters = "morgue"});
  auto morgue = db().claim("morgue");
  morgue.set_limits({.capacity = letters});
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < letters; ++i) jobs.enqueue("returns");
    std::vector<tableq::failure> failures;
    for (const auto& each : jobs.take(letters)) failures.push_back({.receipt = each.receipt});
    ASSERT_EQ(jobs.fail_batch(failures).size(), letters);
    EXPECT_CODE(queue_full, morgue.enqueue("one too many"));
    EXPECT_EQ(jobs.redrive_all().count, letters);
    ASSERT_EQ(morgue.cancel(morgue.enqueue("fits").id), tableq::change_result::applied);
    for (const auto& each : jobs.take(letters)) {
      ASSERT_EQ(jobs.complete(each.receipt), tableq::settle_result::applied);
    }
  }
}

TEST_P(capacity, has_room_again_as_soon_as_a_transaction_is_rolled_back) {
  any_queue mail = bounded(100);
  for (int i = 0; i < 20; ++i) {
    tableq::transaction tx = db().begin();
    mail.in(tx).put_all(numbered(100));
    EXPECT_CODE(queue_full, mail.in(tx).put("one too many"));
    tx.rollback();
  }
}

TEST_P(claim_capacity, is_not_used_up_by_keys_that_are_taken) {
  auto jobs = db().claim("jobs");
  jobs.set_limits({.capacity = 100});
  EXPECT_TRUE(jobs.enqueue("first", {.key = "k"}).created());
  for (int i = 0; i < 300; ++i) EXPECT_FALSE(jobs.enqueue("again", {.key = "k"}).created());
  for (int i = 0; i < 99; ++i) jobs.enqueue("fits");
  EXPECT_CODE(queue_full, jobs.enqueue("one too many"));
}

}  // namespace
