// Messages whose settlement the database refuses for now.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "conformance/table_fixture.hpp"
#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/report.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using kind = tableq::worker_event::kind;

/// Counts the failures of one operation.
class failures_of : public tableq::observer {
 public:
  explicit failures_of(std::string name) : name_(std::move(name)) {}
  void after(const tableq::observed_operation& operation,
             const tableq::operation_result& result) override {
    if (operation.name == name_ && result.failed) ++count;
  }
  std::atomic<int> count = 0;

 private:
  const std::string name_;
};

/// From then on a trigger refuses the change of these rows with an error of that SQLSTATE.
/// @return false: triggers of this database cannot.
bool refuse_with(place& where, const std::string& state, const std::string& change,
                 const std::string& condition, const std::string& table = "jobs") {
  const std::string name = "refuses_" + change;
  return where.takes("CREATE FUNCTION " + name +
                     "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused' "
                     "USING ERRCODE = '" +
                     state + "'; END $$") &&
         where.takes("CREATE TRIGGER " + name + " BEFORE " + change + " ON " + table +
                     " FOR EACH ROW WHEN (" + condition + ") EXECUTE FUNCTION " + name + "()");
}

void accept_again(place& where, const std::string& change) {
  where.sql("DROP FUNCTION refuses_" + change + "() CASCADE");
}

class messages_put_aside : public on_each_backend {
 protected:
  static constexpr auto* no_states = "triggers of this database raise no error of its own";
  /// Short, so that few seconds show whose the refusal is.
  static constexpr auto patience = 400ms;

  tableq::claim_queue jobs(const tableq::claim_options& options = {.max_attempts = 1}) {
    if (!own_) own_ = open({.retry_for = patience, .observer = failed_});
    return own_->claim("jobs", at_once(options));
  }
  void TearDown() override {
    own_.reset();
    on_each_backend::TearDown();
  }
  [[nodiscard]] std::string is(const std::string& payload) {
    return "OLD.payload = " + here().bytes_literal(payload);
  }
  static void enqueue(tableq::claim_queue queue, const std::string& payload, std::size_t count) {
    const std::vector<tableq::new_claim_message> batch(count, {.payload = payload});
    queue.enqueue_batch(batch);
  }
  /// Adds good messages until that is so.
  static void feed(tableq::claim_queue queue, tableq::worker& pool,
                   const std::function<bool()>& until) {
    const auto end = std::chrono::steady_clock::now() + for_ever;
    while (!until() && std::chrono::steady_clock::now() < end) {
      queue.enqueue("good", {.priority = 1});
      ASSERT_FALSE(pool.wait_for(10ms));
    }
    EXPECT_TRUE(until());
  }
  /// Each good message was completed, or waits because no worker took it before it stopped.
  static void expect_good(tableq::claim_queue queue, std::size_t bad, std::size_t completed) {
    const auto ready = queue.peek(100);
    for (const auto& each : ready) EXPECT_EQ(each.payload, "good");
    const auto all = static_cast<std::size_t>(queue.stats().last_id.value().value);
    EXPECT_EQ(completed + ready.size(), all - bad);
  }
  /// Until that is so, or the time ends.
  static bool becomes(tableq::worker& pool, const std::function<bool()>& so) {
    const auto end = std::chrono::steady_clock::now() + for_ever;
    while (!so() && std::chrono::steady_clock::now() < end && !pool.wait_for(10ms)) {
    }
    return so();
  }

  std::shared_ptr<failures_of> failed_ = std::make_shared<failures_of>("claim.complete");

 private:
  std::optional<tableq::database> own_;
};
TABLEQ_ON_BACKENDS(messages_put_aside, distinct_backends);

TEST_P(messages_put_aside, whose_group_is_locked_hold_up_no_other_and_end_as_they_were_handled) {
  if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
  auto queue = jobs({.max_attempts = 1, .groups = tableq::group_options()});
  queue.enqueue("a1", {.group = "a"});
  queue.enqueue("a2", {.group = "a"});
  auto tx = db().begin();
  db().claim("jobs").in(tx).enqueue("a3", {.group = "a"});
  tableq::worker pool(queue, [](const tableq::delivery& one) {
    return one.payload == "a2" ? tableq::handled::failed("as it wanted")
                               : tableq::handled::completed();
  });
  EXPECT_TRUE(becomes(pool, [&] { return pool.counts().put_aside == 1; }));
  std::size_t others = 0;
  const auto end = std::chrono::steady_clock::now() + 3 * patience;
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    queue.enqueue("b", {.group = "b"});
    ++others;
    EXPECT_TRUE(becomes(pool, [&] { return pool.counts().completed == others; }));
  }
  EXPECT_EQ(pool.counts().put_aside, 1U);
  tx.commit();
  EXPECT_TRUE(becomes(
      pool, [&] { return pool.counts().completed == others + 2 && pool.counts().failed == 1; }));
  pool.stop();
  pool.join();
  const auto dead = queue.list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].errors.at(0).error, "as it wanted");
  EXPECT_EQ(queue.stats().ready, 0U);
}

TEST_P(messages_put_aside, whose_groups_are_all_locked_are_handled_once_and_bounded) {
  if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
  constexpr std::size_t many = 400;
  auto queue = jobs({.groups = tableq::group_options()});
  std::vector<tableq::new_claim_message> batch;
  for (std::size_t i = 0; i < many; ++i)
    batch.push_back({.payload = "x", .options = {.group = std::to_string(i)}});
  queue.enqueue_batch(batch);
  auto tx = db().begin();
  db().claim("jobs").in(tx).enqueue_batch(batch);
  std::atomic<std::size_t> handled = 0;
  tableq::worker pool(queue, [&](const tableq::delivery&) { ++handled; }, {.threads = 2});
  EXPECT_TRUE(becomes(pool, [&] { return pool.counts().put_aside >= 100; }));
  const auto end = std::chrono::steady_clock::now() + 2 * patience;
  EXPECT_TRUE(becomes(pool, [&] { return std::chrono::steady_clock::now() >= end; }));
  EXPECT_LT(pool.counts().put_aside, many / 2);
  tx.commit();
  EXPECT_TRUE(becomes(pool, [&] { return pool.counts().completed == 2 * many; }));
  EXPECT_EQ(handled, 2 * many);
  EXPECT_EQ(pool.counts().given_back, 0U);
}

TEST_P(messages_put_aside, hold_up_no_other_and_fail_when_others_succeed) {
  constexpr std::size_t bad = 8;
  for (const char* state : {"57014", "55P03", "40001", "53100", "25006"}) {
    auto queue = jobs();
    enqueue(queue, "bad", bad);
    enqueue(queue, "good", 20);
    if (!refuse_with(here(), state, "DELETE", is("bad"))) GTEST_SKIP() << no_states;
    std::mutex mutex;
    std::vector<tableq::message_id> named;
    tableq::worker pool(queue, [](const tableq::delivery&) {},
                        {.threads = 2, .observe = [&](const tableq::worker_event& event) {
                           if (event.what != kind::failed) return;
                           const std::scoped_lock hold(mutex);
                           named.push_back(event.id);
                         }});
    EXPECT_TRUE(becomes(pool, [&] { return pool.counts().completed >= 20; })) << state;
    feed(queue, pool, [&] { return pool.counts().failed == bad; });
    pool.stop();
    ASSERT_TRUE(pool.wait_for(for_ever));
    EXPECT_NO_THROW(pool.join());
    const auto dead = queue.list(tableq::message_state::dead);
    ASSERT_EQ(dead.size(), bad) << state;
    EXPECT_EQ(named.size(), bad);
    for (const auto& each : dead) {
      EXPECT_EQ(each.payload, "bad");
      EXPECT_TRUE(contains(each.errors.at(0).error, "claim.complete")) << each.errors[0].error;
      EXPECT_EQ(std::ranges::count(named, each.id), 1);
    }
    EXPECT_EQ(pool.counts().unknown + pool.counts().lease_lost, 0U) << state;
    accept_again(here(), "DELETE");
    db().drop("jobs");
  }
}

TEST_P(messages_put_aside, fail_alone_where_their_leases_can_be_extended) {
  for (const char* state : {"57014", "55P03", "40001"}) {
    auto queue = jobs();
    queue.enqueue("bad");
    if (!refuse_with(here(), state, "DELETE", is("bad"))) GTEST_SKIP() << no_states;
    tableq::worker pool(queue, [](const tableq::delivery&) {}, {.until_empty = true});
    ASSERT_TRUE(pool.wait_for(for_ever)) << state;
    EXPECT_EQ(pool.counts().failed, 1U) << state;
    EXPECT_EQ(queue.stats().dead, 1U);
    accept_again(here(), "DELETE");
    db().drop("jobs");
  }
}

TEST_P(messages_put_aside, wait_alone_for_room) {
  for (const char* state : {"53100", "25006"}) {
    auto queue = jobs();
    queue.enqueue("bad");
    if (!refuse_with(here(), state, "DELETE", is("bad"))) GTEST_SKIP() << no_states;
    failed_->count = 0;
    tableq::worker pool(queue, [](const tableq::delivery&) {}, {.lease = 1s});
    EXPECT_TRUE(becomes(pool, [&] { return failed_->count > 15; }));
    EXPECT_EQ(pool.counts().put_aside, 1U);
    EXPECT_EQ(queue.stats().leased, 1U) << "its lease is extended";
    accept_again(here(), "DELETE");
    EXPECT_TRUE(becomes(pool, [&] { return pool.counts().completed == 1; })) << state;
    EXPECT_EQ(pool.counts().failed + pool.counts().unknown + pool.counts().lease_lost, 0U);
    pool.stop();
    ASSERT_TRUE(pool.wait_for(for_ever));
    db().drop("jobs");
  }
}

TEST_P(messages_put_aside, fail_none_while_all_are_refused) {
  for (const char* state : {"55P03", "53100"}) {
    auto queue = jobs();
    enqueue(queue, "any", 6);
    if (!refuse_with(here(), state, "DELETE", "true")) GTEST_SKIP() << no_states;
    failed_->count = 0;
    tableq::worker pool(queue, [](const tableq::delivery&) {}, {.threads = 2});
    EXPECT_TRUE(becomes(pool, [&] { return failed_->count > 30; }));
    EXPECT_EQ(pool.counts().failed, 0U) << state;
    EXPECT_EQ(pool.counts().put_aside, 6U);
    accept_again(here(), "DELETE");
    EXPECT_TRUE(becomes(pool, [&] { return pool.counts().completed == 6; })) << state;
    EXPECT_EQ(pool.counts().failed + pool.counts().unknown + pool.counts().lease_lost, 0U);
    pool.stop();
    ASSERT_TRUE(pool.wait_for(for_ever));
    db().drop("jobs");
  }
}

TEST_P(messages_put_aside, whose_handlers_alone_meet_a_full_disk_fail_when_others_succeed) {
  auto queue = jobs();
  queue.enqueue("bad");
  tableq::worker pool(queue, [](tableq::transaction&, const tableq::delivery& d) {
    if (d.payload != "bad") return;
    throw tableq::error(tableq::errc::storage_full, tableq::advice::never, "made by the test",
                        {.sqlstate = "53100"});
  });
  feed(queue, pool, [&] { return pool.counts().failed == 1; });
  pool.stop();
  ASSERT_TRUE(pool.wait_for(for_ever));
  const auto dead = queue.list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_TRUE(contains(dead[0].errors.at(0).error, "made by the test")) << dead[0].errors[0].error;
  expect_good(queue, 1, pool.counts().completed);
}

TEST_P(messages_put_aside, whose_failure_is_refused_end_with_their_leases) {
  auto queue = jobs();
  enqueue(queue, "bad", 2);
  const std::string ends = is("bad") + " AND NEW.state <> 1";
  if (!refuse_with(here(), "55P03", "UPDATE", ends)) GTEST_SKIP() << no_states;
  std::atomic<int> unknown = 0;
  tableq::worker pool(queue,
                      [](const tableq::delivery& d) {
                        return d.payload == "bad" ? tableq::handled::failed("not done")
                                                  : tableq::handled::completed();
                      },
                      {.threads = 2, .observe = [&](const tableq::worker_event& event) {
                         if (event.what == kind::unknown && event.id.value != 0) ++unknown;
                       }});
  feed(queue, pool, [&] { return unknown == 2; });
  EXPECT_EQ(pool.counts().failed, 0U);
  pool.stop();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(queue.stats().leased, 2U);
  expect_good(queue, 2, pool.counts().completed);
}

TEST_P(messages_put_aside, are_given_back_at_the_end_of_the_worker) {
  for (const bool patiently : {true, false}) {
    auto queue = jobs();
    queue.enqueue("bad");
    if (!refuse_with(here(), "53100", "DELETE", is("bad"))) GTEST_SKIP() << no_states;
    {
      tableq::worker pool(queue, [](const tableq::delivery&) {});
      EXPECT_TRUE(becomes(pool, [&] { return pool.counts().put_aside == 1; }));
      if (patiently) {
        pool.stop();
        ASSERT_TRUE(pool.wait_for(for_ever));
        EXPECT_EQ(pool.counts().given_back, 1U);
        EXPECT_EQ(pool.counts().put_aside, 0U);
      }
    }
    const auto again = queue.take_one();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->attempt, 1);
    accept_again(here(), "DELETE");
    db().drop("jobs");
  }
}

TEST_P(messages_put_aside, are_tried_once_more_at_the_end_of_the_worker) {
  auto queue = jobs();
  queue.enqueue("bad");
  if (!refuse_with(here(), "53100", "DELETE", is("bad"))) GTEST_SKIP() << no_states;
  std::promise<void> begun;
  std::promise<void> go_on;
  tableq::worker pool(queue, [&](const tableq::delivery& d) {
    if (d.payload != "last") return;
    begun.set_value();
    go_on.get_future().wait();
  });
  EXPECT_TRUE(becomes(pool, [&] { return pool.counts().put_aside == 1; }));
  queue.enqueue("last");
  begun.get_future().wait();
  pool.stop();
  accept_again(here(), "DELETE");
  go_on.set_value();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 2U);
}

TEST_P(messages_put_aside, are_given_back_above_their_bound) {
  auto patient = open({.retry_for = 24h});
  auto queue = patient.claim("jobs", {.max_attempts = 1});
  enqueue(queue, "bad", 103);
  if (!refuse_with(here(), "53100", "DELETE", is("bad"))) GTEST_SKIP() << no_states;
  tableq::worker pool(queue, [](const tableq::delivery&) {}, {.threads = 2});
  // While nothing succeeds for a moment none is given back, so that the bound is met later.
  feed(queue, pool, [&] {
    const tableq::worker_counts now = pool.counts();
    return now.given_back >= 3 && now.put_aside <= 100;
  });
  EXPECT_EQ(pool.counts().failed, 0U);
  EXPECT_GT(pool.counts().completed, 0U);
  pool.abandon();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(queue.stats().dead, 0U);
}

TEST_P(messages_put_aside, that_fill_a_worker_keep_it_from_no_other) {
  auto patient = open({.retry_for = 24h});
  auto queue = patient.claim("jobs", {.max_attempts = 1});
  enqueue(queue, "bad", 150);
  if (!refuse_with(here(), "53100", "DELETE", is("bad"))) GTEST_SKIP() << no_states;
  tableq::worker pool(queue, [](const tableq::delivery&) {}, {.threads = 2});
  // Nothing succeeds, and bad ones are left, so that no take waits.
  ASSERT_TRUE(becomes(pool, [&] { return pool.counts().put_aside >= 100; }));
  queue.enqueue("good", {.priority = 1});
  EXPECT_TRUE(becomes(pool, [&] { return pool.counts().completed == 1; }));
  EXPECT_EQ(pool.counts().failed, 0U);
  pool.abandon();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(queue.stats().dead, 0U);
}

TEST_P(messages_put_aside, of_two_workers_harm_none_of_the_other) {
  auto queue = jobs();
  auto second = open({.retry_for = patience});
  enqueue(queue, "bad", 6);
  if (!refuse_with(here(), "57014", "DELETE", is("bad"))) GTEST_SKIP() << no_states;
  const auto work = [](const tableq::delivery&) {};
  tableq::worker one(queue, work, {.threads = 2});
  tableq::worker two(second.claim("jobs", {.max_attempts = 1}), work, {.threads = 2});
  feed(queue, one, [&] { return one.counts().failed + two.counts().failed == 6; });
  for (tableq::worker* each : {&one, &two}) {
    each->stop();
    ASSERT_TRUE(each->wait_for(for_ever));
    EXPECT_EQ(each->counts().lease_lost + each->counts().unknown, 0U);
  }
  EXPECT_EQ(queue.stats().dead, 6U);
  EXPECT_EQ(queue.stats().leased, 0U);
  expect_good(queue, 6, one.counts().completed + two.counts().completed);
}

/// Calls that are refused by chance.
class settlements_refused_by_lot : public on_each_backend {};
TABLEQ_ON_BACKENDS(settlements_refused_by_lot, distinct_backends);

TEST_P(settlements_refused_by_lot, nine_of_ten_make_no_message_fail) {
  using tableq::testing::trouble;
  // Long runs of scripts/soak.sh give another number of messages; 500 take a minute or more.
  const char* const given = std::getenv("TABLEQ_TEST_REFUSED");
  const std::size_t count = given == nullptr ? 12 : std::stoul(given);
  const std::size_t calls = 250 * count;
  const tableq::testing::faults faults;
  auto own = faults.open(here().quick_url(), {.retry_for = 0ms});
  auto queue = own.claim("jobs", {.max_attempts = 1});
  for (std::size_t i = 0; i < count; ++i) queue.enqueue("job");
  random_source random(told_seed());
  std::vector<trouble> all{trouble::deadlock, trouble::busy};
  if (can().time_outs_are_known) all.push_back(trouble::time_out);
  std::size_t planned = 0;
  for (std::size_t nth = 1; nth <= calls; ++nth) {
    if (random.one_in(10)) continue;
    faults.fail("claim.complete", {all[random.below(all.size())]}, nth);
    ++planned;
  }
  ASSERT_GT(planned, calls * 2 / 3);
  tableq::worker pool(queue, [](const tableq::delivery&) {}, {.threads = 2, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(given == nullptr ? for_ever : 10min));
  EXPECT_EQ(pool.counts().completed, count);
  EXPECT_EQ(pool.counts().failed + pool.counts().unknown + pool.counts().lease_lost, 0U);
  EXPECT_GT(faults.failures(), count);
  EXPECT_EQ(queue.stats().dead, 0U);
  report_injected("refused completions", GetParam()->name(), faults.failures(),
                  std::to_string(count) + " messages completed, none failed");
}

/// The same for rows of an application's table.
class rows_put_aside : public on_own_table {};
TABLEQ_ON_BACKENDS(rows_put_aside, shared_backends);

TEST_P(rows_put_aside, hold_up_no_other_and_fail_when_others_succeed) {
  auto mapping = whole();
  mapping.max_attempts = 1;
  auto own = open({.retry_for = 400ms});
  auto queue = own.table("EmailRequests", mapping);
  requests(12);
  if (!refuse_with(here(), "40001", "DELETE", "OLD.Id <= 8", "EmailRequests")) {
    GTEST_SKIP() << "triggers of this database raise no error of its own";
  }
  tableq::worker pool(queue, [](const tableq::delivery&) {}, {.threads = 2});
  std::int64_t next = 100;
  while (pool.counts().failed < 8 && !pool.wait_for(10ms)) request(next++);
  EXPECT_EQ(queue.stats().dead, 8U);
  pool.stop();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_GE(pool.counts().completed, 4U);
  EXPECT_EQ(pool.counts().lease_lost + pool.counts().unknown, 0U);
}

}  // namespace
