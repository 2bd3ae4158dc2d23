#include "core/session/retry.hpp"

#include <gtest/gtest.h>

#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::advice;
using tableq::errc;
using tableq::error;
using tableq::core::contact;
using tableq::core::repeating;

/// The number of runs of a unit of work with this error, three at most.
int runs(errc code, advice may, std::chrono::milliseconds budget, contact so_far = contact::known) {
  int count = 0;
  try {
    repeating(budget, so_far, [&] {
      if (++count < 3) throw error(code, may, "failed");
    });
  } catch (const error& failure) {
    EXPECT_EQ(failure.code(), code);
  }
  return count;
}

TEST(repeating_work, does_nothing_twice_that_might_have_happened) {
  EXPECT_EQ(runs(errc::outcome_unknown, advice::never, 1min), 1);
  EXPECT_EQ(runs(errc::outcome_unknown, advice::session, 1min), 1);
  EXPECT_EQ(runs(errc::connection_lost, advice::never, 1min), 1);
}

TEST(repeating_work, goes_on_after_a_lost_server_only_if_it_was_there_before) {
  EXPECT_EQ(runs(errc::connection_failed, advice::session, 1min, contact::known), 3);
  EXPECT_EQ(runs(errc::connection_failed, advice::session, 1min, contact::first), 1);
  EXPECT_EQ(runs(errc::connection_failed, advice::never, 1min, contact::known), 1);
}

TEST(repeating_work, does_not_wait_again_for_a_session) {
  int count = 0;
  EXPECT_CODE(busy, repeating(1min, contact::known, [&] {
                ++count;
                throw tableq::core::no_free_session(errc::busy, advice::statement, "all in use");
              }));
  EXPECT_EQ(count, 1);
}

TEST(repeating_work, ends_with_the_budget) {
  int count = 0;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_CODE(busy, repeating(50ms, contact::known, [&] {
                ++count;
                throw error(errc::busy, advice::statement, "failed");
              }));
  EXPECT_GT(count, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST(repeating_work, passes_on_the_result_and_other_exceptions) {
  EXPECT_EQ(repeating(1min, contact::known, [] { return 7; }), 7);
  EXPECT_THROW(repeating(1min, contact::known, [] { throw std::runtime_error("mine"); }),
               std::runtime_error);
}

}  // namespace
