#include <gtest/gtest.h>

#include "conformance/claim_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Time to live, and rules that a message has for itself.
class claim_rules : public claim_test {};
TABLEQ_ON_BACKENDS(claim_rules, all_backends);

TEST_P(claim_rules, many_expired_messages_hide_none_that_is_alive) {
  std::vector<tableq::new_claim_message> batch(
      50, {.payload = "late", .options = {.priority = 5, .time_to_live = 1s}});
  batch.push_back({.payload = "alive"});
  jobs().enqueue_batch(batch);
  clock.advance(1s);
  EXPECT_EQ(take_one().payload, "alive");
  EXPECT_EQ(jobs().stats().dead, 50U);
}

TEST_P(claim_rules, a_queue_has_a_time_to_live_for_messages_that_name_none) {
  auto news = db_with_clock().claim("news", {.time_to_live = 5s});
  news.enqueue("a");
  news.enqueue("b", {.time_to_live = tableq::lifetime::forever()});
  auto again = db_with_clock().claim("news");
  again.enqueue("c");
  clock.advance(5s);
  EXPECT_EQ(take_one(again).payload, "b");
  EXPECT_TRUE(again.take(1).empty());
}

TEST_P(claim_rules, that_are_wrong_are_refused_and_nothing_is_stored) {
  const auto refused = [&](const tableq::claim_enqueue_options& options) {
    EXPECT_CODE(invalid_argument, jobs().enqueue("x", options));
  };
  refused({.time_to_live = -1ms});
  refused({.time_to_live = 24h * 3651});
  refused({.max_attempts = 0});
  refused({.retry = tableq::retry_delays{.after = {-1ms}}});
  refused({.on_duplicate = tableq::on_duplicate::replace});
  refused({.group = "g"});
  EXPECT_CODE(invalid_argument, (void)db_with_clock().claim("bad", {.time_to_live = -1ms}));
  EXPECT_EQ(jobs().stats().ready, 0U);
}

}  // namespace
