#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <tableq/soci.hpp>
#include <tableq/testing.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class written_forms : public on_each_backend {};
TABLEQ_ON_BACKENDS(written_forms, all_backends);

TEST_P(written_forms, a_null_pointer_is_refused_before_anything_is_changed) {
  const char* const null = nullptr;
  auto mail = db().fifo("mail");
  auto later = db().pending("later");
  auto jobs = db().claim("jobs");
  jobs.enqueue("work");
  const auto taken = jobs.take_one();
  ASSERT_TRUE(taken);
  const auto refused = [](const std::string& operation, const std::function<void()>& call) {
    const tableq::error thrown = thrown_by(call);
    EXPECT_EQ(thrown.code(), tableq::errc::invalid_argument) << thrown.what();
    EXPECT_EQ(thrown.operation(), operation) << thrown.what();
  };
  refused("fifo.enqueue", [&] { mail.enqueue(null); });
  refused("pending.enqueue", [&] { later.enqueue(null); });
  refused("claim.enqueue", [&] { jobs.enqueue(null); });
  refused("claim.fail", [&] { static_cast<void>(jobs.fail(*taken, null)); });
  refused("claim.find", [&] { static_cast<void>(jobs.find(null)); });
  refused("open", [&] { static_cast<void>(db().heap(null)); });
  refused("find", [&] { static_cast<void>(db().find(null)); });
  refused("drop", [&] { db().drop(null); });
  refused("connect", [&] { static_cast<void>(tableq::database::open(null)); });
  EXPECT_EQ(mail.stats().waiting, 0U);
  EXPECT_EQ(later.stats().waiting, 0U);
  EXPECT_EQ(jobs.stats().leased, 1U);
}

TEST_P(written_forms, a_batch_may_be_written_in_braces) {
  auto mail = db().fifo("mail");
  auto later = db().pending("later");
  auto jobs = db().claim("jobs", {.max_attempts = 1});
  EXPECT_EQ(mail.enqueue_batch({{"a"}, {"b"}}).size(), 2U);
  EXPECT_EQ(later.enqueue_batch({{"a"}, {.payload = "b", .options = {.delay = 1s}}}).size(), 2U);
  const auto added = jobs.enqueue_batch({{"a"}, {"b"}, {"c"}});
  ASSERT_EQ(added.size(), 3U);
  const tableq::message_id a = added[0].id;
  const tableq::message_id b = added[1].id;
  EXPECT_TRUE(jobs.get_batch({a, b}).at(1));
  EXPECT_EQ(jobs.set_priority_batch({{b, 7}}).front(), tableq::change_result::applied);
  const auto taken = jobs.take(2);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(jobs.fail_batch({{taken[0].receipt, "no"}, {taken[1].receipt, "no"}}).size(), 2U);
  EXPECT_EQ(jobs.redrive({a, b}), 2U);
  EXPECT_EQ(jobs.cancel_batch({a, b}).size(), 2U);
  EXPECT_EQ(jobs.stats().ready, 1U);
  EXPECT_TRUE(mail.enqueue_batch({}).empty());
}

TEST_P(written_forms, a_claim_queue_takes_an_absolute_due_time) {
  auto jobs = db_with_clock().claim("jobs", {.groups = {.limit = 1}});
  const auto soon = clock.now() + 10s;
  jobs.enqueue("soon", {.due_at = soon});
  jobs.enqueue("past", {.due_at = clock.now() - 10s});
  jobs.enqueue_batch(
      {{"batch", {.due_at = soon + 10s}}, {"now"}, {"later", {.due_at = soon + 20s}}});
  EXPECT_EQ(payloads_of(jobs.take(9)), (std::vector<std::string>{"past", "now"}));
  EXPECT_EQ(jobs.list(tableq::message_state::delayed).at(0).due_at, soon);
  jobs.enqueue("moved", {.due_at = soon + 20s, .key = "k"});
  jobs.enqueue("moved again",
               {.due_at = soon + 5s, .key = "k", .on_duplicate = tableq::on_duplicate::postpone});
  clock.advance(10s);
  EXPECT_EQ(payloads_of(jobs.take(9)), std::vector<std::string>{"soon"});
  clock.advance(5s);
  EXPECT_EQ(payloads_of(jobs.take(9)), std::vector<std::string>{"moved again"});
  EXPECT_CODE(invalid_argument, jobs.enqueue("x", {.delay = 1s, .due_at = soon}));
  EXPECT_CODE(invalid_argument, jobs.enqueue("x", {.due_at = soon, .group = "g"}));
  EXPECT_CODE(invalid_argument, jobs.enqueue("x", {.due_at = tableq::timestamp(-1ms)}));
}

TEST_P(written_forms, an_error_names_the_call_and_then_the_step) {
  const tableq::testing::faults faults;
  open_with(faults);
  auto hurried = open({.retry_for = 0ms, .clock = clock.source()});
  auto jobs = hurried.claim("jobs");
  jobs.enqueue("due soon", {.delay = 1s});
  clock.advance(1s);
  faults.fail("claim.promote", {tableq::testing::trouble::busy});
  // In a thread that has left no transaction open: its errors say no more about that.
  const tableq::error failed = std::async(std::launch::async, [&] {
                                 return thrown_by([&] { static_cast<void>(jobs.take(1)); });
                               }).get();
  EXPECT_EQ(failed.operation(), "claim.take");
  EXPECT_TRUE(contains(failed.what(), "claim.take: claim.promote: ")) << failed.what();
}

TEST_P(written_forms, a_transaction_that_was_moved_from_is_refused) {
  auto mail = db().fifo("mail");
  tableq::transaction first = db().begin();
  tableq::transaction second = std::move(first);
  EXPECT_FALSE(first.active());  // NOLINT(bugprone-use-after-move): this is what is tested
  const tableq::error refused = thrown_by([&] { first.commit(); });
  EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
  EXPECT_EQ(refused.operation(), "commit") << refused.what();
  EXPECT_CODE(invalid_argument, first.rollback());
  EXPECT_CODE(invalid_argument, static_cast<void>(tableq::session_of(first)));
  EXPECT_CODE(invalid_argument, mail.in(first).enqueue("x"));
  mail.in(second).enqueue("stored");
  first = std::move(second);
  first.commit();
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(written_forms, handles_that_were_moved_from_stay_handles) {
  auto first = db().fifo("mail");
  auto second = std::move(first);
  first.enqueue("x");  // NOLINT(bugprone-use-after-move): this is what is tested
  EXPECT_EQ(second.stats().waiting, 1U);
  tableq::database all = db();
  const tableq::database other = std::move(all);
  EXPECT_EQ(all.find("mail").has_value(), other.find("mail").has_value());
}

TEST_P(written_forms, a_worker_that_was_moved_from_is_refused) {
  tableq::worker first(db().claim("jobs"), [](const tableq::delivery&) {});
  tableq::worker second = std::move(first);
  first.stop();  // NOLINT(bugprone-use-after-move): this is what is tested
  EXPECT_CODE(invalid_argument, first.join());
  EXPECT_CODE(invalid_argument, static_cast<void>(first.counts()));
  second.stop();
  second.join();
}

}  // namespace
