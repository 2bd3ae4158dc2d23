#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "support/fixture.hpp"

namespace {

/// The allocations until the one that fails, of all threads but those that are spared.
std::atomic<long> until_failure = 0;
thread_local bool spared = false;

void* allocated(std::size_t size) {
  if (until_failure > 0 && !spared && until_failure.fetch_sub(1) == 1) throw std::bad_alloc();
  void* const made = std::malloc(std::max<std::size_t>(size, 1));
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

}  // namespace

void* operator new(std::size_t size) {
  return allocated(size);
}
// A sanitizer has one of its own, which would not be freed by the next function.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return allocated(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* made) noexcept {
  std::free(made);
}
void operator delete(void* made, std::size_t /*size*/) noexcept {
  std::free(made);
}

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// While one lives, the allocations of its thread succeed.
class spare {
 public:
  spare() : before_(std::exchange(spared, true)) {}
  spare(const spare&) = delete;
  spare& operator=(const spare&) = delete;
  ~spare() { spared = before_; }

 private:
  bool before_;
};

class a_failed_allocation : public on_each_backend {
 protected:
  /// Calls `work(place)` with one failure at each of many places, until there are no more.
  template <class Work>
  void at_each_place(Work work) {
    const spare this_thread;
    const long step = std::getenv("TABLEQ_TEST_FAULTS") == nullptr ? 23 : 1;
    long place = 1;
    bool failed = true;
    for (; failed && !HasFatalFailure(); place += step) {
      until_failure = place;
      work(place);
      failed = until_failure.exchange(0) <= 0;
    }
    EXPECT_GT(place, step + 1) << "the threads allocate";
  }
};
TABLEQ_ON_BACKENDS(a_failed_allocation, shared_backends);

TEST_P(a_failed_allocation, in_a_thread_of_a_worker_ends_no_worker) {
  auto jobs = db().claim("jobs", {.lease = 200ms, .max_attempts = 100});
  at_each_place([&](long place) {
    const std::vector<tableq::new_claim_message> batch(5, {"x"});
    jobs.enqueue_batch(batch);
    std::atomic<std::size_t> handled = 0;
    {
      tableq::worker pool(jobs,
                          [&](const tableq::delivery& message) {
                            const spare handler;
                            ++handled;
                            return message.attempt % 2 == 0
                                       ? tableq::handled::completed()
                                       : tableq::handled::retry_after("not yet", 0ms);
                          },
                          {.threads = 2, .until_empty = true});
      ASSERT_TRUE(pool.wait_for(for_ever)) << place;
      EXPECT_NO_THROW(pool.join()) << place;
    }
    EXPECT_GE(handled, batch.size()) << place;
    const auto left = jobs.stats();
    EXPECT_EQ(left.ready + left.delayed + left.leased + left.dead, 0U) << place;
  });
}

TEST_P(a_failed_allocation, leaves_no_asynchronous_enqueue_without_an_answer) {
  at_each_place([&](long place) {
    auto mail = db().fifo("mail");
    std::vector<std::future<tableq::message_id>> all;
    all.reserve(50);
    for (int i = 0; i < 50; ++i) all.push_back(mail.enqueue_async(std::string(100, 'x')));
    for (auto& each : all) {
      ASSERT_EQ(each.wait_for(for_ever), std::future_status::ready) << place;
      try {
        static_cast<void>(each.get());
      } catch (const tableq::error& failure) {
        EXPECT_EQ(failure.code(), tableq::errc::outcome_unknown) << failure.what();
      }
    }
  });
}

}  // namespace
