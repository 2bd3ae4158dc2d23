#include <gtest/gtest.h>
#include <soci/soci.h>

#include <functional>
#include <optional>
#include <vector>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class bound_handle_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(bound_handle_of_kind, all_backends);

TEST_P(bound_handle_of_kind, that_outlives_its_transaction_is_refused) {
  any_queue mail = make("mail");
  std::optional<any_queue> late;
  {
    tableq::transaction tx = db().begin();
    late = mail.in(tx);
    late->put("rolled back");
  }
  EXPECT_CODE(invalid_argument, late->put("x"));
  EXPECT_CODE(invalid_argument, static_cast<void>(late->put_all({"x", "y"})));
  EXPECT_CODE(invalid_argument, static_cast<void>(late->take()));
  EXPECT_TRUE(contains(thrown_by([&] { late->put("x"); }).what(), "in(tx)"));
  EXPECT_EQ(mail.waiting(), 0U);
}

TEST_P(bound_handle_of_kind, of_a_transaction_that_has_ended_is_refused) {
  any_queue mail = make("mail");
  tableq::transaction tx = db().begin();
  any_queue in_tx = mail.in(tx);
  in_tx.put("kept");
  tx.commit();
  EXPECT_CODE(invalid_argument, in_tx.put("x"));
  EXPECT_CODE(invalid_argument, static_cast<void>(in_tx.take()));
  EXPECT_EQ(mail.waiting(), 1U);
}

TEST_P(bound_handle_of_kind, stays_in_its_transaction_when_either_is_moved_or_copied) {
  any_queue mail = make("mail");
  tableq::transaction begun = db().begin();
  any_queue in_tx = mail.in(begun);
  tableq::transaction tx = std::move(begun);
  in_tx.put("one");
  const any_queue copy = in_tx;
  any_queue moved = std::move(in_tx);
  moved.put("two");
  EXPECT_EQ(any_queue(copy).take_up_to(10).size(), 2U);
  tx.rollback();
  EXPECT_EQ(mail.waiting(), 0U);
}

TEST_P(bound_handle_of_kind, is_bound_to_another_transaction_by_in) {
  any_queue mail = make("mail");
  {
    tableq::transaction undone = db().begin();
    mail.in(undone).put("undone");
  }
  tableq::transaction first = db().begin();
  any_queue in_first = mail.in(first);
  first.rollback();
  tableq::transaction second = db().begin();
  in_first.in(second).put("second");
  second.commit();
  EXPECT_EQ(mail.take()->payload, "second");
}

class bound_handle : public on_each_backend {
 protected:
  /// Expects each call to be refused before it does anything; the transaction stays usable.
  void expect_refused(tableq::transaction& tx, const std::vector<std::function<void()>>& calls) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      SCOPED_TRACE(i);
      EXPECT_CODE(invalid_argument, calls[i]());
      EXPECT_TRUE(tx.active());
    }
  }
};
TABLEQ_ON_BACKENDS(bound_handle, all_backends);

TEST_P(bound_handle, refuses_what_waits_or_has_transactions_of_its_own) {
  auto mail = db().fifo("mail");
  auto later = db().pending("later");
  mail.enqueue("there");
  tableq::transaction tx = db().begin();
  auto in_tx = mail.in(tx);
  expect_refused(
      tx, {[&] { static_cast<void>(in_tx.dequeue({.wait = 1ms})); },
           [&] { static_cast<void>(in_tx.dequeue_batch(2, {.wait = 1ms})); },
           [&] { in_tx.enqueue("x", {}, {.wait = 1ms}); },
           [&] { in_tx.enqueue_batch(std::vector<tableq::new_message>(2), {.wait = 1ms}); },
           [&] { static_cast<void>(in_tx.enqueue_async("x")); },
           [&] { in_tx.enqueue_async("x", {}, [](const auto& /*outcome*/) {}); },
           [&] { static_cast<void>(later.in(tx).enqueue_async("x")); },
           [&] { static_cast<void>(in_tx.peek()); }, [&] { static_cast<void>(in_tx.stats()); },
           [&] { in_tx.purge(); }, [&] { in_tx.pause(); }, [&] { in_tx.resume(); },
           [&] { static_cast<void>(in_tx.paused()); }, [&] { in_tx.set_limits({}); },
           [&] { static_cast<void>(in_tx.limits()); }});
  EXPECT_EQ(in_tx.dequeue()->payload, "there");
  in_tx.enqueue("kept");
  tx.commit();
  EXPECT_EQ(mail.dequeue()->payload, "kept");
}

TEST_P(bound_handle, of_a_claim_queue_refuses_what_waits_or_has_transactions_of_its_own) {
  auto jobs = db().claim("jobs");
  jobs.enqueue("there");
  tableq::transaction tx = db().begin();
  auto in_tx = jobs.in(tx);
  const std::vector<tableq::message_id> none;
  const auto handle = [](const tableq::delivery& /*taken*/) {};
  expect_refused(tx, {[&] { static_cast<void>(in_tx.take(1, {.wait = 1ms})); },
                      [&] { static_cast<void>(in_tx.take_one({.wait = 1ms})); },
                      [&] { in_tx.enqueue("x", {}, {.wait = 1ms}); },
                      [&] { static_cast<void>(in_tx.enqueue_async("x")); },
                      [&] { in_tx.enqueue_async("x", {}, [](const auto& /*outcome*/) {}); },
                      [&] { static_cast<void>(in_tx.peek()); },
                      [&] { static_cast<void>(in_tx.list(tableq::message_state::ready)); },
                      [&] { in_tx.redrive(none); }, [&] { in_tx.redrive_all(); },
                      [&] { in_tx.purge(tableq::message_state::dead); },
                      [&] { static_cast<void>(in_tx.stats()); },
                      [&] { const tableq::worker pool(in_tx, handle); },
                      [&] {
                        tableq::drain(in_tx, [](const auto& /*taken*/, const auto& /*stop*/) {
                          return tableq::handled::completed();
                        });
                      }});
  const auto taken = in_tx.take_one();
  ASSERT_TRUE(taken);
  EXPECT_EQ(in_tx.complete(*taken), tableq::settle_result::applied);
  tx.commit();
  EXPECT_EQ(jobs.stats().ready, 0U);
}

TEST_P(bound_handle, of_a_queue_that_is_only_known_by_its_base_is_the_same) {
  auto fifo = db().fifo("mail");
  tableq::plain_queue& plain = fifo;
  tableq::destructive_queue& any = fifo;
  tableq::transaction tx = db().begin();
  plain.in(tx).enqueue("x");
  EXPECT_EQ(any.in(tx).dequeue()->payload, "x");
  tx.commit();
}

class bound_handle_of_enlistment : public on_each_backend {};
TABLEQ_ON_BACKENDS(bound_handle_of_enlistment, shared_backends);

TEST_P(bound_handle_of_enlistment, that_outlives_it_is_refused) {
  auto mail = db().fifo("mail");
  const auto session = here().session();
  const soci::transaction mine(*session);
  auto late = mail.in(tableq::enlist(db(), *session));
  EXPECT_CODE(invalid_argument, late.enqueue("x"));
  EXPECT_EQ(mail.stats().waiting, 0U);
}

}  // namespace
