#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include <tableq/soci.hpp>

#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/forked.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// The number of calls that were not refused in a child.
int not_refused(const std::vector<std::function<void()>>& calls) {
  int wrong = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    try {
      calls[i]();
      std::fprintf(stderr, "call %zu was let through\n", i);
      ++wrong;
    } catch (const tableq::error& refused) {
      const std::string_view words = refused.what();
      if (refused.code() == tableq::errc::invalid_argument &&
          refused.advice() == tableq::advice::never && !refused.operation().empty() &&
          words.find("open a new database in the child") != std::string_view::npos) {
        continue;
      }
      std::fprintf(stderr, "call %zu: %s\n", i, refused.what());
      ++wrong;
    }
  }
  return wrong;
}

/// Everything that a program may have when it forks.
struct everything {
  explicit everything(tableq::database given)
      : db(std::move(given)),
        plain(db.fifo("plain")),
        later(db.pending("later")),
        jobs(db.claim("jobs", {.lease = 1h})),
        work(db.claim("work", {.lease = 1h})),
        pool(work, [](const tableq::delivery& /*one*/) {}, {.threads = 2}) {
    static_cast<void>(plain.enqueue("a"));
    static_cast<void>(jobs.enqueue("b"));
    held = jobs.take(1).at(0).receipt;
    plain.enqueue_async("c").get();
  }

  std::vector<std::function<void()>> calls() {
    return {[&] { static_cast<void>(plain.enqueue("x")); },
            [&] { static_cast<void>(plain.enqueue_batch({})); },
            [&] { static_cast<void>(plain.enqueue_async("x")); },
            [&] { static_cast<void>(plain.dequeue()); },
            [&] { static_cast<void>(plain.dequeue({.wait = 1s})); },
            [&] { static_cast<void>(plain.peek()); },
            [&] { plain.purge(); },
            [&] { static_cast<void>(plain.stats()); },
            [&] { plain.pause(); },
            [&] { plain.resume(); },
            [&] { static_cast<void>(plain.paused()); },
            [&] { plain.set_limits({}); },
            [&] { static_cast<void>(plain.limits()); },
            [&] { static_cast<void>(later.enqueue("x")); },
            [&] { static_cast<void>(later.enqueue_async("x")); },
            [&] { static_cast<void>(later.dequeue()); },
            [&] { static_cast<void>(jobs.enqueue("x")); },
            [&] { static_cast<void>(jobs.enqueue_async("x")); },
            [&] { static_cast<void>(jobs.take(1)); },
            [&] { static_cast<void>(jobs.complete(held)); },
            [&] { static_cast<void>(jobs.fail(held, "x")); },
            [&] { static_cast<void>(jobs.release(held)); },
            [&] { static_cast<void>(jobs.extend(held, 1s)); },
            [&] { static_cast<void>(jobs.peek()); },
            [&] { static_cast<void>(jobs.list(tableq::message_state::ready)); },
            [&] { static_cast<void>(jobs.list_all(tableq::message_state::ready)); },
            [&] { static_cast<void>(jobs.take_scoped()); },
            [&] { static_cast<void>(jobs.get(held.id)); },
            [&] { static_cast<void>(jobs.find("x")); },
            [&] { static_cast<void>(jobs.cancel(held.id)); },
            [&] { jobs.redrive_all(); },
            [&] { jobs.purge(tableq::message_state::done); },
            [&] { static_cast<void>(jobs.stats()); },
            [&] { tableq::drain(jobs, [](auto&&...) { return tableq::handled::completed(); }); },
            [&] { const tableq::worker another(jobs, [](const tableq::delivery& /*one*/) {}); },
            [&] { static_cast<void>(db.heap("new")); },
            [&] { static_cast<void>(db.fifo("plain")); },
            [&] { static_cast<void>(db.claim("jobs")); },
            [&] { static_cast<void>(db.begin()); },
            [&] { db.transact([](tableq::transaction& /*tx*/) {}); },
            [&] { static_cast<void>(db.queues()); },
            [&] { static_cast<void>(db.find("plain")); },
            [&] { db.drop("plain"); },
            [&] { static_cast<void>(db.inspect()); },
            [&] { pool.join(); },
            [&] { static_cast<void>(pool.counts()); },
            [&] { static_cast<void>(pool.wait_for(1s)); },
            [&] { pool.stop_within(1s); }};
  }

  tableq::database db;
  tableq::fifo_queue plain;
  tableq::pending_queue later;
  tableq::claim_queue jobs;
  tableq::claim_queue work;
  tableq::worker pool;
  tableq::receipt held;
};

class forked_child : public on_each_backend {
 protected:
  void SetUp() override {
    if (!children_may_have_threads()) GTEST_SKIP() << "children may have no threads in this build";
    on_each_backend::SetUp();
  }
};
TABLEQ_ON_BACKENDS(forked_child, all_backends);

TEST_P(forked_child, is_refused_at_its_first_call_on_what_it_inherited) {
  auto all = std::make_unique<everything>(open());
  forked child([&] {
    const int wrong = not_refused(all->calls());
    all->pool.stop();
    all->pool.abandon();
    all.reset();
    return wrong;
  });
  EXPECT_EQ(child.wait(), 0);
  // The child ended only its own copy.
  EXPECT_EQ(all->plain.dequeue()->payload, "a");
  EXPECT_EQ(all->jobs.complete(all->held), tableq::settle_result::applied);
  all->plain.enqueue_async("d").get();
  EXPECT_EQ(payloads_of(all->plain.dequeue_batch(9)), (std::vector<std::string>{"c", "d"}));
  static_cast<void>(all->work.enqueue("last"));
  all->pool.stop();
  all->pool.join();
}

TEST_P(forked_child, leaves_the_parents_transaction_alone) {
  auto mail = db().fifo("mail");
  mail.enqueue("before");
  auto tx = std::make_unique<tableq::transaction>(db().begin());
  EXPECT_EQ(mail.in(*tx).dequeue()->payload, "before");
  mail.in(*tx).enqueue("within");
  forked child([&] {
    const int wrong =
        not_refused({[&] { mail.in(*tx).enqueue("x"); },
                     [&] { static_cast<void>(mail.in(*tx).dequeue()); }, [&] { tx->commit(); },
                     [&] { tx->rollback(); }, [&] { static_cast<void>(tableq::session_of(*tx)); }});
    const bool active = tx->active();
    tx.reset();
    return wrong + (active ? 1 : 0);
  });
  EXPECT_EQ(child.wait(), 0);
  tx->commit();
  EXPECT_EQ(payloads_of(mail.dequeue_batch(9)), std::vector<std::string>{"within"});
}

TEST_P(forked_child, that_returns_into_transact_commits_nothing) {
  auto mail = db().fifo("mail");
  ::pid_t id = -1;
  const auto transact = [&] {
    db().transact([&](tableq::transaction& tx) {
      mail.in(tx).enqueue("once");
      id = ::fork();
    });
    if (id != 0) throw tableq::error(tableq::errc::internal, tableq::advice::never, "the parent");
  };
  std::fflush(nullptr);
  bool refused = false;
  try {
    transact();
  } catch (const tableq::error& failure) {
    refused = failure.code() == tableq::errc::invalid_argument;
  }
  if (id == 0) ::_exit(refused ? 0 : 1);
  forked child(id);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(mail.stats().waiting, 1U);
}

/// A child that may use a place that its parent has not opened; on a server also the parent's.
class shared_forked_child : public forked_child {
 protected:
  void SetUp() override {
    forked_child::SetUp();
    if (!IsSkipped()) other_.prepare(*GetParam());
  }
  void TearDown() override {
    other_.clear();
    forked_child::TearDown();
  }
  [[nodiscard]] place& childs() { return can().children_open_it ? here() : other_.here(); }

 private:
  ground other_;
};
TABLEQ_ON_BACKENDS(shared_forked_child, shared_backends);

TEST_P(shared_forked_child, works_with_a_database_that_it_opens) {
  const std::string url = childs().url();
  tableq::database::open(url).fifo("mail").enqueue("to the child");
  const auto kept = db();
  forked child([&] {
    auto own = tableq::database::open(url);
    auto same = own.fifo("mail");
    if (same.dequeue()->payload != "to the child") return 1;
    same.enqueue("one");
    same.enqueue_async("two").get();
    own.transact([&](tableq::transaction& tx) { same.in(tx).enqueue("three"); });
    if (same.dequeue({.wait = 10s})->payload != "one") return 2;
    auto jobs = own.claim("jobs");
    static_cast<void>(jobs.enqueue("job"));
    tableq::worker pool(jobs, [](const tableq::delivery& /*one*/) {}, {.until_empty = true});
    pool.join();
    return pool.counts().completed == 1 ? 0 : 3;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(payloads_of(tableq::database::open(url).fifo("mail").dequeue_batch(9)),
            (std::vector<std::string>{"two", "three"}));
}

TEST_P(shared_forked_child, may_give_its_database_the_metrics_that_it_inherited) {
  const auto counting = std::make_shared<tableq::metrics>();
  auto mail = open({.observer = counting}).fifo("mail");
  mail.enqueue("one");
  const std::string before = counting->json();
  forked child([&] {
    auto own = tableq::database::open(childs().url(), {.observer = counting});
    static_cast<void>(own.fifo("mail").dequeue());
    return counting->json().find("mail") == std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(counting->json(), before);
}

TEST_P(shared_forked_child, opens_what_the_parent_has_open_or_gets_a_clear_error) {
  std::optional<tableq::database> first(open());
  first->fifo("mail").enqueue("stored");
  const auto dequeued = [url = here().url()] {
    return tableq::database::open(url).fifo("mail").dequeue().has_value() ? 0 : 2;
  };
  forked child([&] {
    try {
      return dequeued();
    } catch (const tableq::error& refused) {
      const std::string_view words = refused.what();
      const bool clear = refused.code() == tableq::errc::invalid_argument &&
                         refused.advice() == tableq::advice::never &&
                         words.find("open before fork()") != std::string_view::npos;
      return clear ? 1 : 3;
    }
  });
  EXPECT_EQ(child.wait(), can().children_open_it ? 0 : 1);
  first.reset();
  if (can().children_open_it) return;
  EXPECT_EQ(forked(dequeued).wait(), 0) << "the parent has closed it";
}

TEST_P(shared_forked_child, does_not_wake_or_deafen_the_parents_waiting_reads) {
  struct {
    std::optional<tableq::database> db;
    std::optional<tableq::fifo_queue> mail;
  } near;
  near.db.emplace(open({.poll_interval = 24h}));
  near.mail.emplace(near.db->fifo("mail"));
  std::string got;
  std::jthread reader([&] {
    if (const auto m = near.mail->dequeue({.wait = for_ever})) got = m->payload;
  });
  // Until the database notifies, readers poll.
  EXPECT_FALSE(near.db->fifo("other").dequeue({.wait = 600ms}));
  forked ended([&] {
    near.mail.reset();
    near.db.reset();
    return 0;
  });
  EXPECT_EQ(ended.wait(), 0);
  open().fifo("mail").enqueue("afterwards");
  reader.join();
  EXPECT_EQ(got, "afterwards");
}

/// Runs on one transport of each database: behind an ODBC driver manager the library cannot reach
/// the client's descriptors.
class link_of_a_forked_child : public shared_forked_child {};
TABLEQ_ON_BACKENDS(link_of_a_forked_child, distinct_backends);

TEST_P(link_of_a_forked_child, does_not_keep_the_transactions_of_a_parent_that_was_killed) {
  if (!can().links_close_in_children) GTEST_SKIP() << "a child keeps its parent's connections";
  db().fifo("mail").enqueue("held");
  clear_database();
  // A process with an open transaction, that forks and is killed, while its child lives on.
  baton ready;
  baton end;
  const std::string url = here().url();
  forked parent([&] {
    auto own = tableq::database::open(url);
    auto tx = own.begin();
    if (!own.fifo("mail").in(tx).dequeue()) return 1;
    const ::pid_t child = ::fork();
    if (child == 0) {
      ready.pass();
      static_cast<void>(end.take());
      ::_exit(0);
    }
    static_cast<void>(end.take());
    return 0;
  });
  ASSERT_TRUE(ready.take());
  parent.kill();
  const auto got = db().fifo("mail").dequeue({.wait = 30s});
  end.pass();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->payload, "held");
}

TEST_P(link_of_a_forked_child, works_while_the_parents_threads_connect) {
  const std::string url = here().quick_url();
  const std::string childs_url = childs().quick_url();
  std::atomic<bool> over{false};
  std::atomic<int> opened{0};
  std::vector<std::jthread> all(3);
  for (std::jthread& each : all)
    each = std::jthread([&] {
      for (; !over; ++opened) static_cast<void>(tableq::database::open(url));
    });
  while (opened < 9) std::this_thread::yield();  // a new thread takes locks of the C library
  for (int i = 0; i < 12 && !HasFailure(); ++i) {
    forked child([&] {
      tableq::database::open(childs_url).fifo("mail").enqueue("from a child");
      return 0;
    });
    EXPECT_EQ(child.wait(), 0) << "child " << i;
  }
  over = true;
  EXPECT_EQ(tableq::database::open(childs_url).fifo("mail").dequeue_batch(100).size(), 12U);
}

/// The ledger of a parent whose threads work on while it forks.
class forks_under_load : public shared_forked_child {};
TABLEQ_ON_BACKENDS(forks_under_load, shared_backends);

TEST_P(forks_under_load, lose_nothing_and_let_every_child_work) {
  constexpr int threads = 4;
  constexpr int children = 40;
  const std::string url = here().quick_url();
  const std::string childs_url = childs().quick_url();
  tableq::open_options patient{.retry_for = 5min};
  auto own = tableq::database::open(url, patient);
  auto mail = own.fifo("mail");
  std::atomic<bool> over{false};
  std::vector<std::vector<std::string>> sent(threads);
  std::vector<std::vector<std::string>> read(threads);
  {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        for (int n = 0; !over; ++n) {
          sent[i].push_back(std::to_string(i) + ":" + std::to_string(n));
          mail.enqueue(sent[i].back());
          if (const auto m = mail.dequeue()) read[i].push_back(m->payload);
        }
      });
    }
    for (int i = 0; i < children && !HasFailure(); ++i) {
      auto inherited = std::make_unique<std::pair<tableq::database, tableq::fifo_queue>>(own, mail);
      forked child([&] {
        const int wrong = not_refused({[&] { mail.enqueue("never"); }});
        inherited.reset();
        auto mine = tableq::database::open(childs_url, patient);
        mine.fifo("mail").enqueue("child " + std::to_string(i));
        return wrong;
      });
      EXPECT_EQ(child.wait(), 0) << "child " << i;
    }
    over = true;
  }
  std::multiset<std::string> expected;
  for (const auto& each : sent) expected.insert(each.begin(), each.end());
  for (int i = 0; i < children; ++i) expected.insert("child " + std::to_string(i));
  std::multiset<std::string> got;
  for (const auto& each : read) got.insert(each.begin(), each.end());
  for (const auto& each : mail.dequeue_batch(10'000)) got.insert(each.payload);
  auto theirs = tableq::database::open(childs_url).fifo("mail");
  for (const auto& each : theirs.dequeue_batch(10'000)) got.insert(each.payload);
  EXPECT_EQ(got, expected);
}

class forking_handler : public forked_child {};
TABLEQ_ON_BACKENDS(forking_handler, all_backends);

TEST_P(forking_handler, that_comes_back_in_the_child_settles_there_nothing) {
  auto jobs = db().claim("jobs", {.lease = 1h});
  static_cast<void>(jobs.enqueue("one"));
  std::atomic<::pid_t> id = -1;
  tableq::worker pool(jobs,
                      [&](const tableq::delivery& /*one*/) {
                        id = ::fork();
                        return id == 0 ? tableq::handled::give_up("said by the child")
                                       : tableq::handled::completed();
                      },
                      {.threads = 2, .until_empty = true});
  pool.join();
  forked child(id);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(pool.counts().completed, 1U);
  const auto stats = jobs.stats();
  EXPECT_EQ(stats.dead + stats.ready + stats.leased, 0U);
}

/// Handlers that keep their messages.
class kept_messages_of_processes : public on_each_backend {
 protected:
  tableq::handler keeper() {
    return [this](const tableq::delivery& /*one*/) {
      tableq::kept_delivery later;
      tableq::handled verdict = tableq::handled::kept(later);
      kept_.set_value(std::move(later));
      return verdict;
    };
  }
  [[nodiscard]] tableq::kept_delivery kept() { return kept_.get_future().get(); }

 private:
  std::promise<tableq::kept_delivery> kept_;
};
TABLEQ_ON_BACKENDS(kept_messages_of_processes, shared_backends);

TEST_P(kept_messages_of_processes, that_exit_come_again_after_their_leases) {
  if (!children_may_have_threads()) GTEST_SKIP() << "children may not have threads";
  static_cast<void>(db().claim("jobs", at_once()).enqueue("job"));
  clear_database();
  const std::string url = here().url();
  forked child([&] {
    auto own = tableq::database::open(url);
    const tableq::worker pool(own.claim("jobs"), keeper(), {.lease = 300ms});
    const tableq::kept_delivery held = kept();  // Without it the worker gives the message back.
    std::_Exit(0);
    return 1;
  });
  ASSERT_EQ(child.wait(), 0);
  const auto again = db().claim("jobs", at_once()).take(1, {.wait = for_ever});
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].attempt, 2);
}

TEST_P(kept_messages_of_processes, have_no_end_in_a_child) {
  tableq::claim_queue jobs = db().claim("jobs", at_once());
  static_cast<void>(jobs.enqueue("job"));
  tableq::worker pool(jobs, keeper(), {.until_empty = true});
  {
    const tableq::kept_delivery later = kept();
    forked child([&] { return later.complete() || later.give_back() ? 1 : 0; });
    EXPECT_EQ(child.wait(), 0);
    EXPECT_TRUE(later.complete());
  }
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 1U);
}

}  // namespace
