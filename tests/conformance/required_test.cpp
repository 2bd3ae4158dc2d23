#include <gtest/gtest.h>

#include "support/backend.hpp"
#include "support/fixture.hpp"

namespace {

TEST(required_backends, are_all_in_this_run) {
  for (const std::string& name : tableq_test::required_in_vain()) {
    ADD_FAILURE() << name << " is required by TABLEQ_TEST_REQUIRE, but this run does not have it";
  }
}

class backends_of_this_build : public testing::TestWithParam<const tableq_test::backend*> {};
TABLEQ_ON_BACKENDS(backends_of_this_build, built_backends);

TEST_P(backends_of_this_build, are_in_this_run_or_counted_as_absent) {
  const tableq_test::backend& each = *GetParam();
  if (const auto reason = each.missing()) GTEST_SKIP() << each.name() << " is absent: " << *reason;
}

}  // namespace
