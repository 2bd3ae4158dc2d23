#include "model/walk.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

TEST(a_walk_that_fails, is_shrunk_to_the_steps_that_matter) {
  walk_steps steps(1000);
  std::iota(steps.begin(), steps.end(), 0U);
  const walk_steps matter = {17, 420, 421};
  int runs = 0;
  EXPECT_EQ(shrunk(steps,
                   [&](const walk_steps& some) {
                     ++runs;
                     return std::includes(some.begin(), some.end(), matter.begin(), matter.end());
                   }),
            matter);
  EXPECT_LT(runs, 200);
}

TEST(a_walk_that_fails, may_not_need_any_step) {
  EXPECT_EQ(shrunk({1, 2, 3}, [](const walk_steps&) { return true; }), walk_steps{});
}

TEST(a_walk_that_fails, says_what_failed_and_which_steps_repeat_it) {
  static int sum;  // EXPECT_NONFATAL_FAILURE sees no local variables.
  static const random_walk along = {.begin = [] { sum = 0; },
                                    .step =
                                        [](random_source& random) {
                                          sum += static_cast<int>(random.below(10));
                                          ASSERT_LT(sum, 100) << "too much";
                                        },
                                    .usual_steps = 1000};
  EXPECT_NONFATAL_FAILURE(walk(along), "TABLEQ_TEST_ONLY=");
  EXPECT_NONFATAL_FAILURE(walk(along), "too much");
}

}  // namespace
