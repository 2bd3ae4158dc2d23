#include <gtest/gtest.h>

#include <optional>
#include <ranges>
#include <stdexcept>

#include <string>
#include <utility>
#include <vector>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class scoped_deliveries : public claim_test {};
TABLEQ_ON_BACKENDS(scoped_deliveries, direct_backends);

TEST_P(scoped_deliveries, give_themselves_back) {
  jobs().enqueue("job");
  EXPECT_THROW(
      {
        const auto taken = jobs().take_scoped();
        EXPECT_EQ(taken.value()->payload, "job");
        EXPECT_EQ((**taken).attempt, 1);
        throw std::runtime_error("the work failed");
      },
      std::runtime_error);
  EXPECT_EQ(jobs().stats().ready, 1U);
  EXPECT_EQ(take_one().attempt, 1) << "the attempt is not counted";
  EXPECT_FALSE(jobs().take_scoped().has_value());
}

TEST_P(scoped_deliveries, are_settled_once) {
  for (int i = 0; i < 3; ++i) jobs().enqueue("job");
  EXPECT_EQ(jobs().take_scoped()->complete(), settle_result::applied);
  EXPECT_EQ(jobs().take_scoped()->fail("no", {.give_up = true}), settle_result::applied);
  {
    auto taken = jobs().take_scoped();
    EXPECT_EQ(taken->extend(1h), settle_result::applied);
    EXPECT_EQ(taken->release(), settle_result::applied);
    EXPECT_EQ(taken->complete(), settle_result::lease_lost);
  }
  EXPECT_EQ(jobs().stats().dead, 1U);
  EXPECT_EQ(jobs().stats().ready, 1U);
  EXPECT_EQ(jobs().stats().leased, 0U);
}

TEST_P(scoped_deliveries, leave_alone_what_another_has_taken) {
  jobs().enqueue("job");
  std::optional<tableq::delivery> others;
  {
    const auto taken = jobs().take_scoped({.lease = 1s});
    clock.advance(2s);
    others = take_one();
  }
  EXPECT_EQ(jobs().complete(*others), settle_result::applied);
}

TEST_P(scoped_deliveries, may_be_moved) {
  jobs().enqueue("1");
  jobs().enqueue("2");
  auto first = jobs().take_scoped();
  auto second = jobs().take_scoped();
  *second = std::move(*first);
  EXPECT_EQ(jobs().stats().ready, 1U) << "what it held before is released";
  EXPECT_CODE(invalid_argument, static_cast<void>(first->complete()));
  EXPECT_CODE(invalid_argument, static_cast<void>(**first));
  EXPECT_EQ((*second)->payload, "1");
  first.reset();
  EXPECT_EQ(second->complete(), settle_result::applied);
}

TEST_P(scoped_deliveries, of_a_transaction_end_with_it) {
  jobs().enqueue("job");
  {
    auto tx = db_with_clock().begin();
    auto taken = jobs().in(tx).take_scoped();
    tx.rollback();
    EXPECT_CODE(invalid_argument, static_cast<void>(taken->complete()));
  }
  EXPECT_EQ(jobs().stats().ready, 1U);
  {
    auto tx = db_with_clock().begin();
    EXPECT_EQ(jobs().in(tx).take_scoped()->complete(), settle_result::applied);
    tx.commit();
  }
  EXPECT_EQ(jobs().stats().ready + jobs().stats().leased, 0U);
}

TEST_P(scoped_deliveries, are_completed_in_a_transaction) {
  jobs().enqueue("job");
  auto taken = jobs().take_scoped();
  {
    auto tx = db_with_clock().begin();
    EXPECT_EQ(taken->complete(tx), settle_result::applied);
    taken.reset();
    tx.commit();
  }
  EXPECT_EQ(jobs().stats().ready + jobs().stats().leased, 0U);
}

class message_ranges : public claim_test {};
TABLEQ_ON_BACKENDS(message_ranges, direct_backends);

static_assert(std::ranges::input_range<tableq::message_range>);
static_assert(std::ranges::viewable_range<tableq::message_range>);

TEST_P(message_ranges, walk_over_all_messages_of_a_state_whatever_the_page) {
  std::vector<std::string> expected;
  for (int i = 0; i < 10; ++i) expected.push_back(std::to_string(i));
  for (const std::string& each : expected) jobs().enqueue(each);
  for (const std::size_t size : {1U, 3U, 5U, 10U, 100U}) {
    std::vector<std::string> got;
    for (const tableq::stored_message& each : jobs().list_all(tableq::message_state::ready, size)) {
      got.push_back(each.payload);
    }
    EXPECT_EQ(got, expected) << size;
  }
  const auto none = jobs().list_all(tableq::message_state::dead);
  EXPECT_TRUE(none.begin() == none.end());
}

TEST_P(message_ranges, begin_anew_and_outlive_their_handle) {
  auto all = db_with_clock().claim("jobs").list_all(tableq::message_state::ready, 1);
  EXPECT_EQ(std::ranges::distance(all), 0);
  jobs().enqueue("1");
  jobs().enqueue("2");
  EXPECT_EQ(std::ranges::distance(all), 2);
  EXPECT_EQ(all.begin()->payload, "1");
}

TEST_P(message_ranges, are_refused_where_lists_are) {
  EXPECT_CODE(invalid_argument,
              static_cast<void>(jobs().list_all(tableq::message_state::ready, 0)));
  EXPECT_CODE(invalid_argument,
              static_cast<void>(jobs().list_all(tableq::message_state::ready, 10'001)));
  auto tx = db_with_clock().begin();
  EXPECT_CODE(invalid_argument,
              static_cast<void>(jobs().in(tx).list_all(tableq::message_state::ready)));
}

}  // namespace
