#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class sessions : public on_each_backend {};
TABLEQ_ON_BACKENDS(sessions, all_backends);

TEST_P(sessions, a_call_that_finds_none_free_is_busy) {
  auto narrow = open({.max_sessions = 1, .session_timeout = 10ms});
  auto mail = narrow.fifo("mail");
  {
    const tableq::transaction tx = narrow.begin();
    EXPECT_CODE(busy, static_cast<void>(narrow.begin()));
    std::jthread([&] {
      EXPECT_CODE(busy, mail.enqueue("refused"));
      EXPECT_CODE(busy, static_cast<void>(mail.stats()));
    }).join();
  }
  EXPECT_EQ(mail.stats().waiting, 0U);
}

TEST_P(sessions, are_not_waited_for_by_a_call_that_is_to_stop) {
  auto narrow = open({.max_sessions = 1, .session_timeout = 5min});
  auto mail = narrow.fifo("mail");
  auto jobs = narrow.claim("jobs");
  const auto one = jobs.enqueue("x").id;
  std::stop_source stop;
  const auto began = std::chrono::steady_clock::now();
  {
    const tableq::transaction tx = narrow.begin();
    std::vector<std::jthread> all;
    all.emplace_back([&] { EXPECT_FALSE(mail.dequeue({.wait = 5min, .stop = stop.get_token()})); });
    all.emplace_back(
        [&] { EXPECT_TRUE(jobs.take(1, {.wait = 5min, .stop = stop.get_token()}).empty()); });
    all.emplace_back([&] {
      const auto seen = jobs.wait_for(one, {.wait = 5min, .stop = stop.get_token()});
      EXPECT_EQ(seen.how, tableq::awaited::ending::waiting);
    });
    all.emplace_back([&] {
      EXPECT_CODE(busy, mail.enqueue("x", {}, {.wait = 5min, .stop = stop.get_token()}));
    });
    all.emplace_back([&] {
      tableq::worker pool(jobs, [](const tableq::delivery&) {});
      pool.stop();
      pool.join();
    });
    stop.request_stop();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 2min);
}

TEST_P(sessions, come_back_after_every_way_to_end) {
  auto narrow = open({.max_sessions = 1, .session_timeout = 10ms});
  auto mail = narrow.fifo("mail");
  for (int i = 0; i < 20; ++i) {
    { const tableq::transaction dropped = narrow.begin(); }
    narrow.begin().commit();
    narrow.begin().rollback();
    EXPECT_CODE(invalid_argument, static_cast<void>(mail.dequeue_batch(0)));
    EXPECT_THROW(narrow.transact([](tableq::transaction&) { throw std::domain_error("own"); }),
                 std::domain_error);
    mail.enqueue("x");
  }
  EXPECT_EQ(mail.stats().waiting, 20U);
}

TEST_P(sessions, of_copies_of_a_database_are_the_same) {
  auto mail = open().fifo("mail");  // The database object itself is gone.
  auto copy = mail;
  mail.enqueue("x");
  EXPECT_EQ(copy.dequeue()->payload, "x");
  EXPECT_EQ(copy.name(), "mail");
  EXPECT_EQ(copy.kind(), tableq::kind::fifo);
}

TEST_P(sessions, a_waiting_read_holds_none) {
  auto narrow = open({.max_sessions = 1, .session_timeout = 5s});
  auto mail = narrow.fifo("mail");
  auto jobs = narrow.claim("jobs");
  latch started(2);
  std::string got;
  std::string taken;
  {
    const std::jthread reader([&] {
      started.count_down();
      got = mail.dequeue({.wait = 60s}).value().payload;
    });
    const std::jthread taker([&] {
      started.count_down();
      taken = jobs.take(1, {.wait = 60s}).at(0).payload;
    });
    started.wait();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(narrow.queues().size(), 2U);
    mail.enqueue("woken");
    jobs.enqueue("woken too");
  }
  EXPECT_EQ(got, "woken");
  EXPECT_EQ(taken, "woken too");
}

/// How many sessions a database object has open, and had at most.
class session_count : public tableq::observer {
 public:
  void session_opened(std::string_view /*backend*/, std::chrono::nanoseconds /*t*/) override {
    most = std::max<int>(most, ++open);
  }
  void session_closed(std::string_view /*backend*/, bool /*broken*/) override { --open; }

  std::atomic<int> open = 0;
  std::atomic<int> most = 0;
};

class sessions_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(sessions_of_kind, all_backends);

TEST_P(sessions_of_kind, a_thread_needs_one_also_for_its_transactions) {
  constexpr int many = 150;
  const auto count = std::make_shared<session_count>();
  auto alone = open({.observer = count});
  any_queue mail(alone, kind(), "mail");
  const auto read_in_transactions = [&] {
    mail.put_all(std::vector<std::string>(many, "x"));
    for (int i = 0; i < many; ++i) {
      alone.transact([&](tableq::transaction& tx) {
        EXPECT_TRUE(mail.in(tx).take());
        mail.in(tx).put("again");
        EXPECT_TRUE(mail.in(tx).take());
        mail.in(tx).put("again");
      });
    }
    for (int i = 0; i < many; ++i) {
      tableq::transaction undone = alone.begin();
      EXPECT_TRUE(mail.in(undone).take());
      if (i % 2 == 0) undone.rollback();
    }
  };
  read_in_transactions();
  mail.base().set_limits({.capacity = 1'000'000, .rate = 1'000'000.0, .burst = 1'000'000});
  read_in_transactions();
  for (int i = 0; i < many; ++i) EXPECT_TRUE(mail.take());
  EXPECT_EQ(count->most, 1);
}

class strict_queues : public on_each_backend {};
TABLEQ_ON_BACKENDS(strict_queues, shared_backends);

TEST_P(strict_queues, let_nobody_pass_the_message_at_the_head) {
  const tableq::order_options strict{.ordering = tableq::ordering::strict};
  auto first = db().fifo("first", strict);
  auto last = db().lifo("last", strict);
  for (const std::string& each : numbered(3)) {
    first.enqueue(each);
    last.enqueue(each);
  }
  auto hurried = tableq::database::open(here().impatient_url(), {.retry_for = 0ms});
  auto other_first = hurried.fifo("first");
  auto other_last = hurried.lifo("last");
  {
    tableq::transaction tx = db().begin();
    EXPECT_EQ(first.in(tx).dequeue()->payload, "p0");
    EXPECT_EQ(last.in(tx).dequeue()->payload, "p2");
    EXPECT_CODE(busy, static_cast<void>(other_first.dequeue()));
    EXPECT_CODE(busy, static_cast<void>(other_last.dequeue()));
    EXPECT_CODE(busy, other_first.enqueue("overtakes"));
  }
  EXPECT_EQ(other_first.dequeue()->payload, "p0");
  EXPECT_EQ(other_last.dequeue()->payload, "p2");
}

TEST_P(strict_queues, that_are_relaxed_let_readers_pass) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto first = db().fifo("first");
  for (const std::string& each : numbered(2)) first.enqueue(each);
  auto hurried = tableq::database::open(here().impatient_url(), {.retry_for = 0ms});
  auto other = hurried.fifo("first");
  tableq::transaction tx = db().begin();
  EXPECT_EQ(first.in(tx).dequeue()->payload, "p0");
  EXPECT_EQ(other.dequeue()->payload, "p1");
}

class locks : public on_each_kind {};
TABLEQ_ON_KINDS(locks, shared_backends);

TEST_P(locks, of_others_make_each_of_many_writers_busy_within_its_time_out) {
  static_cast<void>(make("mail"));
  // Connected before, because a connection may have to wait while another session closes.
  std::vector<any_queue> mails;
  for (int i = 0; i < 4; ++i) {
    auto hurried = tableq::database::open(here().impatient_url(), {.retry_for = 0ms});
    mails.emplace_back(hurried, kind(), "mail");
  }
  here().sql(here().begin_with_lock("mail"));
  {
    std::vector<std::jthread> writers;
    for (any_queue& to : mails) {
      writers.emplace_back([&to] {
        EXPECT_CODE(busy, to.put("refused"));
        EXPECT_CODE(busy, to.put_all(numbered(3)));
      });
    }
  }
  here().sql("ROLLBACK");
  any_queue mail(db(), kind(), "mail");
  EXPECT_EQ(mail.waiting(), 0U);
  mail.put("accepted");
  EXPECT_EQ(mail.take()->payload, "accepted");
}

TEST_P(locks, that_end_in_time_are_waited_for) {
  static_cast<void>(make("mail"));
  auto patient = tableq::database::open(here().impatient_url(), {.retry_for = 60s});
  any_queue mail(patient, kind(), "mail");
  here().sql(here().begin_with_lock("mail"));
  latch started(1);
  {
    const std::jthread writer([&] {
      started.count_down();
      mail.put("in the end");
    });
    started.wait();
    here().sql("COMMIT");
  }
  EXPECT_EQ(mail.take()->payload, "in the end");
}

TEST_P(locks, of_others_do_not_disturb_a_look) {
  any_queue mail = make("mail");
  mail.put("there");
  here().sql(here().begin_with_lock("mail"));
  EXPECT_EQ(mail.peek(1), (std::vector<std::string>{"there"}));
  EXPECT_EQ(mail.waiting(), 1U);
  here().sql("ROLLBACK");
}

}  // namespace
