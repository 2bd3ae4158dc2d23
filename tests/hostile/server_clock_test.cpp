#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include <tableq/tableq.hpp>

#include "crash/own_postgresql.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// The promise is a second; another one is for a loaded machine.
constexpr auto soon = 2s;

/// A server whose clock is set while queues are in use. True: through ODBC.
class server_clock : public testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() { server_.emplace(own_postgresql::with_clock{TABLEQ_WRONG_CLOCK}); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (server_->missing()) GTEST_SKIP() << *server_->missing();
    server_->set_clock(0s);
    server_->begin_database();
    db_.emplace(tableq::database::open(GetParam() ? server_->odbc_url() : server_->url()));
  }
  void TearDown() override { db_.reset(); }

  static own_postgresql& server() { return *server_; }
  tableq::database& db() { return *db_; }

  /// Reads enough for a read floor.
  static void work_for_a_while(tableq::claim_queue& jobs) {
    const auto until = steady_clock::now() + 300ms;
    for (int i = 0; i < 40 || steady_clock::now() < until; ++i) {
      static_cast<void>(jobs.enqueue("x"));
      for (const auto& one : jobs.take(10)) static_cast<void>(jobs.complete(one.receipt));
    }
  }
  /// The delay of a message for a waiting read.
  template <class Add>
  static steady_clock::duration lateness(tableq::claim_queue& jobs, Add add) {
    constexpr auto delay = 300ms;
    const auto due = steady_clock::now() + delay;
    add(delay);
    const auto got = jobs.take(1, {.wait = 60s});
    const auto late = steady_clock::now() - due;
    EXPECT_EQ(got.size(), 1U);
    for (const auto& one : got) static_cast<void>(jobs.complete(one.receipt));
    return late;
  }

 private:
  static std::optional<own_postgresql> server_;
  std::optional<tableq::database> db_;
};
std::optional<own_postgresql> server_clock::server_;

TEST_P(server_clock, set_back_makes_no_later_message_late) {
  for (const auto back : {10s, 3600s, 86400s}) {
    SCOPED_TRACE(back.count());
    server().set_clock(0s);
    auto jobs = db().claim("jobs" + std::to_string(back.count()), {.lease = 1h});
    work_for_a_while(jobs);
    server().set_clock(-back);
    const auto enqueue = [&](std::chrono::milliseconds delay) {
      static_cast<void>(jobs.enqueue("delayed", {.delay = delay}));
    };
    EXPECT_LT(lateness(jobs, enqueue), soon);
    // Also later leases.
    const auto lease = [&](std::chrono::milliseconds length) {
      static_cast<void>(jobs.enqueue("leased"));
      EXPECT_EQ(jobs.take(1, {.lease = length}).size(), 1U);
    };
    EXPECT_LT(lateness(jobs, lease), soon);
    EXPECT_LT(lateness(jobs, enqueue), soon);
  }
}

TEST_P(server_clock, set_forward_ends_a_lease_and_the_fence_decides) {
  auto jobs = db().claim("jobs", {.lease = 1h});
  static_cast<void>(jobs.enqueue("x"));
  const auto first = jobs.take(1);
  ASSERT_EQ(first.size(), 1U);
  server().set_clock(7200s);
  const auto second = jobs.take(1, {.wait = 60s});
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].receipt.id, first[0].receipt.id);
  EXPECT_EQ(jobs.complete(first[0].receipt), tableq::settle_result::lease_lost);
  EXPECT_EQ(jobs.complete(second[0].receipt), tableq::settle_result::applied);
}

TEST_P(server_clock, set_back_lets_a_rate_go_on) {
  auto mail = db().fifo("mail");
  for (int i = 0; i < 20; ++i) mail.enqueue("x");
  mail.set_limits({.rate = 10.0, .burst = 1});
  EXPECT_TRUE(mail.dequeue({.wait = 60s}));
  for (const auto back : {30s, 3600s}) {
    SCOPED_TRACE(back.count());
    server().set_clock(-back);
    const auto begin = steady_clock::now();
    EXPECT_TRUE(mail.dequeue({.wait = 60s}));
    EXPECT_LT(steady_clock::now() - begin, soon);
  }
}

TEST_P(server_clock, is_set_indeed) {
  const auto time = [] {
    return std::stoll(*server().sql("SELECT extract(epoch FROM now())::bigint").at(0).at(0));
  };
  const auto before = time();
  server().set_clock(-3600s);
  EXPECT_LT(time(), before - 3000);
}

#if defined(TABLEQ_WITH_ODBC)
const auto ways = testing::Values(false, true);
#else
const auto ways = testing::Values(false);
#endif
std::string way(const testing::TestParamInfo<bool>& of) {
  return of.param ? "postgresql_odbc" : "postgresql";
}
INSTANTIATE_TEST_SUITE_P(, server_clock, ways, way);

}  // namespace
