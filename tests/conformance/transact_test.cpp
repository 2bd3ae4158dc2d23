#include <gtest/gtest.h>
#include <soci/soci.h>

#include <atomic>
#include <barrier>
#include <thread>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class transact : public on_each_backend {};
TABLEQ_ON_BACKENDS(transact, all_backends);

TEST_P(transact, commits_and_returns_what_the_function_returns) {
  auto mail = db().fifo("mail");
  auto audit = db().fifo("audit");
  mail.enqueue("work");
  const std::string moved = db().transact([&](tableq::transaction& tx) {
    const auto taken = mail.in(tx).dequeue();
    audit.in(tx).enqueue(taken->payload);
    return taken->payload;
  });
  EXPECT_EQ(moved, "work");
  EXPECT_EQ(mail.stats().waiting, 0U);
  EXPECT_EQ(audit.dequeue()->payload, "work");
}

TEST_P(transact, rolls_back_and_passes_on_what_the_function_throws) {
  auto mail = db().fifo("mail");
  mail.enqueue("work");
  int runs = 0;
  EXPECT_THROW(db().transact([&](tableq::transaction& tx) {
    ++runs;
    EXPECT_TRUE(mail.in(tx).dequeue());
    throw std::domain_error("the application's own");
  }),
               std::domain_error);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(transact, does_not_repeat_what_is_no_conflict) {
  auto gone = db().fifo("gone");
  EXPECT_TRUE(db().drop("gone"));
  int runs = 0;
  EXPECT_CODE(not_found, db().transact([&](tableq::transaction& tx) {
    ++runs;
    gone.in(tx).enqueue("nowhere");
  }));
  EXPECT_EQ(runs, 1);
}

TEST_P(transact, works_from_many_threads) {
  auto from = db().claim("from");
  auto to = db().heap("to");
  std::vector<tableq::new_claim_message> many(200, {.payload = "x"});
  EXPECT_EQ(from.enqueue_batch(many).size(), 200U);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (db().transact([&](tableq::transaction& tx) {
          const auto taken = from.in(tx).take(1);
          if (taken.empty()) return false;
          to.in(tx).enqueue(taken[0].payload);
          return from.in(tx).complete(taken[0].receipt) == tableq::settle_result::applied;
        })) {
        }
      });
    }
  }
  EXPECT_EQ(from.stats().ready + from.stats().leased, 0U);
  EXPECT_EQ(to.stats().waiting, 200U);
}

class conflicts : public on_each_backend {
 protected:
  static constexpr const char* none = "this database refuses nothing because others changed it";
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!can().concurrent_writers) {
      GTEST_SKIP() << "writers of this database wait for each other before they begin";
    }
  }
  /// Makes `tx` conflict with every later change.
  void look_before(tableq::transaction& tx) {
    for (const std::string& each : here().conflict_setup()) tableq::session_of(tx) << each;
  }
};
TABLEQ_ON_BACKENDS(conflicts, shared_backends);

TEST_P(conflicts, a_conflict_is_repeated_from_the_start) {
  if (here().conflict_setup().empty()) GTEST_SKIP() << none;
  auto mail = db().fifo("mail");
  auto jobs = db().claim("jobs");
  jobs.enqueue("work");
  int runs = 0;
  const auto outcome = db().transact([&](tableq::transaction& tx) {
    ++runs;
    mail.in(tx).enqueue("run " + std::to_string(runs));
    const auto taken = jobs.outside().take(1);
    if (taken.empty()) return tableq::settle_result::lease_lost;
    return jobs.outside().release(taken[0].receipt);
  });
  EXPECT_EQ(outcome, tableq::settle_result::applied);

  runs = 0;
  EXPECT_EQ(mail.dequeue()->payload, "run 1");
  const auto settled = db().transact([&](tableq::transaction& tx) {
    ++runs;
    if (runs == 1) look_before(tx);
    mail.in(tx).enqueue("run " + std::to_string(runs));
    if (runs > 1) return tableq::settle_result::applied;
    const auto taken = jobs.outside().take(1);  // It commits after the first read of this
                                                // transaction.
    return jobs.in(tx).complete(taken.at(0).receipt);
  });
  EXPECT_EQ(settled, tableq::settle_result::applied);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(payloads_of(mail.dequeue_batch(10)), (std::vector<std::string>{"run 2"}));
  EXPECT_EQ(jobs.stats().leased, 1U);
}

TEST_P(conflicts, repeating_is_bounded) {
  if (here().conflict_setup().empty()) GTEST_SKIP() << none;
  const auto runs_within = [&](std::chrono::milliseconds bound) {
    auto hurried = open({.retry_for = bound});
    auto jobs = hurried.claim("jobs", {.lease = 1ms, .max_attempts = 1'000'000});
    static_cast<void>(jobs.enqueue("work", {.key = "only"}));
    int runs = 0;
    EXPECT_CODE(conflict, hurried.transact([&](tableq::transaction& tx) {
      ++runs;
      look_before(tx);
      const auto taken = jobs.outside().take(1, {.wait = 10s});
      return jobs.in(tx).complete(taken.at(0).receipt);
    }));
    return runs;
  };
  EXPECT_EQ(runs_within(0ms), 1);
  // A longer limit where a single run takes longer.
  for (auto bound = 100ms; runs_within(bound) == 1; bound *= 2) ASSERT_LT(bound, 30s);
}

TEST_P(conflicts, a_deadlock_is_recovered) {
  auto jobs = db().claim("jobs");
  // A database may lock the gap of a missing key: two keys, two gaps.
  for (const char* each : {"aa", "c"}) static_cast<void>(jobs.enqueue(each, {.key = each}));
  std::barrier both(2);
  std::atomic<int> runs{0};
  const auto work = [&](const std::string& first, const std::string& second) {
    bool waited = false;
    db().transact([&](tableq::transaction& tx) {
      ++runs;
      static_cast<void>(jobs.in(tx).enqueue(first, {.key = first}));
      if (!waited) both.arrive_and_wait();
      waited = true;
      static_cast<void>(jobs.in(tx).enqueue(second, {.key = second}));
    });
  };
  {
    const std::jthread one([&] { work("a", "b"); });
    const std::jthread other([&] { work("b", "a"); });
  }
  EXPECT_GE(runs, 3) << "there was no deadlock";
  EXPECT_EQ(jobs.stats().ready, 4U);
}

class lost_sessions : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!here().session_id_sql()) GTEST_SKIP() << "sessions of this database cannot be ended";
  }
  void end(tableq::transaction& tx) {
    std::string id;
    tableq::session_of(tx) << *here().session_id_sql(), soci::into(id);
    here().end_session(id);
  }
};
TABLEQ_ON_BACKENDS(lost_sessions, shared_backends);

TEST_P(lost_sessions, transact_never_repeats_after_an_unknown_outcome) {
  auto mail = db().fifo("mail");
  int runs = 0;
  const tableq::error unknown = thrown_by([&] {
    db().transact([&](tableq::transaction& tx) {
      ++runs;
      mail.in(tx).enqueue("perhaps");
      end(tx);
    });
  });
  EXPECT_EQ(unknown.code(), tableq::errc::outcome_unknown) << unknown.what();
  EXPECT_EQ(unknown.advice(), tableq::advice::never);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(mail.stats().waiting, 0U);
}

TEST_P(lost_sessions, transact_repeats_when_the_commit_was_not_sent) {
  auto mail = db().fifo("mail");
  int runs = 0;
  db().transact([&](tableq::transaction& tx) {
    ++runs;
    mail.in(tx).enqueue("first half");
    if (runs == 1) end(tx);
    mail.in(tx).enqueue("second half");
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(mail.stats().waiting, 2U);
}

TEST_P(lost_sessions, a_commit_by_hand_is_unknown_too) {
  auto mail = db().fifo("mail");
  tableq::transaction tx = db().begin();
  mail.in(tx).enqueue("perhaps");
  end(tx);
  EXPECT_CODE(outcome_unknown, tx.commit());
  EXPECT_FALSE(tx.active());
  EXPECT_EQ(mail.stats().waiting, 0U);
}

TEST_P(lost_sessions, a_statement_in_a_transaction_is_lost_and_nothing_of_it_lasts) {
  auto mail = db().fifo("mail");
  mail.enqueue("stays");
  {
    tableq::transaction tx = db().begin();
    end(tx);
    EXPECT_CODE(connection_lost, static_cast<void>(mail.in(tx).dequeue()));
  }
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(lost_sessions, the_next_call_opens_a_new_one) {
  auto single = open({.max_sessions = 1});
  auto mail = single.fifo("mail");
  std::string id;
  {
    tableq::transaction tx = single.begin();
    tableq::session_of(tx) << *here().session_id_sql(), soci::into(id);
    tx.commit();
  }
  here().end_session(id);
  std::size_t sent = 0;
  try {
    mail.enqueue("perhaps");
    ++sent;
  } catch (const tableq::error& lost) {
    EXPECT_TRUE(lost.code() == tableq::errc::outcome_unknown ||
                lost.code() == tableq::errc::connection_lost)
        << lost.what();
  }
  mail.enqueue("surely");
  EXPECT_EQ(mail.stats().waiting, sent + 1);
}

}  // namespace
