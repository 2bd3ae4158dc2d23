#include <gtest/gtest.h>
#include <soci/soci.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Runs `work` as the function of a transaction.
void within(tableq::database& db, const std::function<void(tableq::transaction&)>& work) {
  db.transact([&](tableq::transaction& tx) { work(tx); });
}

void expect_refused(const std::vector<std::function<void()>>& calls, const std::string& advised) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    const tableq::error refused = thrown_by(calls[i]);
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    EXPECT_TRUE(contains(refused.what(), advised)) << refused.what();
  }
}

class beside_transact_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(beside_transact_of_kind, all_backends);

TEST_P(beside_transact_of_kind, a_call_that_forgets_the_transaction_is_refused_at_once) {
  any_queue mail = make("mail");
  mail.put("there");
  within(db(), [&](tableq::transaction& tx) {
    expect_refused({[&] { mail.put("lost"); },
                    [&] {
                      mail.put_all({"lost", "too"});
                    },
                    [&] { static_cast<void>(mail.take()); }},
                   "queue.in(tx)");
    mail.in(tx).put("stored");
  });
  EXPECT_EQ(mail.waiting(), 2U);
}

TEST_P(beside_transact_of_kind, looks_go_on) {
  if (!can().shared) GTEST_SKIP() << "the transaction holds the only session";
  any_queue mail = make("mail");
  mail.put("there");
  within(db(), [&](tableq::transaction& tx) {
    mail.in(tx).put("not yet");
    EXPECT_EQ(mail.waiting(), 1U);
    EXPECT_EQ(mail.peek(5), std::vector<std::string>{"there"});
    EXPECT_FALSE(mail.base().paused());
    EXPECT_EQ(mail.base().limits(), tableq::queue_limits());
    EXPECT_EQ(db().queues().size(), 1U);
    EXPECT_TRUE(make("mail").peek(1).size() == 1) << "a queue that is there opens";
  });
}

TEST_P(beside_transact_of_kind, outside_does_it_whatever_becomes_of_the_transaction) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  any_queue mail = make("mail");
  any_queue log = make("log");
  EXPECT_THROW(within(db(),
                      [&](tableq::transaction& tx) {
                        mail.in(tx).put("undone");
                        log.outside().put("tried");
                        throw std::domain_error("the application's own");
                      }),
               std::domain_error);
  EXPECT_EQ(mail.waiting(), 0U);
  EXPECT_EQ(log.take()->payload, "tried");
}

TEST_P(beside_transact_of_kind, the_refusals_end_with_the_function) {
  any_queue mail = make("mail");
  within(db(), [](tableq::transaction& /*tx*/) {});
  mail.put("after a commit");
  EXPECT_THROW(
      within(db(), [](tableq::transaction& /*tx*/) { throw std::domain_error("its own"); }),
      std::domain_error);
  mail.put("after a rollback");
  EXPECT_EQ(mail.waiting(), 2U);
}

class beside_transact : public on_each_backend {};
TABLEQ_ON_BACKENDS(beside_transact, all_backends);

TEST_P(beside_transact, a_claim_queue_refuses_what_changes_it_or_belongs_into_the_transaction) {
  auto jobs = db().claim("jobs");
  const tableq::message_id id = jobs.enqueue("there", {.key = "k"}).id;
  const auto taken = jobs.take_one();
  ASSERT_TRUE(taken);
  const bool shared = can().shared;
  const auto done = [](const tableq::delivery& /*taken*/) {};
  within(db(), [&](tableq::transaction& tx) {
    expect_refused({[&] { jobs.enqueue("x"); },
                    [&] {
                      jobs.enqueue_batch({{"x"}, {"y"}});
                    },
                    [&] { static_cast<void>(jobs.take(1)); },
                    [&] { static_cast<void>(jobs.take_one({.wait = for_ever})); },
                    [&] { static_cast<void>(jobs.complete(*taken)); },
                    [&] { static_cast<void>(jobs.fail(*taken, "no")); },
                    [&] { static_cast<void>(jobs.release(*taken)); },
                    [&] { static_cast<void>(jobs.extend(*taken, 1s)); },
                    [&] { static_cast<void>(jobs.get(id)); },
                    [&] { static_cast<void>(jobs.find("k")); }, [&] { jobs.cancel(id); },
                    [&] { jobs.set_priority(id, 1); }, [&] { tableq::drain(jobs, done); }},
                   "queue.in(tx)");
    expect_refused(
        {[&] { static_cast<void>(jobs.enqueue_async("x")); }, [&] { jobs.redrive({id}); },
         [&] { jobs.redrive_all(); }, [&] { jobs.purge(tableq::message_state::dead); },
         [&] { jobs.pause(); }, [&] { jobs.resume(); }, [&] { jobs.set_limits({}); },
         [&] { const tableq::worker working(jobs, done); }},
        shared ? "queue.outside()" : "before or after");
    EXPECT_EQ(jobs.in(tx).complete(*taken), tableq::settle_result::applied);
  });
  EXPECT_EQ(jobs.stats().leased, 0U);
}

TEST_P(beside_transact, the_database_refuses_what_it_does_not_do_inside) {
  static_cast<void>(db().fifo("mail"));
  within(db(), [&](tableq::transaction& /*tx*/) {
    expect_refused({[&] { static_cast<void>(db().begin()); },
                    [&] { db().transact([](tableq::transaction& /*tx*/) {}); },
                    [&] { db().drop("mail"); }, [&] { static_cast<void>(db().heap("made")); }},
                   can().shared ? "database.outside()" : "before or after");
  });
  EXPECT_EQ(db().queues().size(), 1U);
}

TEST_P(beside_transact, outside_of_the_database_begins_another_transaction) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto mail = db().fifo("mail");
  within(db(), [&](tableq::transaction& tx) {
    mail.in(tx).enqueue("one");
    db().outside().transact([&](tableq::transaction& other) { mail.in(other).enqueue("two"); });
    EXPECT_EQ(mail.stats().waiting, 1U);
    static_cast<void>(db().outside().heap("made"));
    EXPECT_TRUE(db().outside().drop("made"));
  });
  EXPECT_EQ(mail.stats().waiting, 2U);
}

TEST_P(beside_transact, the_only_session_is_not_waited_for) {
  auto narrow = open({.max_sessions = 1});
  auto mail = narrow.fifo("mail");
  within(narrow, [&](tableq::transaction& tx) {
    expect_refused({[&] { static_cast<void>(mail.peek()); }, [&] { mail.outside().enqueue("x"); },
                    [&] { static_cast<void>(narrow.queues()); },
                    [&] { static_cast<void>(narrow.outside().begin()); }},
                   "only session");
    mail.in(tx).enqueue("stored");
  });
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(beside_transact, other_threads_and_other_databases_go_on) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto mail = db().fifo("mail");
  auto other = open();
  auto same = other.fifo("mail");
  within(db(), [&](tableq::transaction& tx) {
    mail.in(tx).enqueue("here");
    same.enqueue("by another database object");
    std::jthread([&] { mail.enqueue("in another thread"); }).join();
  });
  EXPECT_EQ(mail.stats().waiting, 3U);
}

TEST_P(beside_transact, the_function_cannot_end_its_transaction) {
  auto mail = db().fifo("mail");
  db().transact([&](tableq::transaction& tx) {
    mail.in(tx).enqueue("once");
    const tableq::error refused = thrown_by([&] { tx.commit(); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
    EXPECT_TRUE(contains(refused.what(), "throw to undo")) << refused.what();
    EXPECT_CODE(invalid_argument, tx.rollback());
    EXPECT_TRUE(tx.active());
  });
  EXPECT_EQ(mail.stats().waiting, 1U);
}

class beside_begin_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(beside_begin_of_kind, all_backends);

TEST_P(beside_begin_of_kind, a_call_that_forgets_the_transaction_is_refused_at_once) {
  any_queue mail = make("mail");
  mail.put("there");
  tableq::transaction tx = db().begin();
  expect_refused({[&] { mail.put("lost"); },
                  [&] {
                    mail.put_all({"lost", "too"});
                  },
                  [&] { static_cast<void>(mail.take()); }},
                 "queue.in(tx)");
  mail.in(tx).put("stored");
  tx.commit();
  EXPECT_EQ(mail.waiting(), 2U);
}

TEST_P(beside_begin_of_kind, the_refusals_end_with_the_transaction) {
  any_queue mail = make("mail");
  tableq::transaction committed = db().begin();
  committed.commit();
  mail.put("after a commit");
  tableq::transaction undone = db().begin();
  undone.rollback();
  mail.put("after a rollback");
  { const tableq::transaction dropped = db().begin(); }
  mail.put("after its destructor");
  EXPECT_EQ(mail.waiting(), 3U);
}

class beside_begin : public on_each_backend {};
TABLEQ_ON_BACKENDS(beside_begin, all_backends);

TEST_P(beside_begin, outside_and_another_transaction_are_for_those_who_mean_it) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto mail = db().fifo("mail");
  tableq::transaction undone = db().begin();
  mail.in(undone).enqueue("undone");
  mail.outside().enqueue("beside");
  tableq::transaction other = db().begin();
  mail.in(other).enqueue("another");
  db().outside().transact([&](tableq::transaction& third) { mail.in(third).enqueue("third"); });
  other.commit();
  EXPECT_CODE(invalid_argument, mail.enqueue("the first one is still open"));
  undone.rollback();
  EXPECT_EQ(mail.stats().waiting, 3U);
}

TEST_P(beside_begin, only_the_thread_that_used_the_transaction_last_is_refused) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto mail = db().fifo("mail");
  auto same = open().fifo("mail");
  tableq::transaction tx = db().begin();
  std::jthread([&] { mail.enqueue("by a thread without a transaction"); }).join();
  same.enqueue("by another database object");
  std::jthread([&] {
    mail.in(tx).enqueue("inside");
    EXPECT_CODE(invalid_argument, mail.enqueue("lost"));
  }).join();
  mail.enqueue("here it is no longer");
  tableq::transaction moved = std::move(tx);
  mail.in(moved).enqueue("here again");
  EXPECT_CODE(invalid_argument, mail.enqueue("lost"));
  std::jthread([&] { moved.commit(); }).join();
  mail.enqueue("ended elsewhere");
  EXPECT_EQ(mail.stats().waiting, 6U);
}

TEST_P(beside_begin, a_thread_that_serves_several_transactions_is_refused_nothing) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto loop = open({.refuses_beside_begin = false});
  auto mail = loop.fifo("mail");
  tableq::transaction tx = loop.begin();
  mail.in(tx).enqueue("inside");
  mail.enqueue("beside");
  loop.transact([&](tableq::transaction& /*own*/) {
    EXPECT_CODE(invalid_argument, mail.enqueue("in the function of a transaction always"));
  });
  tx.rollback();
  EXPECT_EQ(mail.dequeue()->payload, "beside");
}

TEST_P(beside_begin, a_handler_of_drain_may_leave_a_transaction_open) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto jobs = db().claim("jobs");
  for (const std::string& each : numbered(3)) jobs.enqueue(each);
  std::optional<tableq::transaction> tx;
  EXPECT_EQ(tableq::drain(jobs,
                          [&](const tableq::delivery& taken) {
                            if (!tx) tx.emplace(db().begin());
                            static_cast<void>(jobs.in(*tx).complete(taken));
                            return tableq::handled::settled();
                          }),
            3U);
  tx->commit();
  EXPECT_EQ(jobs.stats().leased, 0U);
}

class waiting_for_itself : public on_each_backend {};
TABLEQ_ON_BACKENDS(waiting_for_itself, shared_backends);

TEST_P(waiting_for_itself, says_so_when_the_transaction_is_of_tableq) {
  if (can().concurrent_writers) GTEST_SKIP() << "writers of this database do not wait";
  auto impatient = tableq::database::open(here().impatient_url(), {.retry_for = 1ms});
  auto mail = impatient.fifo("mail");
  const auto tx = impatient.begin();
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { mail.outside().enqueue("stuck"); },
           [&] { static_cast<void>(impatient.begin()); },
           [&] { impatient.outside().drop("mail"); },
       }) {
    const tableq::error refused = thrown_by(call);
    EXPECT_EQ(refused.code(), tableq::errc::busy) << refused.what();
    EXPECT_TRUE(contains(refused.what(), "this thread has an open one")) << refused.what();
    EXPECT_TRUE(contains(refused.what(), "queue.in(tx)")) << refused.what();
  }
}

TEST_P(waiting_for_itself, says_so_when_the_transaction_is_of_an_enlisted_session) {
  if (can().concurrent_writers) GTEST_SKIP() << "writers of this database do not wait";
  auto impatient = tableq::database::open(here().impatient_url(), {.retry_for = 1ms});
  auto mail = impatient.fifo("mail");
  const auto session = here().session();
  const auto second = here().session();
  *second << "PRAGMA busy_timeout = 20";  // not ten seconds
  const auto refused_with = [](const std::string& advised, const std::function<void()>& call) {
    const tableq::error refused = thrown_by(call);
    EXPECT_EQ(refused.code(), tableq::errc::busy) << refused.what();
    EXPECT_TRUE(contains(refused.what(), advised)) << refused.what();
  };
  {
    soci::transaction mine(*session);
    {
      tableq::enlistment joined = tableq::enlist(impatient, *session);
      mail.in(joined).enqueue("inside");
      refused_with("this thread has an open one", [&] { mail.enqueue("stuck"); });
    }
    const std::string advised = "queue.in(enlist(db, session)), or commit";
    refused_with(advised, [&] { mail.enqueue("stuck"); });
    refused_with(advised, [&] { static_cast<void>(impatient.begin()); });
    refused_with(advised, [&] { static_cast<void>(impatient.heap("made")); });
    soci::transaction other(*second);
    refused_with(advised, [&] { mail.in(tableq::enlist(impatient, *second)).enqueue("stuck"); });
    other.rollback();
    mail.in(tableq::enlist(impatient, *session)).enqueue("inside");
    mine.commit();
  }
  mail.enqueue("afterwards");
  EXPECT_EQ(mail.stats().waiting, 3U);
}

}  // namespace
