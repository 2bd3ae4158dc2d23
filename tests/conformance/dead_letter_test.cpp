#include <gtest/gtest.h>

#include <functional>

#include "conformance/claim_fixture.hpp"
#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class dead_letters : public claim_test {
 protected:
  tableq::claim_queue mail() {
    return db_with_clock().claim("mail", {.max_attempts = 1, .dead_letters = "morgue"});
  }
};
TABLEQ_ON_BACKENDS(dead_letters, all_backends);

TEST_P(dead_letters, over_the_limit_of_the_options_move_and_come_back) {
  if (!can().shared) GTEST_SKIP() << "no second session reaches this database";
  mail().enqueue("longer than four bytes");
  auto narrow = open({.max_payload = 4});
  auto queue = narrow.claim("mail");
  EXPECT_CODE(too_large, queue.enqueue("five!"));
  EXPECT_EQ(queue.fail(take_one(queue).receipt, "no"), settle_result::applied);
  EXPECT_EQ(narrow.claim("morgue").stats().ready, 1U);
  EXPECT_EQ(queue.redrive_all().count, 1U);
  EXPECT_EQ(take_one(queue).payload, "longer than four bytes");
}

TEST_P(dead_letters, keep_the_order_of_their_moves_through_any_server) {
  if (here().other_url() == here().url()) GTEST_SKIP() << "there is one server";
  auto elsewhere = tableq::database::open(here().other_url(), {.clock = clock.source()});
  auto queue = mail();
  auto same = elsewhere.claim("mail");
  for (int i = 0; i < 4; ++i) {
    auto& through = i % 2 == 0 ? queue : same;
    queue.enqueue("p" + std::to_string(i));
    EXPECT_EQ(through.fail(take_one(through).receipt, "no"), settle_result::applied);
  }
  auto morgue = db_with_clock().claim("morgue");
  for (const std::string& each : numbered(4)) EXPECT_EQ(take_one(morgue).payload, each);
}

TEST_P(dead_letters, are_counted_where_they_came_from_up_to_the_limit) {
  auto queue = mail();
  auto other = db_with_clock().claim("mail.2", {.max_attempts = 1, .dead_letters = "morgue"});
  EXPECT_EQ(queue.stats().dead_letters, 0U);
  EXPECT_FALSE(db_with_clock().claim("morgue").stats().dead_letters) << "it has none itself";
  const auto bury = [](tableq::claim_queue& dying, int count) {
    for (int i = 0; i < count; ++i) {
      // A header whose value looks like the one that is searched for.
      dying.enqueue("x", {.headers = {{"a", R"("tableq-source":"mail")"}, {"z", "after"}}});
      EXPECT_EQ(dying.fail(take_one(dying).receipt, "no"), settle_result::applied);
    }
  };
  bury(queue, 3);
  bury(other, 2);
  auto morgue = db_with_clock().claim("morgue");
  morgue.enqueue("of its own", {.headers = {{"a", R"("tableq-source":"mail")"}}});
  morgue.enqueue("of its own, without headers");
  const auto all = queue.stats();
  EXPECT_EQ(all.dead, 0U);
  EXPECT_EQ(all.dead_letters, 3U);
  EXPECT_FALSE(all.dead_letters_at_least);
  EXPECT_EQ(other.stats({.exact = true}).dead_letters, 2U);
  const auto some = queue.stats({.count_to = 2});
  EXPECT_EQ(some.dead_letters, 2U);
  EXPECT_TRUE(some.dead_letters_at_least);
  const auto far = other.stats({.count_to = 4});
  EXPECT_EQ(far.dead_letters, 1U) << "the others were looked at before";
  EXPECT_TRUE(far.dead_letters_at_least);
  EXPECT_EQ(queue.redrive_all().count, 3U);
  EXPECT_EQ(queue.stats().dead_letters, 0U);
}

TEST_P(dead_letters, are_found_by_inspect_and_leave_the_figures_when_their_queue_is_gone) {
  auto queue = mail();
  const auto found = [&] {
    std::string out;
    for (const tableq::finding& each : db_with_clock().inspect()) {
      if (each.subject == "mail" && contains(each.what, "dead-letter queue")) out += each.what;
    }
    return out;
  };
  EXPECT_EQ(found(), "");
  queue.enqueue("letter");
  EXPECT_EQ(queue.fail(take_one(queue).receipt, "no"), settle_result::applied);
  EXPECT_EQ(found(), "1 of its messages are dead and wait in the dead-letter queue morgue");
  EXPECT_TRUE(db_with_clock().drop("morgue"));
  EXPECT_FALSE(queue.stats().dead_letters);
  EXPECT_EQ(found(),
            "its dead-letter queue morgue is missing: messages cannot die, and come back again and "
            "again");
}

TEST_P(dead_letters, move_in_the_transaction_of_the_failure) {
  auto queue = mail();
  queue.enqueue("letter");
  const auto mine = take_one(queue);
  {
    tableq::transaction tx = db_with_clock().begin();
    EXPECT_EQ(queue.in(tx).fail(mine.receipt, "no"), settle_result::applied);
    tx.rollback();
  }
  auto morgue = db_with_clock().claim("morgue");
  EXPECT_EQ(morgue.stats().ready, 0U);
  EXPECT_EQ(queue.fail(mine.receipt, "no"), settle_result::applied);
  EXPECT_EQ(morgue.stats().ready, 1U);
}

TEST_P(dead_letters, are_stored_with_the_queue_and_hold_for_every_handle) {
  (void)mail();
  auto again = db_with_clock().claim("mail");
  again.enqueue("letter");
  EXPECT_EQ(again.fail(take_one(again).receipt, "no"), settle_result::applied);
  EXPECT_EQ(db_with_clock().claim("morgue").stats().ready, 1U);
  EXPECT_EQ(db_with_clock().find("mail")->dead_letters, "morgue");
}

TEST_P(dead_letters, need_another_claim_queue) {
  EXPECT_CODE(invalid_argument, (void)db_with_clock().claim("mail", {.dead_letters = "mail"}));
  EXPECT_CODE(invalid_argument, (void)db_with_clock().claim("mail", {.dead_letters = "no; name"}));
  EXPECT_CODE(invalid_argument, (void)db_with_clock().claim("mail", {.dead_letters = ""}));
  (void)db_with_clock().fifo("plain");
  const tableq::error refused =
      thrown_by([&] { (void)db_with_clock().claim("mail", {.dead_letters = "plain"}); });
  EXPECT_EQ(refused.code(), tableq::errc::kind_mismatch);
  EXPECT_TRUE(contains(refused.what(), "dead-letter queue of mail")) << refused.what();
  EXPECT_FALSE(db_with_clock().find("mail").has_value()) << "nothing was made";
}

TEST_P(dead_letters, with_held_keys_do_not_count_towards_the_maximum) {
  auto queue = mail();
  for (const char* const key : {"a", "b", "c", "free"}) {
    queue.enqueue(key, {.key = key});
    EXPECT_EQ(queue.fail(take_one(queue).receipt, "no"), settle_result::applied);
  }
  for (const char* const key : {"a", "b", "c"}) queue.enqueue("holder", {.key = key});
  const auto got = queue.redrive_all({.max = 1});
  EXPECT_EQ(got.count, 1U);
  EXPECT_EQ(got.key_held, 3U);
  EXPECT_EQ(queue.find("free").value().payload, "free");
}

TEST_P(dead_letters, come_back_when_the_window_of_their_key_is_over) {
  auto queue = db_with_clock().claim(
      "mail", {.max_attempts = 1, .key_window = 1min, .dead_letters = "morgue"});
  queue.enqueue("letter", {.key = "k"});
  EXPECT_EQ(queue.fail(take_one(queue).receipt, "no"), settle_result::applied);
  queue.enqueue("holder", {.key = "k"});
  EXPECT_EQ(queue.complete(take_one(queue)), settle_result::applied);
  EXPECT_EQ(queue.redrive_all().key_held, 1U);
  clock.advance(2min);
  EXPECT_EQ(queue.redrive_all().count, 1U);
  EXPECT_EQ(queue.find("k").value().payload, "letter");
}

TEST_P(dead_letters, come_back_without_keys_that_last_until_the_first_take) {
  auto queue = db_with_clock().claim(
      "mail", {.max_attempts = 1, .keys = tableq::key_scope::waiting, .dead_letters = "morgue"});
  queue.enqueue("letter", {.key = "k"});
  EXPECT_EQ(queue.fail(take_one(queue).receipt, "no"), settle_result::applied);
  EXPECT_TRUE(queue.enqueue("another", {.key = "k"}).created());
  EXPECT_EQ(queue.redrive_all().count, 1U);
  EXPECT_EQ(queue.find("k").value().payload, "another");
}

TEST_P(dead_letters, that_are_missing_are_named_with_what_to_do) {
  auto queue = mail();
  queue.enqueue("letter");
  const auto taken = take_one(queue);
  db_with_clock().drop("morgue");
  const auto named = [&](const std::function<void()>& call) {
    const tableq::error failure = thrown_by(call);
    EXPECT_EQ(failure.code(), tableq::errc::not_found) << failure.what();
    EXPECT_TRUE(contains(failure.what(), "morgue")) << failure.what();
    EXPECT_TRUE(contains(failure.what(), "create it again")) << failure.what();
  };
  named([&] { static_cast<void>(queue.fail(taken.receipt, "no")); });
  named([&] { queue.redrive_all(); });
  auto again = mail();
  EXPECT_EQ(again.fail(taken.receipt, "no"), settle_result::applied);
  EXPECT_EQ(again.redrive_all().count, 1U);
}

/// Where two database objects see one database.
class shared_dead_letters : public dead_letters {};
TABLEQ_ON_BACKENDS(shared_dead_letters, shared_backends);

TEST_P(shared_dead_letters, that_are_missing_stop_no_program_that_makes_no_queue) {
  static_cast<void>(mail());
  db_with_clock().drop("morgue");
  auto careful = open({.schema = tableq::schema_policy::verify_only});
  auto queue = careful.claim("mail");
  queue.enqueue("letter");
  EXPECT_EQ(queue.stats().ready, 1U);
  const auto taken = queue.take(1);
  ASSERT_EQ(taken.size(), 1U);
  const auto die = [&](tableq::claim_queue& in) {
    return in.fail(taken[0].receipt, "no", {.give_up = true});
  };
  const tableq::error failure = thrown_by([&] { static_cast<void>(die(queue)); });
  EXPECT_EQ(failure.code(), tableq::errc::not_found) << failure.what();
  EXPECT_TRUE(contains(failure.what(), "dead-letter queue morgue")) << failure.what();
  static_cast<void>(db_with_clock().claim("morgue"));
  auto again = careful.claim("mail");
  EXPECT_EQ(die(again), settle_result::applied);
  EXPECT_EQ(again.stats().dead_letters, 1U);
  EXPECT_CODE(not_found, (void)careful.claim("other", {.dead_letters = "nowhere"}));
}

class claim_redrive : public claim_test {
 protected:
  void bury(int count) {
    auto brittle = db_with_clock().claim("jobs", {.max_attempts = 1});
    for (int i = 0; i < count; ++i) brittle.enqueue(std::to_string(i));
    for (const auto& each : brittle.take(100)) {
      EXPECT_EQ(brittle.fail(each.receipt, std::stoi(each.payload) % 2 == 0 ? "even" : "odd"),
                settle_result::applied);
    }
  }
};
TABLEQ_ON_BACKENDS(claim_redrive, all_backends);

TEST_P(claim_redrive, chooses_by_what_stands_in_the_message) {
  bury(6);
  EXPECT_EQ(jobs()
                .redrive_all({.filter =
                                  [](const tableq::stored_message& each) {
                                    return each.errors.back().error == "odd";
                                  }})
                .count,
            3U);
  std::vector<std::string> back;
  for (const auto& each : jobs().take(100)) back.push_back(each.payload);
  EXPECT_EQ(back, (std::vector<std::string>{"1", "3", "5"}));
  EXPECT_EQ(jobs().stats().dead, 3U);
}

TEST_P(claim_redrive, puts_back_no_more_than_was_asked_for) {
  bury(6);
  EXPECT_EQ(jobs().redrive_all({.max = 4}).count, 4U);
  EXPECT_EQ(jobs().stats().dead, 2U);
  EXPECT_EQ(jobs().redrive_all().count, 2U);
}

TEST_P(claim_redrive, goes_at_the_rate_that_was_asked_for) {
  bury(5);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(jobs().redrive_all({.per_second = 20}).count, 5U);
  // Two in each tenth of a second, and a pause after each pair.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 200ms);
}

TEST_P(claim_redrive, stops_when_it_is_told_to) {
  bury(6);
  std::stop_source stop;
  int looked_at = 0;
  EXPECT_EQ(jobs()
                .redrive_all({.filter =
                                  [&](const tableq::stored_message&) {
                                    if (++looked_at == 2) stop.request_stop();
                                    return true;
                                  },
                              .per_second = 20,
                              .stop = stop.get_token()})
                .count,
            2U);
  EXPECT_CODE(invalid_argument, jobs().redrive_all({.per_second = -1}));
}

}  // namespace
