#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class actions_by_filter : public on_each_backend {
 protected:
  /// Consumers complete, fail and bury messages; managers cancel some, and bring the others back.
  void play(const tableq::claim_options& options) {
    constexpr std::size_t messages = 1200;
    auto jobs = db().claim("jobs", options);
    std::vector<tableq::new_claim_message> all;
    for (std::size_t i = 0; i < messages; ++i) {
      tableq::new_claim_message one{.payload = std::to_string(i)};
      one.options.headers = {{"part", std::to_string(i % 4)}};
      if (options.groups.enabled) one.options.group = std::to_string(i % 30);
      all.push_back(std::move(one));
    }
    jobs.enqueue_batch(all);
    std::atomic<std::size_t> ended = 0;
    const auto until = std::chrono::steady_clock::now() + for_ever;
    const auto goes_on = [&] {
      return ended < messages && std::chrono::steady_clock::now() < until;
    };
    std::mutex mutex;
    std::map<std::string, int> completed;
    std::size_t cancelled = 0;
    const auto consume = [&](int number) {
      tableq::database own = open();
      auto from = own.claim("jobs");
      for (int turn = number; goes_on(); ++turn) {
        for (const tableq::delivery& each : from.take(5)) {
          const int verdict = (turn + static_cast<int>(each.receipt.id.value)) % 4;
          if (verdict == 0) {
            EXPECT_EQ(from.fail(each.receipt, "later", {.delay = 1h}), settle_result::applied);
          } else if (verdict == 1) {
            EXPECT_EQ(from.fail(each.receipt, "dead", {.give_up = true}), settle_result::applied);
          } else {
            EXPECT_EQ(from.complete(each.receipt), settle_result::applied);
            const std::scoped_lock hold(mutex);
            ++completed[each.payload];
            ++ended;
          }
        }
      }
    };
    const auto manage = [&] {
      tableq::database own = open();
      auto from = own.claim("jobs");
      while (goes_on()) {
        from.make_ready({.all = true}, {.batch = 50});
        from.redrive({.error = "dead"}, {.batch = 50});
        from.set_priority({.header = tableq::header_value{"part", "1"}}, 3);
        const auto gone = from.cancel({.header = tableq::header_value{"part", "3"}}, {.batch = 20});
        const std::scoped_lock hold(mutex);
        cancelled += gone.count;
        ended += gone.count;
      }
    };
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i) threads.emplace_back(consume, i);
      for (int i = 0; i < 2; ++i) threads.emplace_back(manage);
    }
    EXPECT_EQ(completed.size() + cancelled, messages);
    for (const auto& [payload, times] : completed) EXPECT_EQ(times, 1) << payload;
    EXPECT_EQ(jobs.cancel({.all = true}).count, 0U);
  }
};
TABLEQ_ON_BACKENDS(actions_by_filter, distinct_backends);

TEST_P(actions_by_filter, beside_consumers_end_every_message_once) {
  play({.max_attempts = 10'000, .retry = tableq::retry_delays::none()});
}

TEST_P(actions_by_filter, beside_consumers_of_groups_end_every_message_once) {
  play({.max_attempts = 10'000,
        .retry = tableq::retry_delays::none(),
        .groups = tableq::group_options{.on_failure = tableq::group_policy::pass}});
}

}  // namespace
