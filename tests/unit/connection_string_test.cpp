#include "core/input/connection_string.hpp"

#include <gtest/gtest.h>

#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::core::parse_connection_string;
using tableq::core::parse_duration;
using tableq::core::shown;

TEST(connection_strings, are_decoded_once) {
  EXPECT_EQ(parse_connection_string("x://%2525").rest, "%25");
  EXPECT_EQ(parse_connection_string("x://a%2fb%2FC").rest, "a/b/C");
  EXPECT_EQ(parse_connection_string("x://?k=a%3Db%26c").settings.at("k"), "a=b&c");
}

TEST(connection_strings, keep_equals_signs_in_values) {
  EXPECT_EQ(parse_connection_string("x://?k=a=b").settings.at("k"), "a=b");
  EXPECT_EQ(parse_connection_string("x://?k=").settings.at("k"), "");
}

TEST(connection_strings, without_a_scheme_are_refused_without_being_quoted) {
  for (const std::string& bad :
       {std::string("canary"), std::string("://canary"), std::string("x:/canary"), std::string(),
        std::string("x://can\0ary", 10)}) {
    const tableq::error refused =
        tableq_test::thrown_by([&] { static_cast<void>(parse_connection_string(bad)); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << bad;
    EXPECT_FALSE(tableq_test::contains(refused.what(), "canary")) << refused.what();
  }
}

TEST(connection_strings, of_another_form_are_left_to_the_dialect_with_what_is_wrong) {
  for (const char* bad :
       {"x://canary%", "x://canary%4", "x://canary%zz", "x://canary%00", "x://canary%+1",
        "x://?canary", "x://?=canary", "x://?a=1&&b=canary", "x://?a=1&a=canary", "x://?a=%zz"}) {
    const auto url = parse_connection_string(bad);
    EXPECT_FALSE(url.problem.empty()) << bad;
    EXPECT_FALSE(tableq_test::contains(url.problem, "canary")) << url.problem;
    EXPECT_EQ(url.raw, bad);
  }
  EXPECT_EQ(parse_connection_string("x://a?b=c").problem, "");
}

TEST(durations, are_read_with_their_unit) {
  EXPECT_EQ(parse_duration("k", "250ms", 0ms, 24h), 250ms);
  EXPECT_EQ(parse_duration("k", "5s", 0ms, 24h), 5s);
  EXPECT_EQ(parse_duration("k", "2m", 0ms, 24h), 2min);
  EXPECT_EQ(parse_duration("k", "24h", 0ms, 24h), 24h);
  EXPECT_EQ(parse_duration("k", "1d", 0ms, 24h), 24h);
  EXPECT_EQ(parse_duration("k", "0s", 0ms, 24h), 0ms);
}

TEST(durations, out_of_form_or_range_are_refused_with_their_key) {
  for (const char* bad : {"", "5", "s", "5 s", " 5s", "5S", "5sec", "-1s", "1.5s", "25h", "2d",
                          "9ms", "99999999999999999999s", "9223372036854775807d", "5s5s", "0x5s"}) {
    const tableq::error refused = tableq_test::thrown_by(
        [&] { static_cast<void>(parse_duration("patience", bad, 10ms, 24h)); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << bad;
    EXPECT_TRUE(tableq_test::contains(refused.what(), "patience")) << refused.what();
    EXPECT_TRUE(
        tableq_test::contains(refused.what(), "with its unit (ms, s, m, h or d), from 10ms to 1d"))
        << refused.what();
  }
}

TEST(shown_keys, are_short_and_hold_no_odd_characters) {
  EXPECT_EQ(shown("busy_timeout"), "`busy_timeout`");
  EXPECT_EQ(shown("a\nb;c'd"), "`a?b?c?d`");
  EXPECT_LE(shown(std::string(1000, 'x')).size(), 45U);
}

}  // namespace
