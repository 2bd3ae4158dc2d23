#include <gtest/gtest.h>
#include <soci/soci.h>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class transaction_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(transaction_of_kind, all_backends);

TEST_P(transaction_of_kind, rolled_back_enqueue_is_no_message) {
  any_queue mail = make("mail");
  tableq::transaction tx = db().begin();
  mail.in(tx).put("single");
  mail.in(tx).put_all(numbered(10));
  tx.rollback();
  EXPECT_FALSE(mail.take());
}

TEST_P(transaction_of_kind, rolled_back_dequeue_returns_the_message) {
  any_queue mail = make("mail");
  mail.put_all(numbered(3));
  const auto before = mail.peek(3);
  {
    tableq::transaction tx = db().begin();
    EXPECT_TRUE(mail.in(tx).take());
    EXPECT_EQ(mail.in(tx).take_up_to(10).size(), 2U);
    EXPECT_FALSE(mail.in(tx).take());
    tx.rollback();
  }
  EXPECT_EQ(mail.waiting(), 3U);
  EXPECT_EQ(payloads_of(mail.take_up_to(3)), before);
}

TEST_P(transaction_of_kind, reads_what_it_enqueued_itself) {
  any_queue mail = make("mail");
  tableq::transaction tx = db().begin();
  mail.in(tx).put("own");
  EXPECT_EQ(mail.in(tx).take()->payload, "own");
  tx.commit();
  EXPECT_FALSE(mail.take());
}

TEST_P(transaction_of_kind, moves_messages_between_kinds_or_does_nothing) {
  any_queue from = make("from");
  for (const tableq::kind each : all_kinds()) {
    any_queue to(db(), each, "to_" + std::string(tableq::to_string(each)));
    from.put("moved");
    {
      tableq::transaction undone = db().begin();
      to.in(undone).put(from.in(undone).take()->payload);
    }
    EXPECT_EQ(from.waiting(), 1U);
    EXPECT_EQ(to.waiting(), 0U);
    {
      tableq::transaction done = db().begin();
      to.in(done).put(from.in(done).take()->payload);
      done.commit();
    }
    EXPECT_EQ(from.waiting(), 0U);
    EXPECT_EQ(to.take()->payload, "moved");
  }
}

class transaction : public on_each_backend {};
TABLEQ_ON_BACKENDS(transaction, all_backends);

TEST_P(transaction, used_after_its_end_is_refused) {
  for (const bool commits : {true, false}) {
    tableq::transaction tx = db().begin();
    EXPECT_TRUE(tx.active());
    commits ? tx.commit() : tx.rollback();
    auto mail = db().fifo("mail");
    auto jobs = db().claim("jobs");
    EXPECT_FALSE(tx.active());
    EXPECT_CODE(invalid_argument, tx.commit());
    EXPECT_CODE(invalid_argument, mail.in(tx).enqueue("late"));
    EXPECT_CODE(invalid_argument, static_cast<void>(mail.in(tx).dequeue()));
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs.in(tx).take(1)));
    EXPECT_CODE(invalid_argument, static_cast<void>(tableq::session_of(tx)));
    EXPECT_NO_THROW(tx.rollback());
    EXPECT_EQ(mail.stats().waiting, 0U);
  }
}

TEST_P(transaction, goes_on_after_a_call_that_was_refused_before_it_was_sent) {
  auto mail = db().fifo("mail");
  tableq::transaction tx = db().begin();
  mail.in(tx).enqueue("first");
  EXPECT_CODE(invalid_argument, static_cast<void>(mail.in(tx).dequeue_batch(0)));
  mail.in(tx).enqueue("second");
  tx.commit();
  EXPECT_EQ(mail.stats().waiting, 2U);
}

TEST_P(transaction, does_not_commit_after_a_failed_operation) {
  auto mail = db().fifo("mail");
  auto gone = db().fifo("gone");
  EXPECT_TRUE(db().drop("gone"));
  {
    tableq::transaction tx = db().begin();
    mail.in(tx).enqueue("half");
    EXPECT_CODE(not_found, gone.in(tx).enqueue("nowhere"));
    EXPECT_CODE(invalid_argument, tx.commit());
  }
  EXPECT_EQ(mail.stats().waiting, 0U);
}

TEST_P(transaction, keeps_its_database_alive) {
  std::optional<tableq::fifo_queue> mail;
  std::optional<tableq::transaction> tx;
  {
    tableq::database short_lived = open();
    mail = short_lived.fifo("mail");
    tx = short_lived.begin();
  }
  mail->in(*tx).enqueue("survives");
  tx->commit();
  EXPECT_EQ(mail->dequeue()->payload, "survives");
}

TEST_P(transaction, carries_own_statements_of_the_application) {
  auto mail = db().fifo("mail");
  {
    tableq::transaction tx = db().begin();
    tableq::session_of(tx) << "CREATE TABLE orders (n INTEGER)";
    tx.commit();
  }
  const auto orders = [this] {
    tableq::transaction tx = db().begin();
    int count = -1;
    tableq::session_of(tx) << "SELECT count(*) FROM orders", soci::into(count);
    return count;
  };
  {
    tableq::transaction tx = db().begin();
    tableq::session_of(tx) << "INSERT INTO orders VALUES (1)";
    mail.in(tx).enqueue("order 1");
  }
  EXPECT_EQ(orders(), 0);
  EXPECT_EQ(mail.stats().waiting, 0U);
  {
    tableq::transaction tx = db().begin();
    tableq::session_of(tx) << "INSERT INTO orders VALUES (1)";
    mail.in(tx).enqueue("order 1");
    tx.commit();
  }
  EXPECT_EQ(orders(), 1);
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(transaction, undoes_a_take_and_every_settlement) {
  auto jobs = db().claim("jobs");
  jobs.enqueue("work");
  {
    tableq::transaction tx = db().begin();
    EXPECT_EQ(jobs.in(tx).take(1).size(), 1U);
  }
  const auto taken = jobs.take(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].attempt, 1);
  const auto& receipt = taken[0].receipt;
  {
    tableq::transaction tx = db().begin();
    EXPECT_EQ(jobs.in(tx).complete(receipt), tableq::settle_result::applied);
    EXPECT_EQ(jobs.in(tx).complete(receipt), tableq::settle_result::lease_lost);
  }
  {
    tableq::transaction tx = db().begin();
    EXPECT_EQ(jobs.in(tx).fail(receipt, "undone"), tableq::settle_result::applied);
  }
  {
    tableq::transaction tx = db().begin();
    EXPECT_EQ(jobs.in(tx).extend(receipt, 1h), tableq::settle_result::applied);
    EXPECT_EQ(jobs.in(tx).release(receipt), tableq::settle_result::applied);
  }
  EXPECT_EQ(jobs.complete(receipt), tableq::settle_result::applied);
}

class shared_transaction : public on_each_kind {};
TABLEQ_ON_KINDS(shared_transaction, shared_backends);

TEST_P(shared_transaction, is_invisible_to_others_until_it_commits) {
  any_queue mail = make("mail");
  mail.put("there");
  auto elsewhere = open();
  const any_queue seen(elsewhere, kind(), "mail");
  tableq::transaction tx = db().begin();
  EXPECT_EQ(mail.in(tx).take()->payload, "there");
  mail.in(tx).put("new");
  std::vector<std::string> before;
  if (can().shows_held_messages) before = {"there"};
  EXPECT_EQ(seen.peek(10), before);
  tx.commit();
  EXPECT_EQ(seen.peek(10), (std::vector<std::string>{"new"}));
}

TEST_P(shared_transaction, holds_up_nobody_who_reads_another_message) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  any_queue mail = make("mail");
  mail.put_all(numbered(2));
  // Others do not wait for locks: at a lock they fail.
  auto hurried = tableq::database::open(here().impatient_url(), {.retry_for = 0ms});
  any_queue others(hurried, kind(), "mail");
  tableq::transaction first = db().begin();
  tableq::transaction second = hurried.begin();
  const auto one = mail.in(first).take();
  const auto other = others.in(second).take();
  ASSERT_TRUE(one && other);
  EXPECT_NE(one->payload, other->payload);
  tableq::transaction third = hurried.begin();
  EXPECT_FALSE(others.in(third).take());
  first.rollback();
  EXPECT_EQ(others.in(third).take()->payload, one->payload);
}

}  // namespace
