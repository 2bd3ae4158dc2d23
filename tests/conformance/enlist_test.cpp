#include <gtest/gtest.h>
#include <soci/soci.h>

#include <memory>
#include <optional>
#include <vector>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class enlist_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(enlist_of_kind, enlisting_backends);

TEST_P(enlist_of_kind, enlisted_session_commits_all_or_nothing) {
  any_queue from = make("from");
  any_queue to = make("to");
  here().sql("CREATE TABLE orders (n INTEGER)");
  const auto session = here().session();
  const auto work = [&] {
    tableq::enlistment mine = enlist(db(), *session);
    const auto taken = from.in(mine).take();
    ASSERT_TRUE(taken);
    *session << "INSERT INTO orders VALUES (42)";
    to.in(mine).put(taken->payload);
    to.in(mine).put_all(numbered(3));
  };
  from.put("order 42");
  {
    soci::transaction undone(*session);
    work();
    undone.rollback();
  }
  EXPECT_EQ(here().sql("SELECT count(*) FROM orders").at(0).at(0), "0");
  EXPECT_EQ(from.waiting(), 1U);
  EXPECT_EQ(to.waiting(), 0U);
  {
    soci::transaction done(*session);
    work();
    EXPECT_EQ(to.waiting(), 0U) << "visible before the caller committed";
    done.commit();
  }
  EXPECT_EQ(here().sql("SELECT count(*) FROM orders").at(0).at(0), "1");
  EXPECT_EQ(from.waiting(), 0U);
  EXPECT_EQ(to.waiting(), 4U);
}

TEST_P(enlist_of_kind, with_autocommit_each_operation_commits_by_itself) {
  any_queue mail = make("mail");
  const auto session = here().session();
  tableq::enlistment mine = enlist(db(), *session, tableq::autocommit);
  mail.in(mine).put("at once");
  EXPECT_EQ(mail.waiting(), 1U);
  EXPECT_EQ(mail.in(mine).take()->payload, "at once");
  EXPECT_EQ(mail.waiting(), 0U);
  EXPECT_FALSE(here().held());
}

TEST_P(enlist_of_kind, temporary_tables_of_the_same_name_get_nothing) {
  any_queue mail = make("mail");
  mail.put("first");
  const auto session = here().session();
  for (const char* table : {"mail", "tableq_queues", "tableq_limits"}) {
    const auto made = here().shadow_sql(table);
    if (!made) GTEST_SKIP() << "this database has no such tables";
    *session << *made;
  }
  {
    soci::transaction mine(*session);
    tableq::enlistment joined = enlist(db(), *session);
    mail.in(joined).put("second");
    const auto taken = mail.in(joined).take();
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->payload, kind() == tableq::kind::lifo ? "second" : "first");
    mine.commit();
  }
  EXPECT_EQ(mail.waiting(), 1U);
  EXPECT_TRUE(mail.take());
  int kept = -1;
  *session << "SELECT count(*) FROM mail", soci::into(kept);
  EXPECT_EQ(kept, 0) << "in the session's own table";
}

TEST_P(enlist_of_kind, a_transaction_of_tableq_passes_temporary_tables_too) {
  any_queue mail = make("mail");
  auto tx = db().begin();
  const auto made = here().shadow_sql("mail");
  if (!made) GTEST_SKIP() << "this database has no such tables";
  tableq::session_of(tx) << *made;
  mail.in(tx).put("stored");
  tx.commit();
  EXPECT_EQ(open().queues().size(), 1U);
  auto other = open();
  EXPECT_EQ(any_queue(other, kind(), "mail").take()->payload, "stored");
}

TEST_P(enlist_of_kind, a_session_that_looks_for_tables_elsewhere_reaches_the_queue) {
  const auto away = here().look_elsewhere_sql();
  if (!away) GTEST_SKIP() << "sessions of this database cannot";
  any_queue mail = make("mail");
  const auto session = here().session();
  *session << *away;
  soci::transaction mine(*session);
  tableq::enlistment joined = enlist(db(), *session);
  mail.in(joined).put("second");
  EXPECT_EQ(mail.in(joined).take()->payload, "second");
  mail.in(joined).put("third");
  mine.commit();
  EXPECT_EQ(mail.take()->payload, "third");
}

class enlistment : public on_each_backend {};
TABLEQ_ON_BACKENDS(enlistment, enlisting_backends);

TEST_P(enlistment, can_neither_commit_nor_roll_back) {
  auto orders = db().fifo("orders");
  const auto session = here().session();
  soci::transaction mine(*session);
  tableq::enlistment joined = enlist(db(), *session);
  auto& tx = static_cast<tableq::transaction&>(joined);
  orders.in(tx).enqueue("order 42");
  EXPECT_TRUE(tx.active());
  EXPECT_CODE(invalid_argument, tx.commit());
  EXPECT_CODE(invalid_argument, tx.rollback());
  EXPECT_TRUE(tx.active());
  if (!can().handles) {
    EXPECT_EQ(&tableq::session_of(tx), session.get());
  } else {
    EXPECT_CODE(invalid_argument, static_cast<void>(tableq::session_of(tx)));
  }
  mine.commit();
  EXPECT_EQ(orders.stats().waiting, 1U);
}

TEST_P(enlistment, that_ends_leaves_the_callers_transaction_open) {
  auto orders = db().fifo("orders");
  const auto session = here().session();
  soci::transaction mine(*session);
  { orders.in(enlist(db(), *session)).enqueue("first"); }
  { orders.in(enlist(db(), *session)).enqueue("second"); }
  EXPECT_EQ(orders.stats().waiting, 0U);
  mine.rollback();
  EXPECT_EQ(orders.stats().waiting, 0U);
  EXPECT_FALSE(here().held());
}

TEST_P(enlistment, of_a_closed_session_is_refused) {
  const auto session = here().session();
  session->close();
  EXPECT_CODE(invalid_argument, static_cast<void>(enlist(db(), *session)));
  soci::session never_opened;
  EXPECT_CODE(invalid_argument, static_cast<void>(enlist(db(), never_opened)));
}

TEST_P(enlistment, of_a_session_of_another_database_system_is_refused) {
  bool tried = false;
  for (const backend* other : shared_backends()) {
    if (other == GetParam() || other->missing()) continue;
    const auto elsewhere = other->fresh();
    const auto session = elsewhere->session();
    EXPECT_CODE(invalid_argument, static_cast<void>(enlist(db(), *session)));
    tried = true;
  }
  if (!tried) GTEST_SKIP() << "no other database in this run";
}

TEST_P(enlistment, leaves_nothing_behind_in_the_session) {
  const auto query = here().leftovers_sql();
  if (!query) GTEST_SKIP() << "sessions of this database cannot tell";
  auto jobs = db().claim("jobs");
  const auto session = here().session();
  {
    soci::transaction mine(*session);
    tableq::enlistment joined = enlist(db(), *session);
    jobs.in(joined).enqueue("work");
    for (const auto& each : jobs.in(joined).take(1)) {
      EXPECT_EQ(jobs.in(joined).complete(each.receipt), tableq::settle_result::applied);
    }
    mine.commit();
  }
  EXPECT_EQ(here().sql(*query).at(0).at(0), "0");
  int left = -1;
  session->once << *query, soci::into(left);
  EXPECT_EQ(left, 0);
}

TEST_P(enlistment, keeps_the_statements_that_add_messages_if_it_may) {
  auto jobs = db().claim("jobs");
  const auto session = here().session();
  const auto query = here().leftovers_sql();
  const auto left = [&] {
    int out = 0;
    if (query) *session << *query, soci::into(out);
    return out;
  };
  {
    tableq::enlistment joined = enlist(db(), *session, {.keep_statements = true});
    const auto add = [&](const std::string& payload) {
      soci::transaction mine(*session);
      jobs.in(joined).enqueue(payload);
      mine.commit();
    };
    add("first");
    {
      soci::transaction undone(*session);
      jobs.in(joined).enqueue("undone");
    }
    const int kept = left();
    EXPECT_EQ(kept > 0, query.has_value());
    add("second");
    {
      soci::transaction mine(*session);
      for (const auto& each : jobs.in(joined).take(2)) {
        EXPECT_EQ(jobs.in(joined).complete(each.receipt), tableq::settle_result::applied);
      }
      mine.commit();
    }
    add("third");
    EXPECT_EQ(left(), kept);
  }
  EXPECT_EQ(left(), 0);
  EXPECT_EQ(payloads_of(jobs.take(9)), (std::vector<std::string>{"third"}));
}

TEST_P(enlistment, that_is_kept_is_no_open_transaction_between_transactions) {
  auto kept = db_with_clock().claim(
      "kept", {.keep_completed = true, .retention = tableq::retention{.done = 1h}});
  const auto session = here().session();
  for (const tableq::enlist_options options :
       {tableq::enlist_options{.keep_statements = true}, tableq::autocommit}) {
    soci::transaction first(*session);
    tableq::enlistment joined = enlist(db_with_clock(), *session, options);
    kept.in(joined).enqueue("done");
    first.commit();
    EXPECT_EQ(kept.complete(kept.take(1).at(0).receipt), tableq::settle_result::applied);
    clock.advance(2h);
    {
      soci::transaction second(*session);
      EXPECT_TRUE(kept.in(joined).take(1).empty());
      if (can().concurrent_writers) {
        EXPECT_TRUE(kept.take(1).empty());
      }
      EXPECT_EQ(kept.stats().done, 1U);
    }
    EXPECT_TRUE(kept.take(1).empty());
    EXPECT_EQ(kept.stats().done, 0U);
  }
}

TEST_P(enlistment, lives_beside_the_callers_own_prepared_statements) {
  auto orders = db().fifo("orders");
  here().sql("CREATE TABLE own (n INTEGER)");
  const auto session = here().session();
  {
    int n = 0;
    soci::statement insert = (session->prepare << "INSERT INTO own VALUES (:n)", soci::use(n));
    for (n = 1; n <= 3; ++n) {
      soci::transaction mine(*session);
      insert.execute(true);
      orders.in(enlist(db(), *session)).enqueue(std::to_string(n));
      mine.commit();
    }
  }
  EXPECT_EQ(here().sql("SELECT count(*) FROM own").at(0).at(0), "3");
  EXPECT_EQ(orders.stats().waiting, 3U);
}

TEST_P(enlistment, meets_a_conflict_once_and_leaves_it_to_the_caller) {
  if (here().conflict_setup().empty()) {
    GTEST_SKIP() << "this database refuses nothing because others changed it";
  }
  auto jobs = db().claim("jobs");
  jobs.enqueue("work");
  const auto session = here().session();
  {
    soci::transaction mine(*session);
    for (const std::string& each : here().conflict_setup()) *session << each;
    const auto taken = jobs.take(1);
    ASSERT_EQ(taken.size(), 1U);
    tableq::enlistment joined = enlist(db(), *session);
    const tableq::error refused =
        thrown_by([&] { static_cast<void>(jobs.in(joined).complete(taken[0].receipt)); });
    EXPECT_TRUE(refused.code() == tableq::errc::conflict || refused.code() == tableq::errc::busy)
        << refused.what();
    if (can().tells_stale_snapshots) {
      EXPECT_EQ(refused.advice(), tableq::advice::transaction) << refused.what();
    } else {
      EXPECT_NE(refused.advice(), tableq::advice::never) << refused.what();
    }
    mine.rollback();
    soci::transaction again(*session);
    EXPECT_EQ(jobs.in(enlist(db(), *session)).complete(taken[0].receipt),
              tableq::settle_result::applied);
    again.commit();
  }
  EXPECT_EQ(jobs.stats().leased, 0U);
}

/// Operations of several statements that fail at a late one, in the session of the application.
class late_failures : public enlistment {
 public:
  void SetUp() override {
    enlistment::SetUp();
    if (IsSkipped()) return;
    static_cast<void>(db().claim("letters"));
    jobs_.emplace(db().claim("jobs", {.max_attempts = 1, .dead_letters = "letters"}));
    jobs_->enqueue("precious");
    jobs_->enqueue("held", {.key = "k"});
    taken_ = jobs_->take_one();
    ASSERT_TRUE(taken_);
    db().drop("letters");
    session_ = here().session();
  }
  void fail_in_a_batch(tableq::enlistment& joined) {
    std::vector<tableq::new_claim_message> batch(3);
    batch[1].options.key = "k";
    batch[1].options.on_duplicate = tableq::on_duplicate::reject;
    EXPECT_CODE(duplicate_key, jobs_->in(joined).enqueue_batch(batch));
  }
  void fail_in_dead_letters(tableq::enlistment& joined) {
    EXPECT_CODE(not_found, static_cast<void>(jobs_->in(joined).fail(*taken_, "no")));
  }
  void expect_nothing_changed() {
    const auto stats = jobs_->stats();
    EXPECT_EQ(stats.ready, 1U) << "a part of the batch is stored";
    EXPECT_EQ(stats.leased, 1U);
    EXPECT_TRUE(jobs_->get(taken_->receipt.id)) << "a dead message is lost";
  }

  std::optional<tableq::claim_queue> jobs_;
  std::optional<tableq::delivery> taken_;
  std::unique_ptr<soci::session> session_;
};

TEST_P(late_failures, change_nothing_with_autocommit) {
  tableq::enlistment joined = enlist(db(), *session_, tableq::autocommit);
  fail_in_a_batch(joined);
  fail_in_dead_letters(joined);
  expect_nothing_changed();
  EXPECT_EQ(jobs_->in(joined).complete(*taken_), tableq::settle_result::applied);
}

TEST_P(late_failures, change_nothing_even_if_the_caller_commits) {
  for (const auto fail : {&late_failures::fail_in_a_batch, &late_failures::fail_in_dead_letters}) {
    soci::transaction mine(*session_);
    tableq::enlistment joined = enlist(db(), *session_);
    (this->*fail)(joined);
    mine.commit();
  }
  expect_nothing_changed();
}
TABLEQ_ON_BACKENDS(late_failures, enlisting_backends);

TEST_P(late_failures, of_one_transaction_leave_the_enlistment_usable) {
  soci::transaction first(*session_);
  tableq::enlistment joined = enlist(db(), *session_);
  tableq::enlistment alone = enlist(db(), *session_, tableq::autocommit);
  fail_in_a_batch(joined);
  fail_in_a_batch(alone);
  first.rollback();
  jobs_->in(alone).enqueue("stored");
  soci::transaction second(*session_);
  jobs_->in(joined).enqueue("stored, too");
  second.commit();
  EXPECT_EQ(jobs_->stats().ready, 3U);
}

TEST_P(enlistment, hands_out_messages_although_an_expired_one_cannot_move) {
  for (const bool alone : {false, true}) {
    for (const bool metered : {false, true}) {
      SCOPED_TRACE(testing::Message() << "autocommit " << alone << ", metered " << metered);
      static_cast<void>(db_with_clock().claim("letters"));
      auto jobs = db_with_clock().claim("jobs", {.dead_letters = "letters"});
      if (metered) jobs.set_limits({.concurrency = 10});
      const auto expired = jobs.enqueue("expired", {.time_to_live = 1s});
      jobs.enqueue("good");
      clock.advance(2s);
      db_with_clock().drop("letters");
      const auto session = here().session();
      std::optional<soci::transaction> mine;
      if (!alone) mine.emplace(*session);
      tableq::enlistment joined = alone ? enlist(db_with_clock(), *session, tableq::autocommit)
                                        : enlist(db_with_clock(), *session);
      const auto got = jobs.in(joined).take(10);
      ASSERT_EQ(got.size(), 1U);
      EXPECT_EQ(got[0].payload, "good");
      if (mine) mine->commit();
      EXPECT_EQ(jobs.complete(got[0]), tableq::settle_result::applied);
      EXPECT_TRUE(jobs.get(expired.id)) << "a message without a dead-letter queue is lost";
      db_with_clock().drop("jobs");
    }
  }
}

}  // namespace
