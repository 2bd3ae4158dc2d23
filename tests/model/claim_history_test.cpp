#include <gtest/gtest.h>

#include "model/claim_history.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

constexpr std::int64_t ms = 1'000'000;

/// One message, with times in milliseconds; each call takes one.
class one_message {
 public:
  one_message() { add({.what = claim_deed::put, .when = {0, ms}}); }

  one_message& take(std::int64_t fence, int attempt, std::int64_t at,
                    std::chrono::milliseconds lease = 100ms) {
    return add({.what = claim_deed::take,
                .fence = fence,
                .attempt = attempt,
                .lease = lease,
                .when = {at * ms, (at + 1) * ms}});
  }
  one_message& ask(claim_deed what, std::int64_t fence, std::int64_t at,
                   settle_result result = settle_result::applied) {
    return add({.what = what,
                .fence = fence,
                .lease = 100ms,
                .result = result,
                .when = {at * ms, (at + 1) * ms}});
  }
  [[nodiscard]] std::string verdict(bool complete = false) const {
    return check_claims(all_, complete).value_or("message 1: nothing").substr(11);
  }

 private:
  one_message& add(claim_event one) {
    one.id = {1};
    all_.push_back(one);
    return *this;
  }
  claim_history all_;
};

TEST(claims, that_keep_the_rules_are_accepted) {
  EXPECT_EQ(one_message()
                .take(1, 1, 10)
                .ask(claim_deed::fail, 1, 20)
                .take(2, 2, 30)
                .ask(claim_deed::release, 2, 40)
                .take(3, 2, 50)
                .ask(claim_deed::extend, 3, 100)
                .take(4, 3, 200)
                .ask(claim_deed::complete, 3, 210, settle_result::lease_lost)
                .ask(claim_deed::complete, 4, 220)
                .verdict(true),
            "nothing");
}

TEST(claims, of_one_message_may_not_be_two_at_once) {
  EXPECT_EQ(one_message().take(1, 1, 10).take(2, 2, 50).verdict(),
            "it was handed out within a lease");
  EXPECT_EQ(one_message().take(1, 1, 10).ask(claim_deed::extend, 1, 60).take(2, 2, 120).verdict(),
            "it was handed out within a lease");
  EXPECT_EQ(one_message().take(1, 1, 10).take(2, 2, 110).verdict(), "nothing");
}

TEST(claims, settle_no_more_after_a_later_take) {
  EXPECT_EQ(
      one_message().take(1, 1, 10, 5ms).take(2, 2, 50).ask(claim_deed::complete, 1, 60).verdict(),
      "a receipt settled after a later take");
}

TEST(claims, settle_once) {
  EXPECT_EQ(one_message()
                .take(1, 1, 10)
                .ask(claim_deed::release, 1, 20)
                .ask(claim_deed::complete, 1, 30)
                .verdict(),
            "a receipt settled twice");
  EXPECT_EQ(one_message()
                .take(1, 1, 10)
                .ask(claim_deed::release, 1, 20)
                .ask(claim_deed::extend, 1, 30)
                .verdict(),
            "a receipt settled twice");
}

TEST(claims, of_a_completed_message_do_not_come_again) {
  EXPECT_EQ(one_message().take(1, 1, 10).ask(claim_deed::complete, 1, 20).take(2, 2, 30).verdict(),
            "it was handed out and completed as well");
}

TEST(claims, count_each_attempt) {
  EXPECT_EQ(one_message().take(1, 1, 10, 5ms).take(2, 1, 50).verdict(),
            "a take told attempt 1 instead of 2");
}

TEST(claims, have_rising_fences) {
  EXPECT_EQ(one_message().take(7, 1, 10, 5ms).take(6, 2, 50).verdict(),
            "a take told attempt 2 instead of 1");
  EXPECT_EQ(one_message().take(7, 2, 10, 5ms).take(6, 1, 50).verdict(),
            "a fence was lower than one before it");
  EXPECT_EQ(one_message().take(7, 1, 10, 5ms).take(7, 2, 50).verdict(), "a fence came twice");
}

TEST(claims, are_settled_by_receipts_that_were_given) {
  EXPECT_EQ(one_message().ask(claim_deed::complete, 1, 20).verdict(),
            "a receipt settled that no take gave");
}

TEST(claims, are_not_refused_without_a_reason) {
  EXPECT_EQ(one_message()
                .take(1, 1, 10)
                .ask(claim_deed::complete, 1, 20, settle_result::lease_lost)
                .verdict(),
            "a settlement was refused without a reason");
}

TEST(claims, lose_no_message) {
  EXPECT_EQ(one_message().take(1, 1, 10).verdict(true), "it was put and never completed");
}

TEST(claims_of_a_group, come_one_after_the_other) {
  const auto event = [](std::int64_t id, claim_deed what, std::int64_t at) {
    return claim_event{.what = what, .id = {id}, .group = 1, .when = {at, at + 1}};
  };
  claim_history all = {event(1, claim_deed::put, 0), event(2, claim_deed::put, 2),
                       event(1, claim_deed::take, 4), event(1, claim_deed::complete, 10),
                       event(2, claim_deed::take, 12)};
  EXPECT_EQ(check_groups(all), std::nullopt);
  all.back().when = {6, 7};
  EXPECT_EQ(check_groups(all),
            "message 2 was handed out before message 1 of its group was completed");
  all[1].when = {0, 3};
  EXPECT_EQ(check_groups(all), std::nullopt) << "they were put at the same time";
}

TEST(claims, of_a_group_may_not_come_out_of_turn) {
  claim_history all = {{.what = claim_deed::put, .id = {1}, .group = 1, .when = {0, 1 * ms}},
                       {.what = claim_deed::put, .id = {2}, .group = 1, .when = {2 * ms, 3 * ms}},
                       {.what = claim_deed::put, .id = {3}, .group = 2, .when = {4 * ms, 5 * ms}},
                       {.what = claim_deed::take, .id = {1}, .when = {6 * ms, 7 * ms}},
                       {.what = claim_deed::complete, .id = {1}, .when = {8 * ms, 9 * ms}},
                       {.what = claim_deed::take, .id = {3}, .when = {10 * ms, 11 * ms}},
                       {.what = claim_deed::take, .id = {2}, .when = {12 * ms, 13 * ms}}};
  EXPECT_EQ(check_turns(all), std::nullopt);
  std::swap(all[5].id, all[6].id);
  EXPECT_EQ(check_turns(all), "message 3 was ready before message 2 and handed out after it");
  all[4].when = {6 * ms, 7 * ms};
  EXPECT_EQ(check_turns(all), std::nullopt) << "they were ready at the same time";
}

}  // namespace
