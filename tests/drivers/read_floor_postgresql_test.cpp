#include <gtest/gtest.h>
#include <soci/soci.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

constexpr std::string_view from_the_top = "a stack is read from its top";

/// The cost of reads while an old snapshot keeps all deleted rows in the index.
class held_snapshot : public on_each_kind {
 protected:
  void SetUp() override {
    on_each_kind::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    reader_ = here().session();
    *reader_ << "BEGIN ISOLATION LEVEL REPEATABLE READ";
    *reader_ << "SELECT txid_current_snapshot()";
  }
  void TearDown() override {
    reader_.reset();
    on_each_kind::TearDown();
  }
  /// Index entries of the table that were read so far, or what `counted_` says. Sessions report at
  /// their end.
  std::int64_t entries_seen() {
    await_figures();
    const auto told = here().sql("SELECT " + counted_ + " WHERE relid = CAST('mail' AS regclass)");
    return std::stoll(told.at(0).at(0).value());
  }
  /// Reads messages through a session of its own, `max` at a time.
  void read(int reads, std::size_t max) {
    {
      tableq::database once = open();
      any_queue mail(once, kind(), "mail");
      for (int i = 0; i < reads; ++i) {
        if (!in_transactions_) {
          EXPECT_EQ(mail.take_up_to(max).size(), max);
          continue;
        }
        tableq::transaction tx = once.begin();
        EXPECT_EQ(mail.in(tx).take_up_to(max).size(), max);
        tx.commit();
      }
    }
    await_sessions();
  }
  /// The same. @return the number of index entries that were read.
  std::int64_t cost_of(int reads, std::size_t max) {
    const std::int64_t before = entries_seen();
    read(reads, max);
    return entries_seen() - before;
  }
  /// Waits for the end of sessions: they report then.
  void await_sessions() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    const auto at_work = [&] {
      return !here()
                  .sql(
                      "SELECT 1 FROM pg_stat_activity WHERE application_name = current_schema()"
                      " AND pid <> pg_backend_pid() AND xact_start IS NULL")
                  .empty();
    };
    while (at_work() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
  /// Waits for figures of now. Before PostgreSQL 15 they may be half a second old; since then there
  /// is no such time.
  void await_figures() {
    const std::string now = here().sql("SELECT clock_timestamp()").at(0).at(0).value();
    while (!here()
                .sql("SELECT 1 WHERE pg_stat_get_snapshot_timestamp() < CAST('" + now +
                     "' AS timestamptz)")
                .empty()) {
      std::this_thread::yield();
    }
  }
  bool may_prepare() { return here().sql("SHOW max_prepared_transactions").at(0).at(0) != "0"; }
  void put_500() {
    if (!grouped_) {
      make("mail").put_all(std::vector<std::string>(500, "x"));
      return;
    }
    std::vector<tableq::new_claim_message> all(500);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = {.payload = "x", .options = {.group = "g" + std::to_string(i)}};
    db().claim("mail").enqueue_batch(all);
  }
  void expect_few_entries_seen() {
    if (kind() == tableq::kind::lifo) GTEST_SKIP() << from_the_top;
    constexpr int stale = 10'000;
    constexpr int fresh = 500;
    for (int i = 0; i < stale + fresh; i += 500) put_500();
    clear_database();
    read(stale / 1000, 1000);
    // A read from the very start steps over all deleted rows. The first read does, and on a loaded
    // machine one may do so each second. Without a floor the number would be 500 times 10,000.
    constexpr std::int64_t most = std::int64_t{stale} * fresh / 10;
    std::int64_t least = cost_of(fresh, 1);
    // On a loaded machine a process may end before its looks have settled.
    for (int i = 0; i < 5 && least > most; ++i) {
      put_500();
      clear_database();
      least = std::min(least, cost_of(fresh, 1));
    }
    EXPECT_LE(least, most);
  }

  bool in_transactions_ = false;
  bool grouped_ = false;
  std::string counted_ = "sum(idx_tup_read) FROM pg_stat_user_indexes";

 private:
  std::unique_ptr<soci::session> reader_;
};

TEST_P(held_snapshot, makes_reads_step_over_what_was_read_now_and_then_and_not_each_time) {
  expect_few_entries_seen();
}

TEST_P(held_snapshot, costs_reads_in_transactions_no_more) {
  in_transactions_ = true;
  expect_few_entries_seen();
}

TEST_P(held_snapshot, costs_looks_no_more) {
  if (kind() == tableq::kind::lifo || kind() == tableq::kind::pending) {
    GTEST_SKIP() << "its looks begin at the front";
  }
  constexpr int stale = 10'000;
  constexpr int processes = 20;
  for (int i = 0; i < stale; i += 500) make("mail").put_all(std::vector<std::string>(500, "x"));
  clear_database();
  read(stale / 1000, 1000);
  make("mail").put_all(std::vector<std::string>(300, "x"));
  clear_database();
  read(250, 1);
  // Rows of the table, which an index shows only with its deleted ones.
  counted_ = "sum(heap_blks_hit + heap_blks_read) FROM pg_statio_user_tables";
  const std::int64_t before = entries_seen();
  for (int i = 0; i < processes; ++i) {
    tableq::database once = open();
    EXPECT_EQ(any_queue(once, kind(), "mail").peek(10).size(), 10U);
    if (kind() != tableq::kind::claim) continue;
    const tableq::claim_queue jobs = once.claim("mail");
    EXPECT_EQ(jobs.stats().ready, 50U);
    using enum tableq::message_state;
    EXPECT_EQ(jobs.list(ready).size(), 50U);
    for (const auto each : {leased, delayed, held, done, dead})
      EXPECT_TRUE(jobs.list(each).empty());
  }
  await_sessions();
  // Each look of each process would step over all of them.
  EXPECT_LE(entries_seen() - before, std::int64_t{stale} * processes / 2);
}

TEST_P(held_snapshot, costs_reads_no_more_by_statistics_of_an_empty_table) {
  // Entries that an index compares without returning them are in no other figure.
  counted_ = "sum(idx_blks_hit + idx_blks_read) FROM pg_statio_user_indexes";
  const auto work = [this] {
    make("mail").put_all(std::vector<std::string>(1000, "x"));
    clear_database();
    return cost_of(5, 100) + cost_of(500, 1);
  };
  for (int i = 0; i < 20; ++i) make("mail").put_all(std::vector<std::string>(1000, "x"));
  clear_database();
  read(20, 1000);
  const std::int64_t before = work();
  // All indexes look equally cheap to the planner.
  here().sql("ANALYZE mail");
  EXPECT_LE(work(), 5 * before);
}

/// One with a number, one that has written elsewhere, one that was left prepared, and readers of
/// the table itself.
TEST_P(held_snapshot, does_so_beside_other_transactions) {
  here().sql("CREATE TABLE elsewhere (n integer)");
  make("mail").put_all(std::vector<std::string>(500, "x"));
  const std::string left = "'left " + std::to_string(getpid()) + "'";
  std::vector<std::unique_ptr<soci::session>> others;
  for (const char* const work : {"SELECT txid_current()", "INSERT INTO elsewhere VALUES (1)",
                                 "INSERT INTO elsewhere VALUES (2)", "SELECT count(*) FROM mail",
                                 "SELECT count(*) FROM mail"}) {
    others.push_back(here().session());
    *others.back() << "BEGIN ISOLATION LEVEL REPEATABLE READ";
    *others.back() << work;
  }
  if (may_prepare()) *others.at(2) << "PREPARE TRANSACTION " + left;
  EXPECT_EQ(make("mail").take_up_to(500).size(), 500U);
  expect_few_entries_seen();
  if (may_prepare()) *others.at(2) << "ROLLBACK PREPARED " + left;
}

TEST_P(held_snapshot, skips_no_message_of_a_prepared_transaction) {
  if (!may_prepare()) GTEST_SKIP() << "max_prepared_transactions is 0";
  open_queue(db(), kind(), "mail");
  const auto other = here().session();
  const std::string name = "'late " + std::to_string(getpid()) + "'";
  *other << "BEGIN";
  *other << "INSERT INTO mail (payload) VALUES ('late')";
  for (int round = 0; round < 8; ++round) {
    if (round == 4) *other << "PREPARE TRANSACTION " + name;
    make("mail").put_all(std::vector<std::string>(200, "x"));
    auto from = make("mail");
    for (int i = 0; i < 20; ++i) EXPECT_EQ(from.take_up_to(10).size(), 10U);
  }
  *other << "COMMIT PREPARED " + name;
  if (kind() != tableq::kind::lifo) make("mail").put_all({"x"});
  const auto next = make("mail").take_up_to(1);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next.front().payload, "late");
}

TEST_P(held_snapshot, is_no_trouble_but_an_old_writer_is_named_by_inspect) {
  open_queue(db(), kind(), "mail");
  const auto writer = here().session();
  *writer << "BEGIN";
  *writer << "INSERT INTO mail (payload) VALUES ('x')";
  std::string text = tableq::statements("postgresql", kind(), "mail").at("doctor.queue");
  const auto put = [&](const std::string& old, const std::string& now) {
    for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + now.size()))
      text.replace(at, old.size(), now);
  };
  put("CAST(:kind AS text)", "'" + std::string(tableq::to_string(kind())) + "'");
  put("CAST(:layout AS bigint)", "2");
  const auto writers = [&] {
    const auto rows = here().sql(text);
    return std::ranges::count_if(rows, [](const auto& row) {
      return row.at(1)->find("lock of a writer") != std::string::npos;
    });
  };
  EXPECT_EQ(writers(), 0) << "not in its first minute";
  put("INTERVAL '1 minute'", "INTERVAL '0 minutes'");
  EXPECT_EQ(writers(), 1);
}

INSTANTIATE_TEST_SUITE_P(, held_snapshot,
                         testing::Combine(testing::Values(&postgresql_backend()),
                                          testing::ValuesIn(all_kinds())),
                         backend_and_kind);

using claims_under_a_snapshot = held_snapshot;

TEST_P(claims_under_a_snapshot, are_taken_in_the_moment_when_they_fall_due) {
  auto jobs = db().claim("mail");
  jobs.enqueue("leased");
  const auto lease = jobs.take(1, {.lease = 800ms});
  const auto delayed = jobs.enqueue("delayed", {.delay = 800ms}).id;
  std::map<std::string, tableq::timestamp> due = {
      {"leased", lease.at(0).lease_until},
      {"delayed",
       tableq::timestamp(std::chrono::milliseconds(std::stoll(
           here()
               .sql("SELECT due_at FROM mail WHERE id = " + std::to_string(delayed.value))
               .at(0)
               .at(0)
               .value())))}};
  // The database uses this machine's clock.
  while (!due.empty()) {
    const auto before =
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    jobs.enqueue("x");
    const auto taken = jobs.take(1);
    ASSERT_EQ(taken.size(), 1U);
    const std::string& payload = taken.front().payload;
    const auto first =
        std::ranges::find_if(due, [&](const auto& each) { return before >= each.second; });
    if (payload == "x") {
      ASSERT_EQ(first, due.end()) << first->first << " was passed";
      EXPECT_EQ(jobs.complete(taken.front().receipt), tableq::settle_result::applied);
    } else {
      EXPECT_EQ(due.erase(payload), 1U);
    }
  }
}

TEST_P(claims_under_a_snapshot, are_taken_as_quickly_with_a_rate) {
  // Such reads have transactions.
  db().claim("mail").set_limits({.rate = 1e6, .burst = 1'000'000});
  expect_few_entries_seen();
}

TEST_P(claims_under_a_snapshot, are_taken_one_by_one_in_their_order_within_any_limits) {
  for (const tableq::queue_limits& limits : {tableq::queue_limits{},
                                             {.concurrency = 3},
                                             {.rate = 1000},
                                             {.rate = 1000, .concurrency = 3}}) {
    auto jobs = db().claim("mail");
    jobs.set_limits(limits);
    const auto takes = [&](const std::string& wanted) {
      const auto taken = jobs.take_one();
      ASSERT_TRUE(taken) << wanted;
      EXPECT_EQ(taken->payload, wanted);
      EXPECT_EQ(jobs.complete(taken->receipt), tableq::settle_result::applied);
    };
    const auto pass = [&](int reads) {
      for (int i = 0; i < reads; ++i) {
        jobs.enqueue("x");
        takes("x");
      }
    };
    pass(200);  // until the reads begin behind them
    // A take that comes late asks for due messages, and is another statement: so some come before.
    jobs.enqueue("first");
    const auto first = jobs.take_one();
    ASSERT_TRUE(first);
    jobs.enqueue("second");
    jobs.enqueue("third");
    takes("second");
    EXPECT_EQ(jobs.release(first->receipt), tableq::settle_result::applied);
    takes("first");
    takes("third");
    pass(20);  // After such a surprise the general statement is used for some time.
    for (const char* name : {"1", "2", "3", "4", "5"}) jobs.enqueue(name);
    if (limits.rate)
      jobs.set_limits({.rate = 0.001, .burst = 3, .concurrency = limits.concurrency});
    std::vector<tableq::receipt> held;
    for (int i = 0; i < 3; ++i) held.push_back(jobs.take_one().value().receipt);
    if (limits.rate || limits.concurrency) {
      EXPECT_FALSE(jobs.take_one());
    }
    jobs.set_limits(limits);
    EXPECT_EQ(jobs.complete_batch(held).size(), 3U);
    takes("4");
    jobs.enqueue("high", {.priority = 1});
    takes("high");
    db().drop("mail");
  }
}

TEST_P(claims_under_a_snapshot, are_taken_as_quickly_where_groups_take_turns) {
  static_cast<void>(db().claim("mail", {.groups = {.by_turns = true}}));
  expect_few_entries_seen();
}

TEST_P(claims_under_a_snapshot, are_taken_as_quickly_from_groups_that_take_turns_and_have_limits) {
  db().claim("mail", {.groups = {.by_turns = true}}).set_group_limits({.running = 2});
  grouped_ = true;
  expect_few_entries_seen();
}

TEST_P(claims_under_a_snapshot, are_found_in_line_whatever_changes_their_places) {
  auto jobs = db().claim("mail", {.groups = {.by_turns = true}});
  const auto takes = [&](const std::string& wanted) {
    const auto taken = jobs.take(1);
    ASSERT_EQ(taken.size(), 1U) << wanted;
    EXPECT_EQ(taken.front().payload, wanted);
    EXPECT_EQ(jobs.complete(taken.front().receipt), tableq::settle_result::applied);
  };
  const auto old = jobs.enqueue("old", {.priority = -1}).id;
  const auto pass = [&] {  // until the reads begin behind them
    for (int i = 0; i < 200; ++i) {
      jobs.enqueue("x");
      takes("x");
    }
  };
  pass();
  // It keeps the time since which it stands in line, which is before all that was read there.
  EXPECT_EQ(jobs.set_priority(old, 1), tableq::change_result::applied);
  takes("old");
  {
    tableq::database other = open();
    tableq::transaction tx = other.begin();
    other.claim("mail").in(tx).enqueue("late");
    pass();
    tx.commit();
    takes("late");
  }
  pass();
  jobs.set_group_limits({.weight = 5}, "vip");
  for (const char* name : {"a", "b", "c", "d"}) jobs.enqueue(name, {.group = name});
  jobs.enqueue("vip", {.group = "vip"});
  for (int i = 0; i < 5; ++i) {
    const auto taken = jobs.take(1);
    ASSERT_EQ(taken.size(), 1U) << i;
    EXPECT_EQ(jobs.complete(taken.front().receipt), tableq::settle_result::applied);
  }
  EXPECT_TRUE(jobs.take(1).empty());
}

TEST_P(claims_under_a_snapshot, of_plain_sql_line_up_by_the_time_under_the_lock_of_their_insert) {
  // Reads may have passed the time at which a long statement began.
  static_cast<void>(db().claim("mail", {.groups = {.by_turns = true}}));
  here().sql("DO $$ BEGIN PERFORM pg_sleep(0.01); INSERT INTO mail (payload) VALUES ('x'); END $$");
  EXPECT_EQ(here().sql("SELECT ready_at > created_at FROM mail").at(0).at(0), "t");
}

/// Processes that begin while all that was read before is still in the index.
TEST_P(held_snapshot, costs_a_process_that_begins_later_no_more) {
  if (kind() == tableq::kind::lifo) GTEST_SKIP() << from_the_top;
  constexpr int stale = 10'000;
  constexpr int processes = 40;
  for (int i = 0; i < stale; i += 500) make("mail").put_all(std::vector<std::string>(500, "x"));
  clear_database();
  read(stale / 1000, 1000);
  make("mail").put_all(std::vector<std::string>(processes, "x"));
  clear_database();
  const std::int64_t before = entries_seen();
  for (int i = 0; i < processes; ++i) read(1, 1);
  // Each without help from others would step over all of them.
  EXPECT_LE(entries_seen() - before, std::int64_t{stale} * processes);
}

INSTANTIATE_TEST_SUITE_P(, claims_under_a_snapshot,
                         testing::Combine(testing::Values(&postgresql_backend()),
                                          testing::Values(tableq::kind::claim)),
                         backend_and_kind);

}  // namespace
