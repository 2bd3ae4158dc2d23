#include <gtest/gtest.h>

#include <tableq/unstable/dialect.hpp>

#include "model/mistakes.hpp"
#include "model/recorder.hpp"
#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/in_threads.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Statements with deliberate mistakes, which the checkers must find.
class seeded_bug : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!can().ids_from_one) GTEST_SKIP() << "the complaints name ids from 1";
    wrong_ = tableq::find_dialect(db().backend());
    wrong_.name = "wrong_" + wrong_.name;
    wrong_.schemes = {"wrong-" + db().backend()};
    wrong_.products.clear();
    scheme_end_ = here().url().find("://");
  }

  /// Makes a mistake in the statements of the place's database.
  /// @return whether there was a text for it.
  bool spoil(const std::string& mistake) {
    const auto spoilt = with_mistake(wrong_.statements, mistake);
    if (spoilt) wrong_.statements = *spoilt;
    return spoilt.has_value();
  }

  /// The place, used with the wrong statements.
  tableq::database wrong_database() {
    tableq::register_dialect(wrong_);
    return tableq::database::open(wrong_.schemes.front() + here().url().substr(scheme_end_),
                                  {.shortcuts = {.combining = false}});
  }

  /// Adds this number of messages to a queue of it, one by one, and then reads as often.
  void put_and_read(tableq::kind of, std::int64_t puts, int reads) {
    auto wrong = wrong_database();
    any_queue mail(wrong, of, "mail");
    queue_actor actor(wrong, mail, calls_, 0);
    for (std::int64_t i = 1; i <= puts; ++i) actor.put({i});
    for (int i = 0; i < reads; ++i) actor.get(1);
  }

  /// One thread in a claim queue of it.
  claim_actor wrong_actor(const tableq::claim_options& options = {}) {
    return {wrong_database().claim("jobs", at_once(options)), events_};
  }

  /// Repeated until a checker finds the mistake.
  template <class Round>
  static complaint rounds(Round round) {
    complaint caught;
    for (int i = 0; i < 100 && !caught; ++i) caught = round();
    return caught;
  }

  [[nodiscard]] static std::string said(const complaint& wrong) {
    return wrong.value_or("nothing");
  }
  [[nodiscard]] std::string said_of_claims() const {
    return said(check_claims(events_.all(), false));
  }

  recorder<operation> calls_;
  recorder<claim_event> events_;

 private:
  tableq::dialect wrong_;
  std::size_t scheme_end_ = 0;
};
TABLEQ_ON_BACKENDS(seeded_bug, distinct_backends);

TEST(mistakes, have_a_text_in_every_database_of_this_build) {
  for (const std::string& name : tableq::dialects()) {
    const tableq::dialect spoken = tableq::find_dialect(name);
    for (const std::string& mistake : mistakes()) {
      // One transaction writes at a time: there is no lock to leave out.
      if (spoken.capabilities.one_writer && contains(mistake, "without a lock")) continue;
      EXPECT_TRUE(with_mistake(spoken.statements, mistake)) << name << ": " << mistake;
    }
  }
}

TEST_P(seeded_bug, a_read_that_takes_nothing_away_is_caught) {
  ASSERT_TRUE(spoil("a read takes nothing away"));
  put_and_read(tableq::kind::fifo, 1, 2);
  EXPECT_EQ(said(check_conservation(calls_.all(), false)), "message 1 was read twice");
}

TEST_P(seeded_bug, a_read_in_the_wrong_order_is_caught) {
  ASSERT_TRUE(spoil("a queue reads its end"));
  put_and_read(tableq::kind::fifo, 2, 2);
  EXPECT_EQ(said(check_fifo(calls_.all())), "message 2 was put after message 1 and read before it");
}

TEST_P(seeded_bug, a_stack_that_is_a_queue_is_caught) {
  ASSERT_TRUE(spoil("a stack reads its bottom"));
  put_and_read(tableq::kind::lifo, 2, 1);
  EXPECT_NE(check_by_search(calls_.all(), sequence::lifo), std::nullopt);
}

TEST_P(seeded_bug, a_look_and_a_removal_instead_of_one_read_are_caught) {
  any_queue mail(db(), tableq::kind::fifo, "mail");
  queue_actor(db(), mail, calls_, 0).put({1, 2});
  // Two readers, one after the other in each of the two halves of a read.
  const std::int64_t begin = steady_now();
  std::vector<std::int64_t> seen;
  for (int i = 0; i < 2; ++i) seen.push_back(std::stoll(mail.peek(1).front()));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(mail.take());
  for (const std::int64_t each : seen) {
    calls_.add({.what = deed::got, .values = {each}, .when = {begin, steady_now()}});
  }
  EXPECT_EQ(said(check_conservation(calls_.all(), false)), "message 1 was read twice");
}

TEST_P(seeded_bug, reads_without_row_locks_are_caught) {
  if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
  ASSERT_TRUE(spoil("a read finds without a lock"));
  auto wrong = wrong_database();
  any_queue mail(wrong, tableq::kind::fifo, "mail");
  std::int64_t last = 0;
  const complaint caught = rounds([&] {
    std::vector<std::int64_t> values;
    for (int i = 0; i < 200; ++i) values.push_back(++last);
    queue_actor(wrong, mail, calls_, 0).put(values);
    in_threads(4, [&](int i) {
      for (int n = 0; n < 10; ++n) queue_actor(wrong, mail, calls_, i).get(1);
    });
    return check_fifo(calls_.all());
  });
  // A read that waited for a row which another one deleted finds nothing.
  EXPECT_TRUE(contains(said(caught), "said to be empty")) << said(caught);
}

TEST_P(seeded_bug, takes_without_row_locks_are_caught) {
  if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
  ASSERT_TRUE(spoil("a take finds without a lock"));
  auto wrong = wrong_database();
  const complaint caught = rounds([&] {
    claim_actor(wrong.claim("jobs"), events_).put(40);
    in_threads(4, [&](int) {
      claim_actor actor(wrong.claim("jobs"), events_);
      for (int n = 0; n < 10; ++n) actor.take(1, 1h);
    });
    return check_claims(events_.all(), false);
  });
  EXPECT_TRUE(contains(said(caught), "handed out within a lease")) << said(caught);
}

TEST_P(seeded_bug, a_take_that_holds_for_no_time_is_caught) {
  ASSERT_TRUE(spoil("a lease has ended when it begins"));
  claim_actor actor = wrong_actor();
  actor.put(1);
  actor.take(1, 1h);
  actor.take(1, 1h);
  EXPECT_EQ(said_of_claims(), "message 1: it was handed out within a lease");
}

TEST_P(seeded_bug, a_settlement_without_its_fence_is_caught) {
  ASSERT_TRUE(spoil("any fence settles"));
  claim_actor actor = wrong_actor();
  actor.put(1);
  actor.take(1, 1ms);
  actor.take(1, 1h, 1min);
  actor.ask(claim_deed::complete, 1, 0ms);
  EXPECT_EQ(said_of_claims(), "message 1: a receipt settled after a later take");
}

TEST_P(seeded_bug, a_lost_update_of_the_attempts_is_caught) {
  ASSERT_TRUE(spoil("each attempt is the first"));
  claim_actor actor = wrong_actor();
  actor.put(1);
  for (int i = 0; i < 2; ++i) {
    actor.take(1, 1h);
    actor.ask(claim_deed::fail, 0, 0ms);
  }
  EXPECT_EQ(said_of_claims(), "message 1: a take told attempt 1 instead of 2");
}

TEST_P(seeded_bug, a_fence_that_does_not_rise_is_caught) {
  ASSERT_TRUE(spoil("a fence is its random part"));
  claim_actor actor = wrong_actor({.max_attempts = 1000});
  actor.put(1);
  for (int i = 0; i < 20; ++i) {
    actor.take(1, 1h);
    actor.ask(claim_deed::fail, 0, 0ms);
  }
  EXPECT_NE(check_claims(events_.all(), false), std::nullopt);
}

TEST_P(seeded_bug, a_group_that_is_not_held_back_is_caught) {
  ASSERT_TRUE(spoil("no message waits for its group"));
  claim_actor actor = wrong_actor({.groups = tableq::group_options{}});
  actor.put(2, 1);
  actor.take(2, 1h);
  EXPECT_EQ(said(check_groups(events_.all())),
            "message 2 was handed out before message 1 of its group was completed");
}

TEST_P(seeded_bug, a_group_that_comes_out_of_turn_is_caught) {
  const tableq::claim_options turns{.groups = {.by_turns = true}};
  const auto round = [&](claim_actor actor) {
    for (int i = 0; i < 100; ++i) actor.put(1, 1);
    actor.put(1, 2);
    for (int i = 0; i < 101; ++i) {
      actor.take(1, 1h);
      actor.ask(claim_deed::complete, 0, 0ms);
    }
    return check_turns(events_.all());
  };
  EXPECT_EQ(round({db().claim("right", turns), events_}), std::nullopt);
  events_.clear();
  ASSERT_TRUE(spoil("the next message of a group keeps its place"));
  const std::string caught = said(round(wrong_actor(turns)));
  EXPECT_TRUE(contains(caught, "message 101 was ready before message")) << caught;
}

TEST_P(seeded_bug, a_completed_message_that_stays_is_caught) {
  ASSERT_TRUE(spoil("a completed message is ready again"));
  claim_actor actor = wrong_actor();
  actor.put(1);
  actor.take(1, 1h);
  actor.ask(claim_deed::complete, 0, 0ms);
  actor.take(1, 1h);
  EXPECT_EQ(said_of_claims(), "message 1: it was handed out and completed as well");
}

}  // namespace
