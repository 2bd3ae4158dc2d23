#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>

#include <tableq/testing.hpp>

#include "fault/stage.hpp"
#include "support/at_once.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// A fault at each call of what changes batches.
class faults_of_batches : public on_each_backend {
 protected:
  struct players {
    tableq::claim_queue jobs;  ///< Its calls may fail.
    tableq::claim_queue right;
    tableq::batch batch;
    tableq::delivery taken;  ///< By `right`.
  };
  using act = std::function<void(players&)>;

  static tableq::claim_options rules() { return at_once({.max_attempts = 1, .batches = true}); }

  /// One of two messages of a sealed batch is leased. Then `work`, with the nth call failing.
  /// @return false: it has fewer calls.
  bool run(std::size_t nth, const tableq::testing::fault& planned, const act& work) {
    // A new object looks for batches at its first read.
    tableq::database fresh = open();
    auto right = fresh.claim("jobs", rules());
    auto ends = fresh.claim("ends", at_once());
    const tableq::testing::faults trouble;
    tableq::database wrong = trouble.open(here().quick_url(), {.retry_for = 0s});
    auto batch = right.begin_batch({.then = tableq::batch_end{.queue = "ends"}});
    right.enqueue("one", {.batch = batch});
    auto taken = right.take_one();
    players all{wrong.claim("jobs", rules()), right, batch, *std::move(taken)};
    batch.seal();
    trouble.start_over();
    trouble.fail(nth, planned);
    try {
      work(all);
    } catch (const tableq::error&) {  // Whether it had its effect is told by the counts.
    }
    const bool reached = trouble.calls() >= nth;
    trouble.heal();
    finish(batch, nth);
    auto end = ends.take(10);
    EXPECT_EQ(end.size(), 1U) << "call " << nth;
    const auto found = *batch.get();
    EXPECT_EQ(found.total, found.completed + found.dead + found.removed) << "call " << nth;
    EXPECT_EQ(right.stats().ready + right.stats().leased, 0U);
    for (const auto& each : end) {
      EXPECT_EQ(each.headers.at("tableq-batch-total"), std::to_string(found.total));
      (void)ends.complete(each);
    }
    right.purge(tableq::message_state::dead);
    EXPECT_EQ(here().sql("SELECT count(*) FROM tableq_members").at(0).at(0), "0");
    return reached;
  }

  /// A consumer does what is left.
  void finish(const tableq::batch& batch, std::size_t nth) {
    tableq::database other = open();
    auto queue = other.claim("jobs", rules());
    for (const auto& each : queue.take(10)) (void)queue.complete(each);
    EXPECT_TRUE(batch.get()->finished_at) << "call " << nth;
  }

  void at_each_call(const act& work) {
    std::size_t nth = 1;
    for (bool more = true; more && !HasFailure(); ++nth) {
      more = false;
      const auto all = all_faults();
      const bool each = std::getenv("TABLEQ_TEST_FAULTS") != nullptr;
      for (std::size_t i = 0; i < (each ? all.size() : 1); ++i) {
        more = run(nth, all[(nth + i) % all.size()], work) || more;
      }
    }
    EXPECT_GT(nth, 4U);
  }
};
TABLEQ_ON_BACKENDS(faults_of_batches, shared_backends);

TEST_P(faults_of_batches, leave_a_completion_that_ends_once) {
  at_each_call([](players& all) {
    try {
      (void)all.jobs.complete(all.taken);
    } catch (const tableq::error&) {
      (void)all.right.complete(all.taken);
      throw;
    }
  });
}

TEST_P(faults_of_batches, leave_a_death_that_ends_once) {
  at_each_call([](players& all) {
    try {
      (void)all.jobs.fail(all.taken, "no");
    } catch (const tableq::error&) {
      (void)all.right.fail(all.taken, "no");
      throw;
    }
  });
}

TEST_P(faults_of_batches, leave_an_addition_whole_or_not_at_all) {
  at_each_call([](players& all) {
    try {
      all.jobs.enqueue("sibling", {.batch = all.right.batch_of(all.taken)});
    } catch (const tableq::error&) {  // It is there, or not.
    }
    const auto found = *all.batch.get();
    EXPECT_EQ(found.total, 1 + all.right.stats().ready);
    EXPECT_EQ(found.outstanding, found.total);
    (void)all.right.complete(all.taken);
  });
}

TEST_P(faults_of_batches, leave_a_cancellation_that_ends_once) {
  at_each_call([](players& all) {
    all.right.enqueue("waits", {.batch = all.right.batch_of(all.taken)});
    try {
      (void)all.jobs.cancel(all.right.peek(1).front().id);
    } catch (const tableq::error&) {  // It is removed, or completed.
    }
    (void)all.right.complete(all.taken);
  });
}

}  // namespace
