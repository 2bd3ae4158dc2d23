#include <gtest/gtest.h>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class idle_kind : public on_each_kind {};
TABLEQ_ON_KINDS(idle_kind, shared_backends);

/// Checks after one call that no statement, lock or transaction stayed open.
#define EXPECT_NOTHING_HELD_AFTER(...)                      \
  do {                                                      \
    __VA_ARGS__;                                            \
    EXPECT_EQ(here().held(), std::nullopt) << #__VA_ARGS__; \
  } while (false)

TEST_P(idle_kind, idle_costs_nothing_held) {
  any_queue mail = make("mail");
  EXPECT_NOTHING_HELD_AFTER(static_cast<void>(make("mail")));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_FALSE(mail.take()));
  EXPECT_NOTHING_HELD_AFTER(mail.put("x"));
  EXPECT_NOTHING_HELD_AFTER(mail.put_all(numbered(10)));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(mail.peek(3).size(), 3U));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(mail.waiting(), 11U));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_TRUE(mail.take()));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(mail.take_up_to(4).size(), 4U));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(mail.take_up_to(6).size(), 6U));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_TRUE(mail.take_up_to(6, 1ms).empty()));
}

TEST_P(idle_kind, nothing_is_held_after_a_transaction_ended) {
  any_queue mail = make("mail");
  mail.put_all(numbered(10));
  const auto work = [&](tableq::transaction& tx) {
    EXPECT_TRUE(mail.in(tx).take());
    mail.in(tx).put("x");
  };
  EXPECT_NOTHING_HELD_AFTER(auto tx = db().begin(); work(tx); tx.commit());
  EXPECT_NOTHING_HELD_AFTER(auto tx = db().begin(); work(tx); tx.rollback());
  EXPECT_NOTHING_HELD_AFTER({
    auto dropped = db().begin();
    work(dropped);
  });
  EXPECT_NOTHING_HELD_AFTER(db().transact(work));
}

class idle : public on_each_backend {};
TABLEQ_ON_BACKENDS(idle, shared_backends);

TEST_P(idle, nothing_is_held_after_looking_at_the_schema) {
  EXPECT_NOTHING_HELD_AFTER(static_cast<void>(db()));
  EXPECT_NOTHING_HELD_AFTER(static_cast<void>(db().queues()));
  EXPECT_NOTHING_HELD_AFTER(static_cast<void>(db().fifo("mail")));
  EXPECT_NOTHING_HELD_AFTER(static_cast<void>(db().find("mail")));
  EXPECT_NOTHING_HELD_AFTER(static_cast<void>(db().inspect()));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_TRUE(db().drop("mail")));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_FALSE(db().drop("mail")));
}

TEST_P(idle, nothing_is_held_after_any_call_of_a_claim_queue) {
  auto jobs = db().claim("jobs", {.max_attempts = 1, .keep_completed = true});
  const auto take = [&jobs] { return jobs.take(1).at(0).receipt; };
  for (int i = 0; i < 9; ++i) jobs.enqueue("x");
  EXPECT_NOTHING_HELD_AFTER(EXPECT_TRUE(jobs.enqueue("x", {.key = "k"}).created()));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_FALSE(jobs.enqueue("x", {.key = "k"}).created()));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(jobs.complete(take()), tableq::settle_result::applied));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(jobs.fail(take(), "e"), tableq::settle_result::applied));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(jobs.release(take()), tableq::settle_result::applied));
  const auto held = take();
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(jobs.extend(held, 1h), tableq::settle_result::applied));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(jobs.complete(held), tableq::settle_result::applied));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(jobs.complete(held), tableq::settle_result::lease_lost));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(jobs.list(tableq::message_state::done).size(), 2U));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(jobs.redrive_all().count, 1U));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_EQ(jobs.purge(tableq::message_state::done), 2U));
  EXPECT_NOTHING_HELD_AFTER(static_cast<void>(jobs.stats()));
  EXPECT_NOTHING_HELD_AFTER(static_cast<void>(jobs.peek(5)));
  EXPECT_NOTHING_HELD_AFTER(static_cast<void>(jobs.redrive(std::vector<tableq::message_id>{{1}})));
}

TEST_P(idle, nothing_is_held_after_an_error) {
  auto mail = db().fifo("mail");
  here().forbid_equal_payloads("mail");
  mail.enqueue("x");
  EXPECT_NOTHING_HELD_AFTER(EXPECT_CODE(constraint_violated, mail.enqueue("x")));
  const std::vector<tableq::new_message> batch = {{.payload = "y"}, {.payload = "x"}};
  EXPECT_NOTHING_HELD_AFTER(EXPECT_CODE(constraint_violated, mail.enqueue_batch(batch)));
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(idle, strict_queues_hold_nothing_either) {
  auto mail = db().fifo("mail", {.ordering = tableq::ordering::strict});
  EXPECT_NOTHING_HELD_AFTER(mail.enqueue("x"));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_TRUE(mail.dequeue()));
  EXPECT_NOTHING_HELD_AFTER(EXPECT_FALSE(mail.dequeue()));
}

}  // namespace
