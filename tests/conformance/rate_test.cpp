#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Ten messages a second, five at once.
const tableq::queue_limits ten_a_second{.rate = 10.0, .burst = 5};

class rate : public on_each_kind {
 protected:
  any_queue limited(const tableq::queue_limits& to, std::size_t messages) {
    any_queue mail(db_with_clock(), kind(), "mail");
    mail.put_all(numbered(messages));
    mail.base().set_limits(to);
    return mail;
  }
};
TABLEQ_ON_KINDS(rate, all_backends);

TEST_P(rate, below_one_a_second_is_kept) {
  any_queue mail = limited({.rate = 0.001}, 3);
  EXPECT_EQ(mail.take_up_to(50).size(), 1U);
  clock.advance(999'999ms);
  EXPECT_FALSE(mail.take());
  clock.advance(1ms);
  EXPECT_TRUE(mail.take());
}

TEST_P(rate, gives_within_an_interval_after_the_clock_was_set_back) {
  any_queue mail = limited(ten_a_second, 50);
  EXPECT_EQ(mail.take_up_to(50).size(), 5U);
  for (const auto back : {std::chrono::milliseconds{1}, 500ms, std::chrono::milliseconds{30s},
                          std::chrono::milliseconds{59s}, std::chrono::milliseconds{1h},
                          std::chrono::milliseconds{24h}}) {
    SCOPED_TRACE(back.count());
    clock.advance(-back);
    mail.put("due by the new time");
    EXPECT_FALSE(mail.take()) << "what was not given before is not made up for";
    clock.advance(99ms);
    EXPECT_FALSE(mail.take());
    clock.advance(1ms);
    EXPECT_EQ(mail.take_up_to(50).size(), 1U);
  }
}

TEST_P(rate, lets_a_waiting_read_have_its_turn_after_the_clock_was_set_back) {
  any_queue mail = limited(ten_a_second, 6);
  EXPECT_EQ(mail.take_up_to(5).size(), 5U);
  clock.advance(-30s);
  mail.put("due by the new time");
  EXPECT_TRUE(mail.take_up_to(1, 20ms).empty());
  clock.advance(100ms);
  EXPECT_EQ(mail.take_up_to(1, for_ever).size(), 1U);
}

TEST_P(rate, holds_a_waiting_read_until_its_turn) {
  any_queue mail = limited(ten_a_second, 6);
  EXPECT_EQ(mail.take_up_to(5).size(), 5U);
  EXPECT_TRUE(mail.take_up_to(1, 20ms).empty());
  latch started(1);
  std::vector<item> got;
  {
    const std::jthread waiter([&, own = mail]() mutable {
      started.count_down();
      got = own.take_up_to(1, for_ever);
    });
    started.wait();
    clock.advance(100ms);
  }
  EXPECT_EQ(got.size(), 1U);
}

TEST_P(rate, is_kept_by_the_databases_clock) {
  any_queue mail = make("mail");
  mail.put_all(numbered(6));
  mail.base().set_limits({.rate = 20.0, .burst = 1});
  const auto begin = std::chrono::steady_clock::now();
  std::size_t got = 0;
  while (got < 6) got += mail.take_up_to(10, for_ever).size();
  // Five intervals of 50 ms; clocks of two kinds, each cut to the millisecond.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 230ms);
}

class shared_rate : public rate {};
TABLEQ_ON_KINDS(shared_rate, shared_backends);

TEST_P(shared_rate, is_shared_by_all_readers_of_all_database_objects) {
  constexpr std::size_t threads = 4;
  any_queue here = limited({.rate = 10.0, .burst = 20}, 100);
  auto elsewhere = open({.retry_for = 5min, .clock = clock.source()});
  any_queue far(elsewhere, kind(), "mail");
  for (const std::size_t expected : {20U, 7U}) {
    std::atomic<std::size_t> got{0};
    {
      std::vector<std::jthread> readers;
      for (std::size_t i = 0; i < threads; ++i) {
        readers.emplace_back([&, own = i % 2 == 0 ? here : far]() mutable {
          for (std::size_t n = 1; n != 0;) got += n = own.take_up_to(3).size();
        });
      }
    }
    EXPECT_EQ(got, expected);
    clock.advance(700ms);
  }
}

}  // namespace
