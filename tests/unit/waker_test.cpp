#include "core/waking/waker.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tableq::core::waker;
using tableq::core::woken;
using clock = std::chrono::steady_clock;

/// Only a lost wake takes as long as this.
clock::time_point never() {
  return clock::now() + 1h;
}

/// Sleeping readers, and the reasons of their wakes.
class sleepers {
 public:
  explicit sleepers(waker& in) : in_(in) {}
  void add() {
    const auto mark = in_.mark();
    threads_.emplace_back([this, mark](const std::stop_token& stop) {
      const woken why = in_.wait(mark, never(), stop);
      const std::scoped_lock hold(mutex_);
      ended_.push_back(why);
      changed_.notify_all();
    });
  }
  /// Waits until this number is awake.
  std::vector<woken> ended(std::size_t count) {
    std::unique_lock hold(mutex_);
    changed_.wait_for(hold, 1min, [&] { return ended_.size() >= count; });
    return ended_;
  }

 private:
  waker& in_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<woken> ended_;
  std::vector<std::jthread> threads_;
};

TEST(waking, that_came_after_the_mark_is_not_missed) {
  waker readers;
  const auto mark = readers.mark();
  readers.wake();
  EXPECT_EQ(readers.wait(mark, never(), {}), woken::message);
  readers.hint();
  EXPECT_EQ(readers.wait(mark, never(), {}), woken::hint);
}

TEST(waking, makes_no_more_of_those_look_again_that_are_looking_than_there_is_something_for) {
  waker readers;
  const auto mark = readers.mark();
  readers.wake(2);
  EXPECT_EQ(readers.wait(mark, never(), {}), woken::message);
  EXPECT_EQ(readers.wait(mark, never(), {}), woken::message);
  EXPECT_EQ(readers.wait(mark, clock::now(), {}), woken::no);
}

TEST(waking, makes_nobody_look_again_when_it_woke_one_that_slept) {
  waker readers;
  const auto mark = readers.mark();
  sleepers all(readers);
  all.add();
  while (readers.sleeping() < 1) std::this_thread::yield();
  readers.wake();
  EXPECT_EQ(all.ended(1), std::vector{woken::message});
  EXPECT_EQ(readers.wait(mark, clock::now(), {}), woken::no);
}

TEST(waking, makes_nobody_look_again_when_one_has_looked_since_and_found_nothing) {
  waker readers;
  const auto early = readers.mark();
  readers.wake(5);
  EXPECT_EQ(readers.wait(readers.mark(), clock::now(), {}), woken::no);
  EXPECT_EQ(readers.wait(early, clock::now(), {}), woken::no);
}

TEST(waking, for_one_message_wakes_one_reader) {
  waker readers;
  sleepers all(readers);
  for (int i = 0; i < 3; ++i) all.add();
  while (readers.sleeping() < 3) std::this_thread::yield();
  readers.wake();
  EXPECT_EQ(all.ended(1), std::vector{woken::message});
  EXPECT_EQ(readers.sleeping(), 2U);
  readers.wake(5);
  EXPECT_EQ(all.ended(3).size(), 3U);
}

TEST(waking, by_a_hint_or_for_a_question_wakes_one_and_says_so) {
  waker readers;
  sleepers all(readers);
  for (int i = 0; i < 3; ++i) all.add();
  while (readers.sleeping() < 3) std::this_thread::yield();
  readers.hint();
  EXPECT_EQ(all.ended(1), std::vector{woken::hint});
  readers.ask();
  EXPECT_EQ(all.ended(2).at(1), woken::clock);
  EXPECT_EQ(readers.sleeping(), 1U);
  readers.wake();
}

TEST(waking, for_a_question_is_not_remembered) {
  waker readers;
  const auto mark = readers.mark();
  readers.ask();
  EXPECT_EQ(readers.wait(mark, clock::now(), {}), woken::no);
}

}  // namespace
