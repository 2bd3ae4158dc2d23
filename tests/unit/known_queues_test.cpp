#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "core/database/access.hpp"
#include "core/database/database_state.hpp"
#include "core/input/identifier.hpp"

namespace {

namespace core = tableq::core;

constexpr std::size_t enough = 300;  // more than stay without a user

std::shared_ptr<core::shared_queue> queue_of(core::database_state& state, std::int64_t identity) {
  return state.shared(core::names_for({}, "mail", identity), core::poll_plan::timing::none);
}

#ifdef TABLEQ_WITH_SQLITE
TEST(known_queues, do_not_grow_with_those_that_are_dropped_and_made_anew) {
  auto db = tableq::database::open("sqlite://:memory:");
  core::database_state& state = core::access::state_of(db);
  for (std::size_t i = 0; i < enough + 100; ++i) {
    auto jobs = db.claim("jobs" + std::to_string(i % 7));
    jobs.enqueue("work");
    auto tx = db.begin();
    EXPECT_EQ(jobs.in(tx).take(1).size(), 1U);
    tx.commit();
    EXPECT_TRUE(db.drop(jobs.name()));
    ASSERT_LE(state.known_queues(), enough);
  }
}

TEST(known_queues, of_handles_in_use_stay_the_same) {
  auto db = tableq::database::open("sqlite://:memory:");
  core::database_state& state = core::access::state_of(db);
  std::vector<std::shared_ptr<core::shared_queue>> used;
  for (std::size_t i = 1; i <= 2 * enough; ++i) {
    used.push_back(queue_of(state, static_cast<std::int64_t>(i)));
  }
  for (std::size_t i = 1; i <= 5 * enough; ++i) {
    const auto found = queue_of(state, static_cast<std::int64_t>(i));
    if (i <= used.size()) {
      EXPECT_EQ(found, used[i - 1]);
    }
  }
  EXPECT_LE(state.known_queues(), 4 * enough);
  EXPECT_GE(state.known_queues(), used.size());
  used.clear();
  for (std::size_t i = 1; i <= 5 * enough; ++i) queue_of(state, -static_cast<std::int64_t>(i));
  EXPECT_LE(state.known_queues(), 4 * enough);
}

TEST(known_queues, without_a_handle_are_kept_for_the_next_one) {
  auto db = tableq::database::open("sqlite://:memory:");
  core::database_state& state = core::access::state_of(db);
  const std::weak_ptr<core::shared_queue> first = queue_of(state, 1);
  EXPECT_EQ(queue_of(state, 1), first.lock());
}
#endif

}  // namespace
