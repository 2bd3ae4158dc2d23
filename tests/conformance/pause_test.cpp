#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <thread>

#include "support/becomes.hpp"
#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class pausing : public on_each_kind {};
TABLEQ_ON_KINDS(pausing, all_backends);

TEST_P(pausing, twice_is_harmless) {
  any_queue mail = make("mail");
  mail.put("kept");
  mail.base().resume();
  mail.base().pause();
  mail.base().pause();
  EXPECT_FALSE(mail.take());
  mail.base().resume();
  mail.base().resume();
  EXPECT_TRUE(mail.take());
}

TEST_P(pausing, leaves_limits_as_they_are_and_the_other_way_round) {
  any_queue mail = make("mail");
  mail.base().set_limits({.capacity = 7});
  mail.base().pause();
  EXPECT_EQ(mail.base().limits(), (tableq::queue_limits{.capacity = 7}));
  mail.base().set_limits({.capacity = 8});
  EXPECT_TRUE(mail.base().paused());
  mail.base().resume();
  EXPECT_EQ(mail.base().limits(), (tableq::queue_limits{.capacity = 8}));
}

TEST_P(pausing, holds_a_waiting_read_until_the_queue_is_resumed) {
  any_queue mail = make("mail");
  mail.put("there");
  mail.base().pause();
  latch started(1);
  std::vector<item> got;
  {
    const std::jthread waiter([&, own = mail]() mutable {
      started.count_down();
      got = own.take_up_to(1, for_ever);
    });
    started.wait();
    mail.put("an enqueue does not end the pause");
    EXPECT_EQ(mail.waiting(), 2U);
    mail.base().resume();
  }
  EXPECT_EQ(got.size(), 1U);
}

TEST_P(pausing, lets_waiting_reads_end_in_time_and_on_request) {
  any_queue mail = make("mail");
  mail.put("there");
  mail.base().pause();
  EXPECT_TRUE(mail.take_up_to(1, 30ms).empty());
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

TEST_P(pausing, ends_with_the_queue) {
  any_queue mail = make("mail");
  mail.base().pause();
  mail.base().set_limits({.capacity = 1, .rate = 1.0});
  EXPECT_TRUE(db().drop("mail"));
  EXPECT_CODE(not_found, mail.base().pause());
  any_queue again = make("mail");
  EXPECT_FALSE(again.base().paused());
  EXPECT_EQ(again.base().limits(), tableq::queue_limits());
  again.put_all(numbered(3));
  EXPECT_EQ(again.take_up_to(10).size(), 3U);
}

class shared_pausing : public on_each_kind {};
TABLEQ_ON_KINDS(shared_pausing, shared_backends);

TEST_P(shared_pausing, is_seen_by_another_database_object) {
  any_queue mail = make("mail");
  auto elsewhere = open();
  any_queue far(elsewhere, kind(), "mail");
  far.put("again");
  ASSERT_TRUE(far.take());
  far.put("again");
  mail.base().pause();
  EXPECT_TRUE(becomes([&] {
    if (!far.take()) return true;
    far.put("again");
    return false;
  }));
  EXPECT_TRUE(far.base().paused());
  EXPECT_EQ(far.waiting(), 1U);
  std::vector<item> got;
  {
    const std::jthread waiter([&] { got = far.take_up_to(1, for_ever); });
    mail.base().resume();
  }
  EXPECT_EQ(got.size(), 1U);
}

TEST_P(shared_pausing, holds_for_whoever_opens_the_queue_later) {
  any_queue mail = make("mail");
  mail.put("there");
  mail.base().pause();
  auto elsewhere = open({.schema = tableq::schema_policy::verify_only});
  any_queue far(elsewhere, kind(), "mail");
  EXPECT_FALSE(far.take());
  far.base().resume();
  EXPECT_TRUE(far.take());
  EXPECT_FALSE(mail.base().paused());
}

TEST_P(shared_pausing, leaves_no_row_behind_a_dropped_queue) {
  any_queue mail = make("mail");
  any_queue other = make("other");
  other.base().pause();
  mail.base().pause();
  EXPECT_TRUE(db().drop("mail"));
  EXPECT_EQ(here().sql("SELECT queue FROM tableq_limits"), (rows{{"other"}}));
}

TEST_P(shared_pausing, by_plain_sql_is_seen_too) {
  any_queue mail = make("mail");
  mail.put("there");
  here().sql("INSERT INTO tableq_limits (queue, paused) VALUES ('mail', 1)");
  auto elsewhere = open();
  any_queue far(elsewhere, kind(), "mail");
  EXPECT_TRUE(far.base().paused());
  EXPECT_FALSE(far.take());
}

class limit_values : public on_each_kind {};
TABLEQ_ON_KINDS(limit_values, all_backends);

TEST_P(limit_values, are_read_back_as_they_were_set) {
  any_queue mail = make("mail");
  EXPECT_EQ(mail.base().limits(), tableq::queue_limits());
  const tableq::queue_limits all{.capacity = 1'000'000'000'000, .rate = 0.001, .burst = 1'000'000};
  mail.base().set_limits(all);
  EXPECT_EQ(mail.base().limits(), all);
  mail.base().set_limits({.rate = 1'000'000.0});
  EXPECT_EQ(mail.base().limits(), (tableq::queue_limits{.rate = 1'000'000.0}));
  mail.base().set_limits({});
  EXPECT_EQ(mail.base().limits(), tableq::queue_limits());
}

TEST_P(limit_values, out_of_range_are_refused_before_anything_is_changed) {
  any_queue mail = make("mail");
  const tableq::queue_limits good{.capacity = 5};
  mail.base().set_limits(good);
  constexpr double endless = std::numeric_limits<double>::infinity();
  std::vector<tableq::queue_limits> wrong{{.capacity = 0},
                                          {.capacity = std::numeric_limits<std::size_t>::max()},
                                          {.rate = 0.0},
                                          {.rate = -1.0},
                                          {.rate = 0.0001},
                                          {.rate = 1e7},
                                          {.rate = std::nan("")},
                                          {.rate = endless},
                                          {.rate = -endless},
                                          {.rate = 1.0, .burst = 0},
                                          {.rate = 1.0, .burst = -1},
                                          {.rate = 1.0, .burst = 1'000'001},
                                          {.burst = 1},
                                          {.concurrency = 0},
                                          {.concurrency = -1},
                                          {.concurrency = 1'000'001}};
  if (kind() != tableq::kind::claim) wrong.push_back({.concurrency = 1});
  for (const tableq::queue_limits& each : wrong) {
    EXPECT_CODE(invalid_argument, mail.base().set_limits(each));
    EXPECT_EQ(mail.base().limits(), good);
  }
}

TEST_P(limit_values, belong_to_one_queue) {
  any_queue mail = make("mail");
  any_queue other = make("other");
  mail.base().pause();
  mail.base().set_limits({.capacity = 1});
  EXPECT_FALSE(other.base().paused());
  EXPECT_EQ(other.base().limits(), tableq::queue_limits());
  other.put_all(numbered(3));
  EXPECT_EQ(other.take_up_to(3).size(), 3U);
}

class shared_limits : public on_each_backend {};
TABLEQ_ON_BACKENDS(shared_limits, shared_backends);

TEST_P(shared_limits, can_be_set_without_the_right_to_make_tables) {
  (void)db().claim("jobs");
  const auto modest = here().url_without_ddl_rights();
  if (!modest) GTEST_SKIP() << "this database knows no users";
  auto careful = tableq::database::open(*modest, {.schema = tableq::schema_policy::verify_only});
  auto jobs = careful.claim("jobs");
  jobs.set_limits({.capacity = 10, .rate = 100.0, .concurrency = 2});
  for (int i = 0; i < 3; ++i) jobs.enqueue("work");
  EXPECT_EQ(jobs.take(5).size(), 2U);
  jobs.pause();
  EXPECT_TRUE(jobs.paused());
}

}  // namespace
