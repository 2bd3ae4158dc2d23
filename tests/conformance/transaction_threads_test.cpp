#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <thread>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Stops the first operation of that name within a transaction until its release.
class holds_up : public tableq::observer {
 public:
  explicit holds_up(std::string name) : name_(std::move(name)) {}

  void before(const tableq::observed_operation& operation) override {
    if (!operation.in_transaction || operation.name != name_ || held_) return;
    held_ = true;
    there_.set_value();
    go_on_.get_future().wait();
  }
  void wait() { there_.get_future().wait(); }
  void let_go() { go_on_.set_value(); }

 private:
  const std::string name_;
  std::atomic<bool> held_ = false;
  std::promise<void> there_;
  std::promise<void> go_on_;
};

using another_call = std::function<void(tableq::fifo_queue&, tableq::transaction&)>;

class one_transaction : public on_each_backend {
 protected:
  void TearDown() override {
    watched_.reset();
    on_each_backend::TearDown();
  }
  /// Another thread calls while the first one enqueues; then nothing can be committed.
  void expect_refused(const another_call& call) {
    const auto watch = std::make_shared<holds_up>("fifo.enqueue");
    watched_ = tableq::database::open(here().url(), {.observer = watch});
    auto mail = watched_->fifo("mail");
    tableq::transaction tx = watched_->begin();
    {
      const std::jthread first([&] {
        try {
          mail.in(tx).enqueue("first");
        } catch (const tableq::error&) {  // It may get the error, too.
        }
      });
      watch->wait();
      const tableq::error refused = thrown_by([&] { call(mail, tx); });
      EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
      EXPECT_TRUE(contains(refused.what(), "two threads")) << refused.what();
      watch->let_go();
    }
    EXPECT_TRUE(tx.active());
    const tableq::error later = thrown_by([&] { mail.in(tx).enqueue("later"); });
    EXPECT_TRUE(contains(later.what(), "two threads")) << later.what();
    const tableq::error end = thrown_by([&] { tx.commit(); });
    EXPECT_EQ(end.code(), tableq::errc::invalid_argument);
    EXPECT_TRUE(contains(end.what(), "two threads")) << end.what();
    EXPECT_EQ(end.operation(), "commit");
    tx.rollback();
    EXPECT_EQ(mail.stats().waiting, 0U);
  }

 private:
  std::optional<tableq::database> watched_;
};
TABLEQ_ON_BACKENDS(one_transaction, all_backends);

TEST_P(one_transaction, refuses_a_second_thread_that_enqueues_and_does_not_commit_then) {
  expect_refused([](auto& mail, auto& tx) { mail.in(tx).enqueue("second"); });
}

TEST_P(one_transaction, refuses_a_second_thread_that_reads_and_does_not_commit_then) {
  expect_refused([](auto& mail, auto& tx) { static_cast<void>(mail.in(tx).dequeue()); });
}

TEST_P(one_transaction, refuses_a_commit_while_another_thread_is_at_work) {
  expect_refused([](auto& /*mail*/, auto& tx) { tx.commit(); });
}

TEST_P(one_transaction, refuses_a_rollback_while_another_thread_is_at_work) {
  expect_refused([](auto& /*mail*/, auto& tx) { tx.rollback(); });
}

TEST_P(one_transaction, hands_its_session_to_no_thread_while_another_is_at_work) {
  expect_refused([](auto& /*mail*/, auto& tx) { static_cast<void>(tableq::session_of(tx)); });
}

TEST_P(one_transaction, may_go_from_thread_to_thread) {
  auto mail = db().fifo("mail");
  tableq::transaction tx = db().begin();
  for (const char* payload : {"first", "second"}) {
    const std::jthread another([&, payload] { mail.in(tx).enqueue(payload); });
  }
  tx.commit();
  EXPECT_EQ(mail.stats().waiting, 2U);
}

TEST_P(one_transaction, of_many_threads_at_once_commits_nothing_or_all_that_was_not_refused) {
  auto mail = db().fifo("mail");
  tableq::transaction tx = db().begin();
  std::atomic<int> refused = 0;
  std::atomic<int> stored = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 50; ++k) {
          try {
            mail.in(tx).enqueue("x");
            ++stored;
          } catch (const tableq::error& failure) {
            EXPECT_EQ(failure.code(), tableq::errc::invalid_argument) << failure.what();
            ++refused;
          }
        }
      });
    }
  }
  if (refused == 0) {
    tx.commit();
    EXPECT_EQ(mail.stats().waiting, static_cast<std::size_t>(stored));
  } else {
    EXPECT_CODE(invalid_argument, tx.commit());
    tx.rollback();
    EXPECT_EQ(mail.stats().waiting, 0U);
  }
}

class half_an_operation : public on_each_backend {};
TABLEQ_ON_BACKENDS(half_an_operation, shared_backends);

TEST_P(half_an_operation, is_not_committed) {
  auto mail = db().heap("mail");
  const std::string condition = "NEW.payload = " + here().bytes_literal("swallowed");
  if (!here().add_trigger(
          {.table = "mail", .event = "INSERT", .condition = condition, .silent = true})) {
    GTEST_SKIP() << "no trigger of this database keeps a row away without an error";
  }
  tableq::transaction tx = db().begin();
  const std::vector<tableq::new_message> batch{{.payload = "kept"}, {.payload = "swallowed"}};
  EXPECT_CODE(constraint_violated, mail.in(tx).enqueue_batch(batch));
  EXPECT_CODE(invalid_argument, tx.commit());
  tx.rollback();
  EXPECT_EQ(mail.stats().waiting, 0U);
}

}  // namespace
