#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "concurrency/mortal_workers.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class batches_of_processes : public mortal_workers {
 protected:
  static constexpr std::size_t members = 30;

  tableq::claim_queue jobs() {
    return db().claim("jobs", {.lease = 500ms,
                               .max_attempts = 1'000'000,
                               .retry = tableq::retry_delays::none(),
                               .batches = true});
  }
  /// Sealed batches, some of whose members are added one by one.
  std::vector<std::int64_t> fill(std::size_t count) {
    open_queue(db(), tableq::kind::claim, "ends");
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < count; ++i) {
      auto b = jobs().begin_batch({.then = tableq::batch_end{.queue = "ends"}});
      std::vector<tableq::new_claim_message> all;
      for (std::size_t n = 1; n < members; ++n) all.push_back({std::to_string(n), {.batch = b}});
      jobs().enqueue_batch(all);
      jobs().enqueue("last", {.batch = b});
      b.seal();
      out.push_back(b.id());
    }
    return out;
  }
  /// Each batch has ended once, with all its members completed.
  void check(const std::vector<std::int64_t>& batches) {
    auto ends = db().claim("ends");
    std::map<std::int64_t, int> seen;
    while (seen.size() < batches.size()) {
      auto end = ends.take_one({.wait = for_ever});
      ASSERT_TRUE(end) << "after " << seen.size();
      ++seen[std::stoll(end->headers.at("tableq-batch"))];
      EXPECT_EQ(end->headers.at("tableq-batch-total"), std::to_string(members));
      EXPECT_EQ(end->headers.at("tableq-batch-completed"), std::to_string(members));
      EXPECT_EQ(ends.complete(*end), tableq::settle_result::applied);
    }
    for (const std::int64_t id : batches) EXPECT_EQ(seen[id], 1) << id;
    EXPECT_TRUE(ends.take(1).empty());
    EXPECT_EQ(here().sql("SELECT count(*) FROM tableq_members").at(0).at(0), "0");
  }
};
TABLEQ_ON_BACKENDS(batches_of_processes, distinct_backends);

TEST_P(batches_of_processes, end_once_between_eight_processes) {
  const auto batches = fill(40);
  auto workers = start(8, false);
  let_go(workers);
  check(batches);
}

TEST_P(batches_of_processes, end_once_whoever_is_killed) {
  std::vector<std::int64_t> batches = fill(2);
  kill_one_by_one(start(3, true), 12, [&](actor& victim, random_source& random) {
    for (const std::int64_t id : fill(2)) batches.push_back(id);
    EXPECT_FALSE(victim.ends_within(std::chrono::microseconds(random.below(60'000))));
  });
  auto survivor = start(false);
  check(batches);
  survivor->let_go();
  EXPECT_EQ(survivor->wait(), 0);
}

}  // namespace
