#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Nothing here waits that long.
constexpr auto longest = 60s;

/// How many messages each completion had.
class completions final : public tableq::observer {
 public:
  void after(const tableq::observed_operation& operation,
             const tableq::operation_result& result) override {
    if (operation.name != "claim.complete") return;
    const std::scoped_lock hold(mutex_);
    all_.push_back(result.messages);
  }
  [[nodiscard]] std::vector<std::size_t> all() const {
    const std::scoped_lock hold(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::size_t> all_;
};

class lingering_workers : public on_each_backend {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs"); }
};
TABLEQ_ON_BACKENDS(lingering_workers, distinct_backends);

TEST_P(lingering_workers, settle_together_what_handlers_have_finished_one_by_one) {
  const auto seen = std::make_shared<completions>();
  tableq::database db = open({.observer = seen});
  tableq::claim_queue queue = db.claim("jobs");
  latch handled(3);
  std::atomic<std::size_t> reported = 0;
  tableq::worker worker(queue, [&](const tableq::delivery&) { handled.count_down(); },
                        {.threads = 4, .linger = longest, .observe = [&](const auto& event) {
                           if (event.what == tableq::worker_event::kind::completed) ++reported;
                         }});
  for (const std::string& each : numbered(3)) queue.enqueue(each);
  handled.wait();
  while (worker.counts().running > 0) std::this_thread::yield();
  EXPECT_EQ(reported, 0U) << "reports follow the commit";
  worker.stop();
  worker.join();
  EXPECT_EQ(reported, 3U);
  EXPECT_EQ(seen->all(), std::vector<std::size_t>{3});
  EXPECT_EQ(queue.stats().leased, 0U);
}

TEST_P(lingering_workers, settle_when_no_room_is_left) {
  for (const std::string& each : numbered(10)) jobs().enqueue(each);
  latch all(10);
  tableq::worker worker(jobs(), [&](const tableq::delivery&) { all.count_down(); },
                        {.threads = 1, .prefetch = 0, .linger = longest});
  all.wait();
  worker.stop();
  worker.join();
  EXPECT_EQ(worker.counts().completed, 10U);
}

TEST_P(lingering_workers, settle_when_their_time_is_over) {
  jobs().enqueue("one");
  tableq::worker worker(jobs(), [](const tableq::delivery&) {},
                        {.threads = 4, .linger = 1ms, .until_empty = true});
  worker.join();
  EXPECT_EQ(worker.counts().completed, 1U);
}

TEST_P(lingering_workers, refuse_times_out_of_range) {
  const auto nothing = [](const tableq::delivery&) {};
  EXPECT_CODE(invalid_argument, tableq::worker(jobs(), nothing, {.linger = -1ms}));
  EXPECT_CODE(invalid_argument, tableq::worker(jobs(), nothing, {.linger = 60'001ms}));
}

}  // namespace
