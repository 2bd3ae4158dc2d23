#include <pthread.h>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// While it lives, the system refuses threads: none has a stack as long.
class no_more_threads {
 public:
  no_more_threads(const no_more_threads&) = delete;
  no_more_threads& operator=(const no_more_threads&) = delete;
#ifdef __GLIBC__
  no_more_threads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t endless = before_;
    ::pthread_attr_setstacksize(&endless, std::size_t{1} << 50U);
    ::pthread_setattr_default_np(&endless);
  }
  ~no_more_threads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  [[nodiscard]] static bool known() {
    return true;
  }

 private:
  pthread_attr_t before_{};
#else
  no_more_threads() = default;
  [[nodiscard]] static bool known() {
    return false;
  }
#endif
};

class async_enqueue : public on_each_backend {};
TABLEQ_ON_BACKENDS(async_enqueue, all_backends);

TEST_P(async_enqueue, stores_in_the_order_of_the_calls_and_tells_each_id) {
  auto mail = db().fifo("mail");
  const auto payloads = numbered(2500);
  std::vector<std::future<tableq::message_id>> ids;
  for (const auto& each : payloads) ids.push_back(mail.enqueue_async(each));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const tableq::message_id id = ids[i].get();
    const auto got = mail.dequeue();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->payload, payloads[i]);
    EXPECT_EQ(got->id, id);
  }
}

TEST_P(async_enqueue, keeps_what_a_message_of_each_kind_carries) {
  auto later = db_with_clock().pending("later");
  auto jobs = db_with_clock().claim("jobs");
  const auto first = later.enqueue_async("p", {.delay = 5s});
  EXPECT_TRUE(jobs.enqueue_async("j", {.priority = 3, .key = "k"}).get().created());
  EXPECT_FALSE(jobs.enqueue_async("j", {.key = "k"}).get().created());
  first.wait();
  EXPECT_FALSE(later.dequeue());
  clock.advance(5s);
  EXPECT_EQ(later.dequeue()->payload, "p");
  EXPECT_EQ(jobs.take(1).front().priority, 3);
}

TEST_P(async_enqueue, fails_where_the_clock_of_a_test_throws_anything) {
  auto odd = open({.clock = tableq::testing::clock_of([]() -> tableq::timestamp { throw 7; })});
  auto later = odd.pending("later");
  auto told = later.enqueue_async("p", {.delay = 5s});
  EXPECT_CODE(internal, told.get());
}

TEST_P(async_enqueue, tells_every_outcome_before_its_handle_is_gone) {
  std::atomic<int> told{0};
  {
    auto mail = db().fifo("mail");
    for (const auto& each : numbered(1500)) {
      mail.enqueue_async(each, {}, [&](const tableq::outcome<tableq::message_id>& of) {
        if (of.ok()) ++told;
      });
    }
  }
  EXPECT_EQ(told, 1500);
  EXPECT_EQ(db().fifo("mail").stats().waiting, 1500U);
}

TEST_P(async_enqueue, refuses_a_callback_that_cannot_be_called) {
  auto mail = db().fifo("mail");
  EXPECT_CODE(invalid_argument, mail.enqueue_async("a", {}, nullptr));
  mail.enqueue_async("b").wait();
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(async_enqueue, never_has_more_on_its_way_than_is_allowed) {
  auto narrow = open({.async_messages = 3});
  auto mail = narrow.fifo("mail");
  std::atomic<int> on_their_way{0};
  for (const auto& each : numbered(200)) {
    // Counted after the call has waited, and until its outcome is reported.
    mail.enqueue_async(each, {}, [&](const auto& /*of*/) { --on_their_way; });
    EXPECT_LE(++on_their_way, 3);
  }
}

TEST_P(async_enqueue, lets_a_callback_enqueue_without_waiting) {
  auto narrow = open({.async_messages = 1});
  auto mail = narrow.fifo("mail");
  std::promise<void> ended;
  mail.enqueue_async("a", {}, [&](const auto& /*of*/) {
    mail.enqueue_async("b", {}, [](const auto& /*of*/) {});
    mail.enqueue_async("c", {}, [&](const auto& /*of*/) { ended.set_value(); });
  });
  ended.get_future().wait();
  EXPECT_EQ(mail.stats().waiting, 3U);
}

TEST_P(async_enqueue, lets_callbacks_of_two_queues_enqueue_into_each_other) {
  constexpr int most = 200;
  constexpr int chains = 20;
  auto narrow = open({.async_messages = 1});
  auto there = narrow.heap("there");
  auto back = narrow.heap("back");
  int told = 0;  // only the thread of `back` uses these two
  int over = 0;
  std::promise<void> ended;
  std::function<void(const tableq::outcome<tableq::message_id>&)> from_there;
  const auto from_back = [&](const auto& /*of*/) {
    if (++told < most) return there.enqueue_async("t", {}, from_there);
    if (++over == chains) ended.set_value();
  };
  from_there = [&](const auto& /*of*/) { back.enqueue_async("b", {}, from_back); };
  for (int i = 0; i < chains; ++i) there.enqueue_async("t", {}, from_there);
  ended.get_future().wait();
}

TEST_P(async_enqueue, survives_a_callback_that_drops_the_last_handle) {
  std::promise<bool> outcome;
  {
    auto mail = std::make_unique<tableq::fifo_queue>(db().fifo("mail"));
    auto* const handle = mail.get();
    std::promise<void> handed_over;
    auto go = handed_over.get_future().share();
    std::shared_ptr<tableq::fifo_queue> last(std::move(mail));
    std::weak_ptr<tableq::fifo_queue> left = last;
    handle->enqueue_async("a", {}, [last, go](const auto& /*of*/) mutable { go.wait(); });
    handle->enqueue_async("b", {}, [&](const auto& of) { outcome.set_value(of.ok()); });
    last.reset();
    handed_over.set_value();
  }
  EXPECT_TRUE(outcome.get_future().get());
  EXPECT_EQ(db().fifo("mail").stats().waiting, 2U);
}

TEST_P(async_enqueue, says_when_the_system_has_no_thread_and_works_when_it_has) {
  auto mail = db().fifo("mail");
  {
    const no_more_threads now;
    if (!now.known()) GTEST_SKIP() << "threads are refused through glibc alone";
    EXPECT_CODE(busy, static_cast<void>(mail.enqueue_async("a")));
    EXPECT_CODE(busy, mail.enqueue_async("b", {}, [](const auto& /*outcome*/) {}));
  }
  mail.enqueue_async("c").get();
  EXPECT_EQ(mail.dequeue()->payload, "c");
  EXPECT_FALSE(mail.dequeue());
}

TEST_P(async_enqueue, refuses_bad_input_at_once) {
  auto later = db().pending("later");
  EXPECT_CODE(invalid_argument, static_cast<void>(later.enqueue_async("a", {.delay = -1s})));
  EXPECT_CODE(invalid_argument, static_cast<void>(open({.async_messages = 0})));
  EXPECT_CODE(invalid_argument, static_cast<void>(open({.async_bytes = 0})));
  EXPECT_EQ(later.stats().delayed, 0U);
}

TEST_P(async_enqueue, tells_of_a_full_queue) {
  auto mail = db().fifo("mail");
  mail.set_limits({.capacity = 1});
  mail.enqueue("a");
  EXPECT_CODE(queue_full, mail.enqueue_async("b").get());
}

TEST_P(async_enqueue, asks_the_database_nothing_before_it_returns) {
  const tableq::testing::faults faults;
  open_with(faults);
  auto hurried = open({.retry_for = 0ms});
  auto mail = hurried.fifo("mail");
  auto jobs = hurried.claim("jobs");
  // The first question to a queue that was just opened.
  faults.fail("limits.read", {tableq::testing::trouble::busy});
  auto sent = mail.enqueue_async("a");
  EXPECT_CODE(busy, sent.get());
  faults.fail("limits.read", {tableq::testing::trouble::busy});
  auto added = jobs.enqueue_async("a");
  EXPECT_CODE(busy, added.get());
}

class shared_async_enqueue : public on_each_backend {};
TABLEQ_ON_BACKENDS(shared_async_enqueue, shared_backends);

TEST_P(shared_async_enqueue, keeps_the_failure_of_one_from_its_neighbours) {
  auto mail = db().fifo("mail");
  here().forbid_equal_payloads("mail");
  std::vector<std::future<tableq::message_id>> ids;
  for (const char* const each : {"a", "b", "a", "c"}) ids.push_back(mail.enqueue_async(each));
  ids[0].get();
  ids[1].get();
  EXPECT_CODE(constraint_violated, ids[2].get());
  ids[3].get();
  EXPECT_EQ(mail.stats().waiting, 3U);
}

}  // namespace
