#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class connections : public on_each_backend {};
TABLEQ_ON_BACKENDS(connections, distinct_backends);

TEST_P(connections, in_great_number_lose_nothing_and_share_the_messages) {
  // With one writer at a time the others wait in a line, which is slow.
  const int count = can().concurrent_writers ? 200 : 40;
  auto wide = open({.max_sessions = static_cast<std::size_t>(count),
                    .session_timeout = 2min,
                    .retry_for = 2min});
  auto jobs = wide.claim("jobs");
  jobs.enqueue("first");
  std::latch all_have_one(can().concurrent_writers ? count : 1);
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        tableq::transaction tx = wide.begin();
        static_cast<void>(jobs.in(tx).enqueue("m" + std::to_string(i)));
        // If writers do not wait for each other, all sessions are open at the same time.
        if (can().concurrent_writers) all_have_one.arrive_and_wait();
        tx.commit();
        const auto taken = jobs.take(1, {.wait = 2min});
        if (taken.size() == 1 && jobs.complete(taken[0].receipt) == tableq::settle_result::applied)
          ++done;
      });
    }
  }
  EXPECT_EQ(done, count);
  const auto left = jobs.stats();
  EXPECT_EQ(left.ready + left.leased, 1U);
}

TEST_P(connections, that_a_role_may_not_have_are_waited_for) {
  const auto schema = here().other_schema();
  const auto user = schema ? here().new_user() : std::nullopt;
  if (!user || !here().limit_sessions(user->name, 3)) {
    GTEST_SKIP() << "this database, or this user, limits no sessions";
  }
  auto own = open({.schema_name = *schema});
  open_queue(own, tableq::kind::fifo, "mail");
  here().sql(tableq::grants(own.backend(), tableq::role::producer, user->name, "mail", {},
                            {.schema_name = *schema}));
  auto crowded = tableq::database::open(user->url, {.schema = tableq::schema_policy::verify_only,
                                                    .schema_name = *schema,
                                                    .retry_for = 2min,
                                                    .shortcuts = {.combining = false}});
  auto mail = crowded.fifo("mail");
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 12; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 5; ++n) EXPECT_NO_THROW(mail.enqueue("x"));
      });
    }
  }
  EXPECT_EQ(own.fifo("mail").stats().waiting, 60U);
}

}  // namespace
