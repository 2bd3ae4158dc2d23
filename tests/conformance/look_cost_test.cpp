#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <thread>
#include <vector>

#include <tableq/testing.hpp>
#include <tableq/unstable/dialect.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// What takes cost that find little. The database's own clock decides here: with a clock that a
/// test sets each take asks for due messages.
class look_cost : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (!IsSkipped()) db_ = calls_.open(here().quick_url());
  }
  void TearDown() override {
    db_.reset();
    on_each_backend::TearDown();
  }
  [[nodiscard]] tableq::claim_queue jobs(const tableq::claim_options& options = {}) {
    return db_->claim("jobs", options);
  }
  /// How many statements of these names were sent.
  [[nodiscard]] std::size_t sent(const std::vector<std::string_view>& names) const {
    return static_cast<std::size_t>(std::ranges::count_if(calls_.history(), [&](const auto& each) {
      return std::ranges::find(names, each.name) != names.end();
    }));
  }
  [[nodiscard]] bool takes_look() const {
    return tableq::find_dialect(db_->backend()).capabilities.takes_look;
  }

  tableq::testing::faults calls_;
  std::optional<tableq::database> db_;
};
TABLEQ_ON_BACKENDS(look_cost, shared_backends);

const std::vector<std::string_view> all_reads = {"claim.take", "claim.look", "claim.next_due",
                                                 "claim.promote"};

TEST_P(look_cost, of_finding_nothing_is_one_statement_where_takes_look_and_two_elsewhere) {
  auto queue = jobs();
  static_cast<void>(queue.take(10));
  calls_.start_over();
  EXPECT_TRUE(queue.take(10).empty());
  EXPECT_EQ(sent(all_reads), takes_look() ? 1U : 2U);
  EXPECT_EQ(sent({"claim.promote"}), 0U);
}

TEST_P(look_cost, of_beginning_to_wait_is_nothing_more) {
  auto queue = jobs();
  queue.enqueue("later", {.delay = 1h});
  static_cast<void>(queue.take(10));
  calls_.start_over();
  EXPECT_TRUE(queue.take(10, {.wait = 1ms}).empty());
  // Before the wait, and once more at its end.
  EXPECT_LE(sent(all_reads), takes_look() ? 2U : 4U);
  EXPECT_EQ(sent({"claim.promote"}), 0U);
}

TEST_P(look_cost, of_a_worker_that_found_all_is_nothing_until_a_change) {
  constexpr std::size_t count = 50;
  auto queue = jobs();
  std::atomic<std::size_t> handled = 0;
  tableq::worker pool(queue, [&](const tableq::delivery& /*one*/) { ++handled; }, {.threads = 4});
  calls_.start_over();
  const auto began = std::chrono::steady_clock::now();
  for (std::size_t i = 1; i <= count; ++i) {
    queue.enqueue("x");
    while (handled < i) std::this_thread::yield();
  }
  pool.stop();
  pool.join();
  // Time alone brings polls: the first one 5 ms after a wait began.
  const auto polls = static_cast<std::size_t>((std::chrono::steady_clock::now() - began) / 5ms);
  EXPECT_LE(sent({"claim.take", "claim.look"}), count + count / 2 + polls);
  EXPECT_EQ(sent({"claim.promote"}), 0U);
}

TEST_P(look_cost, is_saved_for_a_while_where_ready_messages_wait_and_due_ones_still_come) {
  constexpr std::size_t many = 20'000;
  auto queue = jobs();
  const std::vector<tableq::new_claim_message> ready(1000, {.payload = "ready"});
  for (std::size_t i = 0; i < many; i += ready.size()) queue.enqueue_batch(ready);
  ASSERT_EQ(queue.take(1).at(0).payload, "ready");
  // A process knows of its own messages when they fall due.
  open().claim("jobs").enqueue("due", {.priority = 5, .delay = 1ms});
  std::size_t taken = 0;
  while (taken < many && queue.take(1).at(0).payload != "due") ++taken;
  EXPECT_LT(taken, many / 2);
}

TEST_P(look_cost, is_no_less_care_for_limits_that_another_process_sets) {
  if (!takes_look()) GTEST_SKIP() << "other looks ask for the limits first";
  auto queue = jobs();
  tableq::database elsewhere = open();
  calls_.start_over();
  std::atomic<bool> ended = false;
  std::vector<tableq::delivery> got;
  std::jthread reader([&] {
    got = queue.take(1, {.wait = for_ever});
    ended = true;
  });
  while (sent({"claim.look"}) == 0) std::this_thread::yield();
  elsewhere.claim("jobs").pause();
  const std::size_t before = sent({"limits.read"});
  elsewhere.claim("jobs").enqueue("x");
  while (!ended && sent({"limits.read"}) == before) std::this_thread::yield();
  EXPECT_EQ(elsewhere.claim("jobs").stats().ready, 1U) << "the look was refused";
  elsewhere.claim("jobs").resume();
  reader.join();
  EXPECT_EQ(got.size(), 1U);
}

}  // namespace
