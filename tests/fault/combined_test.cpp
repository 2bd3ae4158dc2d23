#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <latch>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <tableq/testing.hpp>

#include "support/fixture.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::errc;
using tableq::testing::fault;
using tableq::testing::moment;
using tableq::testing::trouble;

constexpr std::size_t callers = 8;

/// The errors of several threads that called at the same time; empty for success.
template <class Work>
std::vector<std::optional<errc>> at_once(Work work) {
  std::vector<std::optional<errc>> out(callers);
  // Callers may share an exception, which is freed here: the thread sanitizer does not see its
  // reference count.
  std::vector<std::exception_ptr> failures(callers);
  std::latch together(callers);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < callers; ++i) {
    threads.emplace_back([&, i] {
      together.arrive_and_wait();
      try {
        work(i);
      } catch (const tableq::error& failure) {
        out[i] = failure.code();
        failures[i] = std::current_exception();
      }
    });
  }
  threads.clear();
  return out;
}

class faults_among_threads : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    combining_ = trouble_.open(here().quick_url(), {.retry_for = 0s});
    clean_ = tableq::database::open(here().quick_url());
  }
  void TearDown() override {
    combining_.reset();
    clean_.reset();
    on_each_backend::TearDown();
  }

  /// Calls `round(n, fault)` for each of the first calls, and each way in which it may fail.
  template <class Round>
  void each_fault(Round round) {
    for (const trouble what : {trouble::lost_connection, trouble::busy, trouble::deadlock}) {
      for (const moment when : {moment::before, moment::after}) {
        for (std::size_t n = 1; n <= 6; ++n) {
          trouble_.start_over();
          trouble_.fail(n, {what, when});
          round(fault{what, when});
        }
      }
    }
  }

  [[nodiscard]] bool lost_after() const {
    for (const auto& each : trouble_.history()) {
      if (each.failed && each.lasting) return each.failed->when == moment::after;
    }
    return false;
  }

  tableq::testing::faults trouble_;
  std::optional<tableq::database> combining_;
  std::optional<tableq::database> clean_;
};
TABLEQ_ON_BACKENDS(faults_among_threads, shared_backends);

TEST_P(faults_among_threads, tell_each_enqueue_whether_its_message_is_there) {
  auto mail = combining_->fifo("mail");
  auto seen = clean_->fifo("mail");
  each_fault([&](const fault& planned) {
    const auto told = at_once([&](std::size_t i) { mail.enqueue(std::to_string(i)); });
    trouble_.heal();
    std::multiset<std::string> stored;
    for (const auto& each : seen.dequeue_batch(100)) stored.insert(each.payload);
    for (std::size_t i = 0; i < callers; ++i) {
      const std::size_t count = stored.count(std::to_string(i));
      if (!told[i]) {
        EXPECT_EQ(count, 1U) << "acknowledged";
      } else if (told[i] == errc::outcome_unknown) {
        EXPECT_EQ(planned.what, trouble::lost_connection);
        EXPECT_EQ(count, lost_after() ? 1U : 0U);
      } else {
        EXPECT_EQ(count, 0U) << tableq::to_string(*told[i]);
      }
    }
    // Other units of work are not affected.
    EXPECT_LE(trouble_.failures(), 1U);
  });
}

TEST_P(faults_among_threads, give_no_message_to_two_readers) {
  auto mail = combining_->fifo("mail");
  auto seen = clean_->fifo("mail");
  const auto payloads = numbered(callers);
  each_fault([&](const fault& /*with*/) {
    std::vector<tableq::new_message> batch;
    for (const auto& each : payloads) batch.push_back({.payload = each});
    seen.enqueue_batch(batch);
    std::vector<std::string> got(callers);
    const auto told = at_once([&](std::size_t i) {
      if (const auto one = mail.dequeue()) got[i] = one->payload;
    });
    trouble_.heal();
    std::multiset<std::string> all;
    for (const auto& each : seen.dequeue_batch(100)) all.insert(each.payload);
    std::size_t unknown = 0;
    for (std::size_t i = 0; i < callers; ++i) {
      if (!told[i]) all.insert(got[i]);
      if (told[i] == errc::outcome_unknown) ++unknown;
    }
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << "read twice";
    // Only messages of calls with an unknown outcome may be gone.
    EXPECT_EQ(callers - all.size(), lost_after() ? unknown : 0U);
  });
}

TEST_P(faults_among_threads, settle_each_message_as_its_caller_is_told) {
  auto jobs = combining_->claim("jobs");
  auto seen = clean_->claim("jobs");
  each_fault([&](const fault& /*with*/) {
    for (std::size_t i = 0; i < callers; ++i) seen.enqueue(std::to_string(i));
    std::vector<tableq::receipt> receipts;
    for (const auto& each : seen.take(callers)) receipts.push_back(each.receipt);
    ASSERT_EQ(receipts.size(), callers);
    const auto told = at_once([&](std::size_t i) {
      EXPECT_EQ(jobs.complete(receipts[i]), tableq::settle_result::applied);
    });
    trouble_.heal();
    for (std::size_t i = 0; i < callers; ++i) {
      const bool there = seen.get(receipts[i].id).has_value();
      const bool gone = !told[i] || (told[i] == errc::outcome_unknown && lost_after());
      EXPECT_EQ(there, !gone);
    }
    // A settlement with an unknown outcome settles it.
    EXPECT_EQ(jobs.complete_batch(receipts).size(), callers);
    EXPECT_EQ(seen.stats().leased, 0U);
  });
}

}  // namespace
