#include "core/input/validate.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using tableq::timestamp;
using namespace tableq::core;  // NOLINT(google-build-using-namespace): what is tested
using tableq_test::contains;
using tableq_test::thrown_by;

constexpr milliseconds forever{std::numeric_limits<std::int64_t>::max()};
constexpr milliseconds before_time{std::numeric_limits<std::int64_t>::min()};

TEST(arguments, for_batches_are_from_1_to_10000) {
  EXPECT_NO_THROW(check_batch_size(1));
  EXPECT_NO_THROW(check_batch_size(10'000));
  EXPECT_CODE(invalid_argument, check_batch_size(0));
  EXPECT_CODE(invalid_argument, check_batch_size(10'001));
  EXPECT_CODE(invalid_argument, check_batch_size(4001, 4000));
}

TEST(arguments, for_leases_are_from_1_ms_to_a_year) {
  EXPECT_NO_THROW(check_lease(1ms));
  EXPECT_NO_THROW(check_lease(24h * 365));
  for (const milliseconds bad : {milliseconds(0), milliseconds(-1), forever, before_time}) {
    EXPECT_CODE(invalid_argument, check_lease(bad)) << bad.count();
  }
}

TEST(arguments, for_delays_are_from_0_to_ten_years) {
  EXPECT_NO_THROW(check_delay(0ms));
  EXPECT_NO_THROW(check_delay(24h * 3650));
  for (const milliseconds bad :
       {milliseconds(-1), milliseconds(24h * 3650 + 1ms), forever, before_time}) {
    EXPECT_CODE(invalid_argument, check_delay(bad)) << bad.count();
  }
}

TEST(arguments, for_times_are_from_1970_to_9999) {
  EXPECT_NO_THROW(check_timestamp({}, "due_at"));
  EXPECT_NO_THROW(check_timestamp(timestamp(0ms), "due_at"));
  EXPECT_CODE(invalid_argument, check_timestamp(timestamp(-1ms), "due_at"));
  EXPECT_CODE(invalid_argument, check_timestamp(timestamp(forever), "due_at"));
}

TEST(arguments, for_attempts_are_from_1_to_a_million) {
  EXPECT_NO_THROW(check_max_attempts(1));
  EXPECT_NO_THROW(check_max_attempts(1'000'000));
  EXPECT_CODE(invalid_argument, check_max_attempts(0));
  EXPECT_CODE(invalid_argument, check_max_attempts(1'000'001));
}

TEST(arguments, for_waiting_are_refused_in_a_transaction) {
  EXPECT_NO_THROW(check_wait(5s, false));
  EXPECT_NO_THROW(check_wait(0s, true));
  EXPECT_CODE(invalid_argument, check_wait(5s, true));
  EXPECT_CODE(invalid_argument, check_wait(-1s, false));
}

TEST(arguments, for_payloads_are_held_against_the_limit) {
  EXPECT_NO_THROW(check_payload("abc", {3, 3}));
  EXPECT_CODE(too_large, check_payload("abcd", {3, 3}));
  EXPECT_FALSE(contains(thrown_by([] { check_payload("abcd", {3, 3}); }).what(), "raise"));
  EXPECT_TRUE(contains(thrown_by([] {
                         check_payload("abcd", {3, 4});
                       }).what(),
                       "raise open_options::max_payload"));
}

TEST(arguments, for_keys_are_1_to_200_bytes_of_utf8) {
  EXPECT_NO_THROW(check_message(tableq::claim_enqueue_options{.key = std::string(200, 'k')}, true));
  for (const std::string& bad :
       {std::string(), std::string(201, 'k'), std::string("a\0b", 3), std::string("\xFF")}) {
    EXPECT_CODE(invalid_argument, check_message(tableq::claim_enqueue_options{.key = bad}, true));
  }
}

TEST(arguments, for_headers_are_utf8_and_bounded) {
  const auto check = [](const tableq::headers& given) {
    check_message(tableq::claim_enqueue_options{.headers = given}, true);
  };
  EXPECT_NO_THROW(check({{std::string(100, 'n'), std::string(60'000, 'v')}}));
  EXPECT_CODE(invalid_argument, check({{"", "v"}}));
  EXPECT_CODE(invalid_argument, check({{std::string(101, 'n'), "v"}}));
  EXPECT_CODE(invalid_argument, check({{"n", "\xFF"}}));
  EXPECT_CODE(invalid_argument, check({{"n", std::string(65'537, 'v')}}));
  EXPECT_CODE(invalid_argument, check({{"n", std::string(30'000, '\x01')}}));
}

TEST(arguments, for_due_times_are_one_of_two) {
  EXPECT_NO_THROW(check_message(tableq::pending_options{.delay = 1s}));
  EXPECT_NO_THROW(check_message(tableq::pending_options{.due_at = timestamp(5ms)}));
  EXPECT_CODE(invalid_argument,
              check_message(tableq::pending_options{.delay = 1s, .due_at = timestamp(5ms)}));
}

}  // namespace
