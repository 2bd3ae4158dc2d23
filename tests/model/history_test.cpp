#include <gtest/gtest.h>

#include "model/history.hpp"
#include "support/report.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

operation put(std::int64_t value, std::int64_t call, std::int64_t back) {
  return {.what = deed::put, .values = {value}, .when = {call, back}};
}
operation got(std::vector<std::int64_t> values, std::int64_t call, std::int64_t back) {
  return {.what = deed::got, .values = std::move(values), .when = {call, back}};
}
operation undone(std::int64_t value, std::int64_t call, std::int64_t back) {
  return {.what = deed::undone, .values = {value}, .when = {call, back}};
}

TEST(history, in_order_is_accepted) {
  const history all = {put(1, 0, 10), put(2, 20, 30), got({1, 2}, 40, 50), got({}, 60, 70)};
  EXPECT_EQ(check_fifo(all), std::nullopt);
  EXPECT_EQ(check_by_search(all, sequence::fifo), std::nullopt);
  EXPECT_NE(check_by_search(all, sequence::lifo), std::nullopt);
  EXPECT_EQ(check_conservation(all, true), std::nullopt);
}

TEST(history, of_calls_that_meet_is_accepted_in_either_order) {
  const history all = {put(1, 0, 10), put(2, 5, 30), got({2}, 40, 50), got({1}, 45, 60)};
  EXPECT_EQ(check_fifo(all), std::nullopt);
}

TEST(history, with_a_message_that_nobody_put_is_refused) {
  EXPECT_NE(check_fifo({got({1}, 0, 1)}), std::nullopt);
  EXPECT_NE(check_conservation({got({1}, 0, 1)}, false), std::nullopt);
}

TEST(history, with_a_message_read_before_it_was_put_is_refused) {
  EXPECT_NE(check_conservation({put(1, 10, 20), got({1}, 0, 9)}, true), std::nullopt);
}

TEST(history, with_a_message_read_twice_is_refused) {
  EXPECT_NE(check_conservation({put(1, 0, 1), got({1}, 2, 3), got({1}, 2, 4)}, true), std::nullopt);
}

TEST(history, with_a_lost_message_is_refused) {
  EXPECT_NE(check_conservation({put(1, 0, 1), got({}, 2, 3)}, true), std::nullopt);
  EXPECT_NE(check_fifo({put(1, 0, 1), put(2, 2, 3), got({2}, 4, 5)}), std::nullopt);
}

TEST(history, with_relaxed_order_tells_who_was_passed_over_and_why) {
  history all = {put(1, 0, 1), put(2, 2, 3), got({2}, 10, 20), got({1}, 30, 40)};
  const overtaking without_reason = measure_overtaking(all, sequence::fifo);
  EXPECT_EQ(without_reason.messages, 1U);
  EXPECT_EQ(without_reason.most, 1U);
  EXPECT_EQ(without_reason.unexplained, 1U);
  all.push_back(undone(1, 5, 12));
  EXPECT_EQ(measure_overtaking(all, sequence::fifo).unexplained, 0U);
  EXPECT_EQ(measure_overtaking(all, sequence::lifo).messages, 0U);
}

/// Actors with sequential calls, on a queue that is correct except for some of its results.
history drawn(random_source& random, sequence as) {
  history all;
  std::vector<std::int64_t> content;
  std::vector<std::int64_t> free(3, 0);
  std::int64_t time = 0;
  for (std::int64_t i = 1; i <= 9; ++i) {
    // Each call takes effect at `time`, and its actor waits a while before and after.
    time += 10;
    const std::size_t actor = random.below(3);
    operation one{.when = {}, .actor = static_cast<int>(actor)};
    one.when.call = std::max(free[actor] + 1, time - static_cast<std::int64_t>(random.below(40)));
    one.when.back = std::max(one.when.call, time) + static_cast<std::int64_t>(random.below(40));
    free[actor] = one.when.back + 1;
    if (random.one_in(2)) {
      one.values = {i};
      content.push_back(i);
    } else {
      one.what = deed::got;
      if (!content.empty() && !random.one_in(12)) {
        auto at = as == sequence::fifo ? content.begin() : content.end() - 1;
        if (random.one_in(6)) {
          at = content.begin() + static_cast<std::ptrdiff_t>(random.below(content.size()));
        }
        one.values = {*at};
        if (!random.one_in(30)) content.erase(at);
      }
    }
    all.push_back(one);
  }
  return all;
}

TEST(history, of_any_kind_is_judged_by_the_conditions_as_by_trying_all_orders) {
  random_source random(told_seed());
  std::size_t refused = 0;
  constexpr std::size_t histories = 5'000;
  for (std::size_t i = 0; i < histories; ++i) {
    const history all = drawn(random, sequence::fifo);
    const bool wrong = check_fifo(all).has_value();
    ASSERT_EQ(wrong, check_by_search(all, sequence::fifo).has_value()) << printed(all);
    if (wrong) ++refused;
  }
  // Both answers are common, so that both are compared.
  EXPECT_GT(refused, histories / 10);
  EXPECT_LT(refused, histories * 9 / 10);
}

TEST(history, of_a_stack_is_judged_by_trying_all_orders) {
  EXPECT_EQ(
      check_by_search({put(1, 0, 1), put(2, 2, 3), got({2}, 4, 5), got({1}, 6, 7)}, sequence::lifo),
      std::nullopt);
  EXPECT_EQ(check_by_search({put(1, 0, 9), put(2, 2, 3), got({1}, 10, 15), got({2}, 16, 17)},
                            sequence::lifo),
            std::nullopt);
  EXPECT_NE(
      check_by_search({put(1, 0, 1), put(2, 2, 3), got({1}, 4, 5), got({2}, 6, 7)}, sequence::lifo),
      std::nullopt);
  EXPECT_NE(check_by_search({put(1, 0, 1), got({}, 2, 3), got({1}, 4, 5)}, sequence::lifo),
            std::nullopt);
}

}  // namespace
