#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Calls `work(i)` in this number of threads, which begin together.
void at_once(int count, const std::function<void(int)>& work) {
  latch together(count);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      together.arrive_and_wait();
      work(i);
    });
  }
}

constexpr int callers = 16;

class combined_calls_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(combined_calls_of_kind, shared_backends);

TEST_P(combined_calls_of_kind, keep_their_own_results_and_errors) {
  auto patient = open({.retry_for = 5min});
  any_queue mail(patient, kind(), "mail");
  here().forbid_equal_payloads("mail");
  std::atomic<int> refused{0};
  std::vector<tableq::message_id> ids(callers);
  at_once(callers, [&](int i) {
    const auto place = static_cast<std::size_t>(i);
    if (i % 2 == 0) {
      ids[place] = mail.put("mine " + std::to_string(i));
      return;
    }
    try {
      ids[place] = mail.put("the same");
    } catch (const tableq::error& failure) {
      EXPECT_EQ(failure.code(), tableq::errc::constraint_violated);
      ++refused;
    }
  });
  EXPECT_EQ(refused, callers / 2 - 1);
  std::set<std::string> stored;
  for (const item& each : mail.take_up_to(100)) {
    EXPECT_TRUE(stored.insert(each.payload).second);
    if (each.payload.starts_with("mine")) {
      const std::string number = each.payload.substr(each.payload.find_last_of(' ') + 1);
      EXPECT_EQ(each.id, ids[std::stoul(number)]);
    }
  }
  EXPECT_EQ(stored.size(), static_cast<std::size_t>(callers / 2 + 1));
}

TEST_P(combined_calls_of_kind, get_no_more_messages_than_each_asked_for) {
  auto patient = open({.retry_for = 5min});
  any_queue mail(patient, kind(), "mail");
  mail.put_all(numbered(200));
  std::atomic<std::size_t> taken{0};
  at_once(callers, [&](int i) {
    const auto most = static_cast<std::size_t>(i) + 1;
    const auto got = mail.take_up_to(most);
    EXPECT_EQ(got.size(), most);
    taken += got.size();
  });
  EXPECT_EQ(mail.take_up_to(200).size(), 200 - taken);
}

class combined_calls : public on_each_backend {};
TABLEQ_ON_BACKENDS(combined_calls, all_backends);

TEST_P(combined_calls, are_leased_as_each_asked) {
  auto patient = open({.retry_for = 5min, .clock = clock.source()});
  auto jobs = patient.claim("jobs");
  const auto payloads = numbered(callers);
  for (const auto& each : payloads) jobs.enqueue(each);
  at_once(callers, [&](int i) {
    const auto lease = i % 2 == 0 ? 10s : 1h;
    for (const auto& one : jobs.take(1, {.lease = lease})) {
      EXPECT_EQ(one.lease_until, clock.now() + lease);
    }
  });
}

TEST_P(combined_calls, may_extend_one_lease_together) {
  auto patient = open({.retry_for = 5min});
  auto jobs = patient.claim("jobs");
  jobs.enqueue("a");
  const auto mine = jobs.take(1).front().receipt;
  at_once(callers,
          [&](int /*i*/) { EXPECT_EQ(jobs.extend(mine, 1h), tableq::settle_result::applied); });
}

TEST_P(combined_calls, may_complete_one_message_of_which_one_does) {
  auto patient = open({.retry_for = 5min});
  auto jobs = patient.claim("jobs");
  jobs.enqueue("a");
  const auto mine = jobs.take(1).front().receipt;
  std::atomic<int> done{0};
  at_once(callers,
          [&](int /*i*/) { done += jobs.complete(mine) == tableq::settle_result::applied; });
  EXPECT_EQ(done, 1);
}

TEST_P(combined_calls, with_one_key_add_one_message) {
  auto patient = open({.retry_for = 5min});
  auto jobs = patient.claim("jobs");
  std::atomic<int> added{0};
  at_once(callers, [&](int i) {
    if (i % 2 != 0) {
      jobs.enqueue("b");
    } else if (jobs.enqueue("a", {.key = "k"}).created()) {
      ++added;
    }
  });
  EXPECT_EQ(added, 1);
  EXPECT_EQ(jobs.stats().ready, static_cast<std::size_t>(callers / 2 + 1));
}

TEST_P(combined_calls, never_hold_up_a_thread_that_others_wait_for) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto patient = open({.retry_for = 5min});
  auto jobs = patient.claim("jobs").outside();
  tableq::transaction mine = patient.begin();
  jobs.in(mine).enqueue("a", {.key = "k"});
  std::vector<std::jthread> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back([&] { EXPECT_FALSE(jobs.enqueue("a", {.key = "k"}).created()); });
  }
  // They wait for `mine`; this thread waits for none of them.
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(jobs.enqueue("b", {.key = std::to_string(i)}).created());
  }
  mine.commit();
}

}  // namespace
