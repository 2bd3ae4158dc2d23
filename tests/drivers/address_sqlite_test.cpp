#include <gtest/gtest.h>

#include <tableq/tableq.hpp>

#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

TEST(addresses_in_memory, with_a_slash_before_are_refused) {
  for (const char* url : {"sqlite:///:memory:", "sqlite://some/:memory:", "sqlite:///:memory:?x=1",
                          "sqlite3://dbname=/:memory:"}) {
    const tableq::error refused =
        thrown_by([&] { static_cast<void>(tableq::database::open(url)); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    EXPECT_TRUE(contains(refused.what(), "sqlite://:memory:")) << refused.what();
  }
}

}  // namespace
