#include "core/waking/poll_plan.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tableq::core::listening_state;
using tableq::core::notify_every;
using tableq::core::poll_plan;
using action = poll_plan::action;
using moment = poll_plan::moment;
using timing = poll_plan::timing;

constexpr listening_state deaf{};
constexpr listening_state told_of_all{.listening = true, .throttled = false, .longest = 5s};
constexpr listening_state throttled{.listening = true, .throttled = true, .longest = 5s};

class poll_plans : public testing::Test {
 protected:
  /// Lets this time pass. @return the times of the polls.
  std::vector<moment> looks_within(poll_plan& plan, const listening_state& state,
                                   std::chrono::milliseconds length) {
    std::vector<moment> out;
    const moment end = now_ + length;
    for (; now_ <= end; now_ = std::max(now_ + 1us, plan.next())) {
      for (action what = plan.at(now_, state); what != action::none; what = plan.at(now_, state)) {
        if (what == action::poll) out.push_back(now_);
        if (what == action::ask) ++questions_;
      }
    }
    now_ = end;
    return out;
  }
  void answer(poll_plan& plan, std::optional<std::chrono::milliseconds> delay) {
    ASSERT_TRUE(plan.take_question());
    plan.due_in(now_, delay);
  }

  moment now_{1h};
  int questions_ = 0;
};

TEST_F(poll_plans, without_notifications_poll_ever_less_often) {
  poll_plan plan(timing::none);
  plan.begin(now_, deaf);
  EXPECT_GE(looks_within(plan, deaf, 100ms).size(), 3U);
  static_cast<void>(looks_within(plan, deaf, 10s));
  const std::size_t later = looks_within(plan, deaf, 10s).size();
  EXPECT_GE(later, 20U);
  EXPECT_LE(later, 40U);
}

TEST_F(poll_plans, pause_between_frequent_notifications) {
  poll_plan plan(timing::none);
  plan.begin(now_, told_of_all);
  std::size_t looks = 0;
  for (int i = 0; i < 10'000; ++i) {
    plan.notified(now_);
    looks += looks_within(plan, told_of_all, 1ms).size();
  }
  EXPECT_LE(looks, 300U) << "at most one each 50 ms in 10 s";
  EXPECT_GE(looks, 150U);
}

TEST_F(poll_plans, poll_again_after_the_last_of_many_notifications) {
  poll_plan plan(timing::none);
  plan.begin(now_, told_of_all);
  for (int i = 0; i < 100; ++i) {
    plan.notified(now_);
    static_cast<void>(looks_within(plan, told_of_all, 1ms));
  }
  plan.notified(now_);
  EXPECT_GE(looks_within(plan, told_of_all, 50ms).size(), 1U);
}

TEST_F(poll_plans, poll_until_the_sender_would_notify_again) {
  for (int run = 0; run < 100; ++run) {  // The pauses are random.
    poll_plan plan(timing::none);
    plan.begin(now_, throttled);
    plan.notified(now_);
    const moment told = now_;
    const auto looks = looks_within(plan, throttled, 1000ms);
    ASSERT_FALSE(looks.empty());
    EXPECT_EQ(looks.front(), told);
    EXPECT_GE(looks.back(), told + notify_every) << "a message may have come at the last moment";
    EXPECT_LE(looks.size(), 12U);
  }
}

TEST_F(poll_plans, poll_once_if_the_sender_notifies_of_the_next_addition_too) {
  poll_plan plan(timing::none);
  plan.begin(now_, throttled);
  const moment told = now_;
  plan.notified(told, true, false);
  EXPECT_EQ(looks_within(plan, throttled, 1000ms), std::vector{told});
}

TEST_F(poll_plans, poll_instead_of_asking_shortly_before) {
  poll_plan plan(timing::leases);
  plan.begin(now_, told_of_all);
  std::size_t statements = 0;
  constexpr int seconds = 1000;
  for (const moment end = now_ + std::chrono::seconds(seconds); now_ < end;) {
    statements += looks_within(plan, told_of_all, 1ms).size();
    if (plan.take_question()) plan.due_in(now_, std::nullopt);
  }
  EXPECT_LE(statements + static_cast<std::size_t>(questions_), seconds + 2U);
}

TEST(notify_paces, rest_only_after_many_notifications) {
  using answer = tableq::core::notify_pace::answer;
  tableq::core::notify_pace pace;
  moment now{1h};
  for (int i = 0; i < 100; ++i, now += notify_every) EXPECT_EQ(pace.ask(now), answer::notify);
  int told = 0;
  for (moment until{}; told < 1000; now += 1ms) {
    const answer found = pace.ask(now);
    if (found == answer::none) {
      ASSERT_LT(now, until) << "readers poll no longer";
      continue;
    }
    ++told;
    until = found == answer::last ? now + notify_every : now;
  }
  EXPECT_GE(now - moment(1h) - 100 * notify_every, 990 * notify_every) << "four times a second";
  pace.failed();
  EXPECT_EQ(pace.ask(now), answer::notify);
}

TEST_F(poll_plans, poll_for_readers_that_come_after_a_notification) {
  poll_plan plan(timing::none);
  plan.notified(now_);
  const moment told = now_;
  static_cast<void>(plan.at(now_, throttled));
  now_ += 100ms;
  plan.begin(now_, throttled);
  EXPECT_GE(looks_within(plan, throttled, 1000ms).back(), told + notify_every);
}

TEST_F(poll_plans, ask_one_reader_only) {
  poll_plan plan(timing::announced);
  plan.begin(now_, told_of_all);
  EXPECT_TRUE(plan.take_question());
  EXPECT_FALSE(plan.take_question());
  plan.due_in(now_, std::nullopt);
  EXPECT_FALSE(plan.take_question());
  plan.due_changed(now_);
  EXPECT_TRUE(plan.take_question());
}

TEST_F(poll_plans, ask_again_after_a_change_during_the_answer) {
  poll_plan plan(timing::announced);
  plan.begin(now_, told_of_all);
  ASSERT_TRUE(plan.take_question());
  plan.due_changed(now_);
  plan.due_in(now_, std::nullopt);
  EXPECT_TRUE(plan.take_question());
}

TEST_F(poll_plans, look_again_after_a_change_during_the_answer) {
  poll_plan plan(timing::leases);
  plan.begin(now_, told_of_all);
  ASSERT_TRUE(plan.take_question());
  plan.due_changed(now_);
  EXPECT_FALSE(plan.take_question()) << "by a watch, which hears of polls alone";
  plan.due_in(now_, 30s);
  EXPECT_FALSE(looks_within(plan, told_of_all, 5ms).empty());
}

TEST_F(poll_plans, keep_a_due_time_beside_a_later_reason_to_look) {
  poll_plan plan(timing::leases);
  plan.begin(now_, told_of_all);
  answer(plan, 200ms);
  plan.due_in(now_, 4s);
  const moment due = now_ + 200ms;
  EXPECT_EQ(looks_within(plan, told_of_all, 300ms), std::vector{due});
}

TEST_F(poll_plans, ask_each_second_where_leases_may_end) {
  poll_plan leases(timing::leases);
  poll_plan announced(timing::announced);
  for (poll_plan* plan : {&leases, &announced}) {
    plan->begin(now_, told_of_all);
    answer(*plan, std::nullopt);
    questions_ = 0;
    static_cast<void>(looks_within(*plan, told_of_all, 1100ms));
    EXPECT_EQ(questions_, plan == &leases ? 1 : 0);
  }
}

TEST_F(poll_plans, do_not_ask_all_the_time_for_a_due_message_that_others_hold) {
  poll_plan plan(timing::announced);
  plan.begin(now_, told_of_all);
  std::size_t looks = 0;
  const moment end = now_ + 10s;
  while (now_ < end) {
    if (plan.take_question()) plan.due_in(now_, 0ms);
    looks += looks_within(plan, told_of_all, 1ms).size();
  }
  EXPECT_LE(looks, 60U);
  EXPECT_GE(looks, 15U);
}

}  // namespace
