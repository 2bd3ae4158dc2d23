#include <gtest/gtest.h>
#include <soci/soci.h>

#include <functional>
#include <string>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class enlisted_session : public on_each_backend {
 protected:
  void expect_refused(const std::function<void()>& call, const std::string& words) {
    const tableq::error refused = thrown_by(call);
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    EXPECT_TRUE(contains(refused.what(), words)) << refused.what();
  }
};
TABLEQ_ON_BACKENDS(enlisted_session, enlisting_backends);

TEST_P(enlisted_session, without_a_transaction_is_refused) {
  auto mail = db().fifo("mail");
  const auto session = here().session();
  expect_refused([&] { static_cast<void>(enlist(db(), *session)); }, "with autocommit");
  soci::transaction first(*session);
  tableq::enlistment joined = enlist(db(), *session);
  mail.in(joined).enqueue("in the first");
  first.commit();
  expect_refused([&] { mail.in(joined).enqueue("lost"); }, "begin one first");
  soci::transaction second(*session);
  mail.in(joined).enqueue("in the second");
  second.commit();
  EXPECT_EQ(mail.stats().waiting, 2U);
}

TEST_P(enlisted_session, of_another_database_is_refused) {
  if (can().schemas) GTEST_SKIP() << "places of tests are schemas of one database";
  auto mail = db().fifo("mail");
  const auto elsewhere = GetParam()->fresh();
  auto same_name = tableq::database::open(elsewhere->url()).fifo("mail");
  const auto session = elsewhere->session();
  soci::transaction mine(*session);
  expect_refused([&] { static_cast<void>(enlist(db(), *session)); }, "another database");
  mine.rollback();
  expect_refused([&] { static_cast<void>(enlist(db(), *session, tableq::autocommit)); },
                 "another database");
  EXPECT_EQ(same_name.stats().waiting, 0U);
}

TEST_P(enlisted_session, by_another_name_of_the_database_is_welcome) {
  static_cast<void>(db().fifo("mail"));
  for (const std::string& url : here().other_forms()) {
    auto other = tableq::database::open(url);
    if (other.backend() != db().backend()) continue;
    auto mail = other.fifo("mail");
    const auto session = here().session();
    soci::transaction mine(*session);
    try {
      mail.in(enlist(other, *session)).enqueue("stored");
    } catch (const tableq::error& refused) {
      EXPECT_TRUE(contains(refused.what(), "another backend")) << url << ": " << refused.what();
      continue;
    }
    mine.commit();
    EXPECT_TRUE(mail.dequeue());
  }
}

TEST_P(enlisted_session, that_was_closed_is_refused) {
  if (can().handles) GTEST_SKIP() << "nothing tells that a handle was freed";
  auto mail = db().fifo("mail");
  const auto session = here().session();
  tableq::enlistment joined = enlist(db(), *session, tableq::autocommit);
  mail.in(joined).enqueue("stored");
  session->close();
  expect_refused([&] { mail.in(joined).enqueue("lost"); }, "closed");
  EXPECT_EQ(mail.stats().waiting, 1U);
}

class opened_session : public on_each_backend {};
TABLEQ_ON_BACKENDS(opened_session, all_backends);

TEST_P(opened_session, is_connected_to_the_same_database) {
  auto mail = db().fifo("mail");
  soci::session session;
  if (!can().shared) {
    EXPECT_CODE(unsupported, tableq::open_session(db(), session));
    return;
  }
  tableq::open_session(db(), session);
  {
    soci::transaction mine(session);
    session << "CREATE TABLE orders (n INTEGER)";
    mail.in(enlist(db(), session)).enqueue("order 42");
    mine.commit();
  }
  EXPECT_EQ(mail.dequeue()->payload, "order 42");
  EXPECT_EQ(here().sql("SELECT count(*) FROM orders").at(0).at(0), "0");
  EXPECT_CODE(invalid_argument, tableq::open_session(db(), session));
}

class session_of_transaction : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (can().second_way) GTEST_SKIP() << "this client library does not tell of a plain COMMIT";
  }
};
TABLEQ_ON_BACKENDS(session_of_transaction, all_backends);

TEST_P(session_of_transaction, that_ended_it_stores_nothing_more) {
  auto mail = db().fifo("mail");
  for (const char* end : {"ROLLBACK", "COMMIT"}) {
    SCOPED_TRACE(end);
    tableq::transaction tx = db().begin();
    auto in_tx = mail.in(tx);
    in_tx.enqueue(end);
    tableq::session_of(tx) << end;
    for (const std::function<void()>& call :
         {std::function<void()>([&] { in_tx.enqueue("lost"); }),
          std::function<void()>([&] { static_cast<void>(in_tx.dequeue()); }),
          std::function<void()>([&] { tx.commit(); })}) {
      const tableq::error refused = thrown_by(call);
      EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
      EXPECT_TRUE(contains(refused.what(), "the transaction has ended: by a COMMIT or ROLLBACK"))
          << refused.what();
    }
    tx.rollback();
  }
  EXPECT_EQ(payloads_of(mail.dequeue_batch(5)), std::vector<std::string>{"COMMIT"});
  EXPECT_FALSE(here().held());
}

/// The application's own statement fails, and its error is caught.
class caught_failure : public on_each_backend {};
TABLEQ_ON_BACKENDS(caught_failure, all_backends);

TEST_P(caught_failure, lets_the_function_run_once) {
  auto mail = db().fifo("mail");
  int runs = 0;
  const auto work = [&](tableq::transaction& tx) {
    ++runs;
    EXPECT_THROW(tableq::session_of(tx) << "INSERT INTO no_such_table VALUES (1)",
                 soci::soci_error);
    mail.in(tx).enqueue("after it");
  };
  try {
    db().transact(work);
    EXPECT_EQ(mail.dequeue()->payload, "after it");
  } catch (const tableq::error& refused) {
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    EXPECT_TRUE(contains(refused.what(), "failed") || contains(refused.what(), "has ended"))
        << refused.what();
    EXPECT_FALSE(mail.dequeue());
  }
  EXPECT_EQ(runs, 1);
}

}  // namespace
