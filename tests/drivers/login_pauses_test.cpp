#include "drivers/transport/login_pauses.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using tableq::advice;
using tableq::errc;
using tableq::error;
using tableq::drivers::login_pauses;

const error login_refused(errc::connection_failed, advice::session, "no",
                          {.backend = "b", .operation = "connect", .sqlstate = "28P01"});
const error login_refused_for_good(errc::connection_failed, advice::never, "no",
                                   {.backend = "b", .operation = "connect", .native = 18456});
const error server_unreachable(errc::connection_failed, advice::session, "no",
                               {.backend = "b", .operation = "connect", .sqlstate = "08006"});

constexpr login_pauses::moment first_moment{1h};

/// How many logins callers try that come every 10 ms for that long.
int logins_tried(login_pauses& pauses, const error& failure, std::chrono::seconds length) {
  int out = 0;
  for (auto now = first_moment; now < first_moment + length; now += 10ms) {
    if (pauses.begin(now)) continue;
    ++out;
    pauses.ended(now, &failure);
  }
  return out;
}

TEST(pauses_of_logins, make_refused_ones_rare_whatever_the_number_of_callers) {
  for (const error& each : {login_refused, login_refused_for_good}) {
    login_pauses pauses;
    const int in_ten_minutes = logins_tried(pauses, each, 10min);
    // A few in growing pauses, then one in 15 to 30 s.
    EXPECT_GE(in_ten_minutes, 10 * 60 / 30);
    EXPECT_LE(in_ten_minutes, 8 + 10 * 60 / 15);
  }
}

TEST(pauses_of_logins, hold_up_nobody_after_other_failures) {
  login_pauses pauses;
  EXPECT_EQ(logins_tried(pauses, server_unreachable, 1s), 100);
}

TEST(pauses_of_logins, give_callers_the_refusal_and_let_one_of_them_try_afterwards) {
  login_pauses pauses;
  EXPECT_FALSE(pauses.begin(first_moment));
  EXPECT_FALSE(pauses.begin(first_moment)) << "nobody knows yet";
  pauses.ended(first_moment, &login_refused);
  pauses.ended(first_moment, &login_refused);
  EXPECT_EQ(pauses.begin(first_moment + 400ms).value().sqlstate(), "28P01");
  EXPECT_FALSE(pauses.begin(first_moment + 1s)) << "two refusals at once are one pause";
  EXPECT_TRUE(pauses.begin(first_moment + 1s)) << "another caller tries";
  pauses.ended(first_moment + 1s, nullptr);
  EXPECT_FALSE(pauses.begin(first_moment + 1s));
  EXPECT_FALSE(pauses.begin(first_moment + 1s));
}

}  // namespace
