#include <gtest/gtest.h>

#include "support/backend.hpp"

namespace {

TEST(required_backends, are_all_in_this_run) {
  for (const std::string& name : tableq_test::required_in_vain()) {
    ADD_FAILURE() << name << " is required by TABLEQ_TEST_REQUIRE, but this run does not have it";
  }
}

}  // namespace
