#include <gtest/gtest.h>

#include "core/limits/known_limits.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::core::room_account;
using answer = room_account::answer;

class room_for : public testing::Test {
 protected:
  /// A count that takes `length` and finds `number`.
  answer count(std::size_t number, std::size_t capacity, std::size_t wanted,
               std::chrono::milliseconds length = 0ms, bool keep = true) {
    const auto mark = account.begin_count(now);
    now += length;
    return account.counted(mark, number, capacity, wanted, keep, now);
  }

  room_account account;
  room_account::clock::time_point now{1h};
};

TEST_F(room_for, nothing_is_granted_before_a_count) {
  EXPECT_EQ(account.reserve(1, now), answer::count);
}

TEST_F(room_for, others_a_thirty_second_of_what_was_found_is_credit_for_a_second) {
  EXPECT_EQ(count(0, 320, 1), answer::granted);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(account.reserve(1, now), answer::granted);
  EXPECT_EQ(account.reserve(1, now), answer::count);
  account.done(11, 0);
  EXPECT_EQ(count(11, 320, 1), answer::granted);
  now += 1s;
  EXPECT_EQ(account.reserve(1, now), answer::count);
}

TEST_F(room_for, what_is_under_way_is_not_found_twice) {
  EXPECT_EQ(count(0, 2, 1), answer::granted);
  EXPECT_EQ(count(0, 2, 1), answer::granted);
  EXPECT_EQ(count(0, 2, 1), answer::count) << "two are under way, and perhaps not counted";
  account.done(2, 0);
  EXPECT_EQ(count(2, 2, 1), answer::full);
}

TEST_F(room_for, what_ends_during_a_count_is_taken_to_be_missing_in_it) {
  EXPECT_EQ(count(0, 2, 1), answer::granted);
  const auto mark = account.begin_count(now);
  account.done(1, 0);
  EXPECT_EQ(account.counted(mark, 0, 2, 2, true, now), answer::count);
  EXPECT_EQ(account.counted(account.begin_count(now), 1, 2, 1, true, now), answer::granted);
}

TEST_F(room_for, what_was_not_used_is_credit_again) {
  EXPECT_EQ(count(0, 100, 50), answer::granted);
  account.done(50, 47);
  EXPECT_EQ(account.reserve(47, now), answer::granted);
}

TEST_F(room_for, a_full_queue_is_not_counted_again_for_eight_times_as_long) {
  EXPECT_EQ(count(5, 5, 1, 10ms), answer::full);
  now += 79ms;
  EXPECT_EQ(account.reserve(1, now), answer::full);
  now += 1ms;
  EXPECT_EQ(account.reserve(1, now), answer::count);
  EXPECT_EQ(count(5, 5, 1, 1h), answer::full);
  now += 500ms;
  EXPECT_EQ(account.reserve(1, now), answer::count) << "half a second is the longest";
}

TEST_F(room_for, less_than_what_was_refused_is_looked_for_at_once) {
  EXPECT_EQ(count(7, 10, 5, 10ms), answer::full);
  EXPECT_EQ(account.reserve(4, now), answer::full);
  EXPECT_EQ(account.reserve(3, now), answer::count);
}

TEST_F(room_for, what_has_left_makes_a_full_queue_worth_a_count) {
  EXPECT_EQ(count(5, 5, 1, 10ms), answer::full);
  account.freed();
  EXPECT_EQ(account.reserve(1, now), answer::count);
}

TEST_F(room_for, a_count_that_saw_the_past_is_for_its_caller_only) {
  EXPECT_EQ(count(0, 320, 1, 0ms, false), answer::granted);
  EXPECT_EQ(account.reserve(1, now), answer::count);
}

}  // namespace
