#include <gtest/gtest.h>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using tableq::settle_result;

class claim_key : public claim_test {};
TABLEQ_ON_BACKENDS(claim_key, all_backends);

TEST_P(claim_key, is_unique_while_its_message_is_in_the_queue) {
  const auto first = jobs().enqueue("first", {.key = "k"});
  EXPECT_TRUE(first.created());
  EXPECT_GT(first.id.value, 0);
  const auto second = jobs().enqueue("second", {.key = "k"});
  EXPECT_FALSE(second.created());
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(jobs().stats().ready, 1U);

  const auto taken = take_one();
  EXPECT_EQ(taken.payload, "first");
  EXPECT_FALSE(jobs().enqueue("while leased", {.key = "k"}).created());
  EXPECT_EQ(jobs().complete(taken.receipt), settle_result::applied);

  const auto third = jobs().enqueue("third", {.key = "k"});
  EXPECT_TRUE(third.created());
  EXPECT_NE(third.id, first.id);
}

TEST_P(claim_key, compares_bytes) {
  for (const char* each : {"k", "K", "k ", " k", "\xC3\xA4", "a\xCC\x88", "k\t", "%", "_", "'"}) {
    EXPECT_TRUE(jobs().enqueue("x", {.key = each}).created()) << each;
  }
  for (const char* each : {"k", "K", "k ", " k", "\xC3\xA4", "a\xCC\x88", "k\t", "%", "_", "'"}) {
    EXPECT_FALSE(jobs().enqueue("x", {.key = each}).created()) << each;
  }
}

TEST_P(claim_key, may_have_200_bytes) {
  const std::string key(200, 'k');
  EXPECT_TRUE(jobs().enqueue("x", {.key = key}).created());
  EXPECT_EQ(take_one().key, key);
}

}  // namespace
