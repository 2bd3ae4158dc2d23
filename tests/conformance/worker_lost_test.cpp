// Handlers with a transaction whose session ends.

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <soci/soci.h>

#include <tableq/soci.hpp>
#include <tableq/testing.hpp>

#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class handlers_that_lose_their_session : public on_each_backend {
 protected:
  tableq::claim_queue filled(std::size_t good, int max_attempts) {
    auto queue = db().claim("jobs", at_once({.max_attempts = max_attempts}));
    queue.enqueue("bad");
    for (std::size_t i = 0; i < good; ++i) queue.enqueue("good");
    return queue;
  }
  /// Nothing happens in this time.
  static void rest(const std::stop_token& stop, std::chrono::milliseconds length) {
    std::mutex mutex;
    std::condition_variable_any woken;
    std::unique_lock lock(mutex);
    woken.wait_for(lock, stop, length, [] { return false; });
  }
};
TABLEQ_ON_BACKENDS(handlers_that_lose_their_session, shared_backends);

TEST_P(handlers_that_lose_their_session, hold_up_no_other_and_run_again_in_the_same_attempt) {
  if (!here().session_id_sql()) GTEST_SKIP() << "sessions of this database cannot be ended";
  constexpr std::size_t good = 20;
  auto queue = filled(good, 1);
  std::atomic<int> runs = 0;
  std::atomic<std::size_t> done = 0;
  std::atomic<std::size_t> done_before = 0;
  tableq::worker pool(queue,
                      [&](tableq::transaction& tx, const tableq::delivery& d) {
                        if (d.payload == "good") {
                          ++done;
                          return;
                        }
                        EXPECT_EQ(d.attempt, 1);
                        if (++runs > 4) {
                          done_before = done.load();
                          return;
                        }
                        std::string id;
                        tableq::session_of(tx) << *here().session_id_sql(), soci::into(id);
                        here().end_session(id);
                        // In every second run a statement of the handler meets the loss.
                        if (runs % 2 == 0) return;
                        tableq::session_of(tx) << *here().session_id_sql(), soci::into(id);
                        ADD_FAILURE() << "the session was ended";
                      },
                      {.threads = 1, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_NO_THROW(pool.join());
  EXPECT_EQ(pool.counts().completed, good + 1);
  EXPECT_EQ(runs, 5);
  EXPECT_GT(done_before, 0U);
  EXPECT_EQ(pool.counts().failed + pool.counts().unknown + pool.counts().lease_lost, 0U);
}

TEST_P(handlers_that_lose_their_session, or_whose_own_statements_meet_conflicts_run_again) {
  const std::string conflict = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$";
  if (!here().takes("DO $$ BEGIN END $$")) GTEST_SKIP() << "no statement of it raises a conflict";
  auto queue = filled(0, 1);
  int runs = 0;
  tableq::worker pool(queue,
                      [&](tableq::transaction& tx, const tableq::delivery& d) {
                        EXPECT_EQ(d.attempt, 1);
                        if (++runs <= 3) tableq::session_of(tx) << conflict;
                      },
                      {.threads = 1, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(pool.counts().completed, 1U);
  EXPECT_EQ(pool.counts().failed, 0U);
}

TEST_P(handlers_that_lose_their_session, or_meet_a_full_disk_or_read_only_server_run_again_later) {
  struct refusal {
    std::string before = {};
    std::string statement = {};
    std::string after = {};
  };
  std::vector<refusal> all;
  if (here().takes("DO $$ BEGIN END $$")) {
    for (const std::string state : {"53100", "25006", "58030"}) {
      all.push_back(
          {.statement = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '" + state + "'; END $$"});
    }
  } else if (here().takes("PRAGMA query_only = 0")) {
    all.push_back({"PRAGMA query_only = 1", "DELETE FROM jobs", "PRAGMA query_only = 0"});
    all.push_back({"PRAGMA max_page_count = 1", "CREATE TABLE large AS SELECT zeroblob(99999) AS x",
                   "PRAGMA max_page_count = 1000000"});
  } else {
    GTEST_SKIP() << "no statement of it meets such an error";
  }
  constexpr std::size_t good = 20;
  for (const refusal& each : all) {
    auto queue = filled(good, 1);
    std::atomic<int> runs = 0;
    std::atomic<int> troubles = 0;
    std::atomic<std::size_t> done = 0;
    std::atomic<std::size_t> done_before = 0;
    tableq::worker pool(
        queue,
        [&](tableq::transaction& tx, const tableq::delivery& d) {
          if (d.payload == "good") {
            ++done;
            return;
          }
          EXPECT_EQ(d.attempt, 1);
          if (++runs > 3) {
            done_before = done.load();
            return;
          }
          soci::session& own = tableq::session_of(tx);
          const auto run = [&own](const std::string& sql) {
            if (!sql.empty()) own << sql;
          };
          run(each.before);
          try {
            run(each.statement);
          } catch (const std::exception&) {
            run(each.after);
            throw;
          }
        },
        {.threads = 1, .until_empty = true, .observe = [&](const tableq::worker_event& event) {
           troubles += event.what == tableq::worker_event::kind::trouble ? 1 : 0;
         }});
    ASSERT_TRUE(pool.wait_for(for_ever)) << each.statement;
    EXPECT_EQ(pool.counts().completed, good + 1) << each.statement;
    EXPECT_EQ(runs, 4) << each.statement;
    EXPECT_EQ(troubles, 3) << each.statement;
    EXPECT_GT(done_before, 0U) << each.statement;
    db().drop("jobs");
  }
}

TEST_P(handlers_that_lose_their_session, whose_own_statements_are_wrong_fail_at_once) {
  auto queue = filled(0, 1);
  int runs = 0;
  tableq::worker pool(queue,
                      [&](tableq::transaction& tx, const tableq::delivery&) {
                        ++runs;
                        tableq::session_of(tx) << "SELECT a FROM no_such_table";
                      },
                      {.threads = 1, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(queue.stats().dead, 1U);
}

TEST_P(handlers_that_lose_their_session, by_resting_too_long_fail_with_the_reason) {
  if (!here().takes("SET idle_in_transaction_session_timeout = 0")) {
    GTEST_SKIP() << "this database lets a transaction rest";
  }
  auto queue = filled(20, 2);
  std::atomic<int> runs = 0;
  tableq::worker pool(
      queue,
      [&](tableq::transaction& tx, const tableq::delivery& d, const std::stop_token& stop) {
        if (d.payload == "good") return;
        ++runs;
        tableq::session_of(tx) << "SET LOCAL idle_in_transaction_session_timeout = 50";
        rest(stop, 500ms);
      },
      {.threads = 1, .until_empty = true, .observe = [](const tableq::worker_event& event) {
         EXPECT_NE(event.what, tableq::worker_event::kind::trouble) << event.why;
       }});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 20U);
  EXPECT_EQ(pool.counts().failed, 2U);
  EXPECT_EQ(runs, 2);
  const auto dead = queue.list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_TRUE(contains(dead[0].errors.at(0).error, "idle_in_transaction_session_timeout"))
      << dead[0].errors[0].error;
}

TEST_P(handlers_that_lose_their_session, or_meet_a_limit_on_statements_fail_with_the_reason) {
  auto queue = filled(20, 2);
  const bool slow =
      here().takes(
          "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN WHILE "
          "clock_timestamp() < now() + interval '5 s' LOOP END LOOP; RETURN OLD; END $$") &&
      here().takes("CREATE TRIGGER slow BEFORE DELETE ON jobs FOR EACH ROW WHEN (OLD.payload = " +
                   here().bytes_literal("bad") + ") EXECUTE FUNCTION slow()");
  if (!slow) GTEST_SKIP() << "triggers of this database do not wait";
  tableq::worker pool(queue,
                      [&](tableq::transaction& tx, const tableq::delivery& d) {
                        if (d.payload == "good") return;
                        tableq::session_of(tx) << "SET LOCAL statement_timeout = 50";
                      },
                      {.threads = 1, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 20U);
  EXPECT_EQ(pool.counts().failed, 2U);
  EXPECT_EQ(queue.stats().dead, 1U);
}

TEST_P(handlers_that_lose_their_session, and_cannot_open_one_wait_for_the_database) {
  const tableq::testing::faults faults;
  auto own = faults.open(here().url(), {.retry_for = 0ms});
  auto queue = own.claim("jobs", {.max_attempts = 1});
  for (int i = 0; i < 6; ++i) queue.enqueue("job");
  std::atomic<int> troubles = 0;
  faults.fail_some(1, {{tableq::testing::trouble::lost_connection}});
  tableq::worker pool(queue, [](tableq::transaction&, const tableq::delivery&) {},
                      {.threads = 2, .observe = [&](const tableq::worker_event& event) {
                         troubles += event.what == tableq::worker_event::kind::trouble ? 1 : 0;
                       }});
  while (troubles < 3 && !pool.wait_for(10ms)) {
  }
  faults.heal();
  while (pool.counts().completed < 6 && !pool.wait_for(10ms)) {
  }
  pool.stop();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 6U);
  EXPECT_EQ(pool.counts().failed + pool.counts().lease_lost, 0U);
}

class takes_that_lose_their_session : public on_each_backend {};
TABLEQ_ON_BACKENDS(takes_that_lose_their_session, shared_backends);

TEST_P(takes_that_lose_their_session, are_reported_and_repeated_with_pauses) {
  const tableq::testing::faults faults;
  auto own = faults.open(here().url());
  auto jobs = own.claim("jobs");
  jobs.enqueue_batch({{"a"}, {"b"}, {"c"}});
  faults.fail_some(1,
                   {{tableq::testing::trouble::unknown_commit, tableq::testing::moment::before}});
  std::atomic<int> reports = 0;
  std::promise<void> told;
  tableq::worker pool(jobs, [](const tableq::delivery&) {},
                      {.until_empty = true, .observe = [&](const tableq::worker_event& event) {
                         const bool trouble = event.what == tableq::worker_event::kind::trouble;
                         if (trouble && ++reports == 3) told.set_value();
                       }});
  EXPECT_EQ(told.get_future().wait_for(for_ever), std::future_status::ready);
  faults.heal();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_NO_THROW(pool.join());
  EXPECT_EQ(pool.counts().completed, 3U);
}

TEST_P(handlers_that_lose_their_session, by_resting_too_long_before_a_statement_of_their_own_fail) {
  if (!here().takes("SET idle_in_transaction_session_timeout = 0")) {
    GTEST_SKIP() << "this database lets a transaction rest";
  }
  auto queue = filled(0, 2);
  std::atomic<int> runs = 0;
  tableq::worker pool(
      queue,
      [&](tableq::transaction& tx, const tableq::delivery&, const std::stop_token& stop) {
        if (++runs > 2) return;
        tableq::session_of(tx) << "SET LOCAL idle_in_transaction_session_timeout = 50";
        rest(stop, 500ms);
        tableq::session_of(tx) << "SELECT 1";
      },
      {.threads = 1, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  const auto dead = queue.list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_TRUE(contains(dead[0].errors.at(0).error, "idle_in_transaction_session_timeout"))
      << dead[0].errors[0].error;
}

}  // namespace
