#include <optional>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::advice;
using tableq::errc;
using tableq::error;
using tableq_test::names_of;
using tableq_test::tds_answer;
using tableq_test::tds_change;
using tableq_test::tds_type;
using tableq_test::thrown_by;

namespace answers = tableq_test::sqlserver_rows;

/// In the server's messages and in the sent data; never in an error.
const std::string canary = "data-canary";

tds_answer one_message(std::int64_t id = 7) {
  tds_answer out = answers::messages();
  return out.row({id, 1000, nullptr, "seven"});
}

tds_answer one_delivery() {
  tds_answer out = answers::deliveries();
  return out.row({7, 1, 1, 0, 1000, nullptr, 31000, "key", nullptr, 0, nullptr, "seven"});
}

tds_answer deadlock_after(tds_answer answer) {
  return answer.error(1205, "Transaction was deadlocked by " + canary, 13, 51);
}

/// Refusals of a server with a working connection.
class sqlserver_trouble : public tableq_test::on_each_address {
 protected:
  static void expect_no_data(const error& failed) {
    const std::string said = failed.what();
    EXPECT_EQ(said.find("canary"), std::string::npos) << said;
    EXPECT_EQ(failed.backend(), "sqlserver");
  }

  tableq::database db_ = open(0ms);
  tableq::fifo_queue fifo_ = db_.fifo("fifo");
  tableq::claim_queue claim_ = db_.claim("claim");
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_trouble, testing::Bool(), tableq_test::address_name);

struct server_number {
  int number;
  errc code;
  advice safe;
};
constexpr server_number server_numbers[] = {
    {1205, errc::conflict, advice::transaction},
    {3960, errc::conflict, advice::transaction},
    {3930, errc::conflict, advice::transaction},
    {1222, errc::busy, advice::transaction},
    {701, errc::busy, advice::transaction},
    {40613, errc::busy, advice::session},
    {40501, errc::busy, advice::session},
    {2627, errc::constraint_violated, advice::never},
    {2601, errc::constraint_violated, advice::never},
    {547, errc::constraint_violated, advice::never},
    {515, errc::constraint_violated, advice::never},
    {208, errc::not_found, advice::never},
    {229, errc::permission_denied, advice::never},
    {207, errc::schema_mismatch, advice::never},
    {334, errc::schema_mismatch, advice::never},
    {2628, errc::schema_mismatch, advice::never},
    {8152, errc::schema_mismatch, advice::never},
    {650, errc::unsupported, advice::never},
    {1934, errc::unsupported, advice::never},
    {3906, errc::read_only, advice::never},
    {1105, errc::storage_full, advice::never},
    {9002, errc::storage_full, advice::never},
    {50123, errc::internal, advice::never},
};

TEST_P(sqlserver_trouble, is_told_by_the_servers_number_without_the_servers_words) {
  for (const server_number& each : server_numbers) {
    const std::string words = "The value is (" + canary + ").";
    script_.once("claim.enqueue", tds_answer().error(each.number, words));
    std::optional<error> failed;
    const auto came = sent_by([&] {
      failed = thrown_by([&] {
        claim_.enqueue(canary, {.headers = {{canary, canary}}, .key = canary});
      });
    });
    // The call before may have closed its session.
    std::string sent = names_of(came);
    if (each.code == errc::read_only) {  // it asks whether the session can write
      EXPECT_TRUE(sent.ends_with(" read_only_state")) << sent;
      sent.erase(sent.rfind(' '));
    }
    EXPECT_TRUE(sent == "claim.enqueue" || sent == "login setup claim.enqueue") << sent;
    EXPECT_EQ(to_string(failed->code()), to_string(each.code)) << each.number;
    EXPECT_EQ(to_string(failed->advice()), to_string(each.safe)) << each.number;
    EXPECT_EQ(failed->native(), each.number);
    EXPECT_EQ(failed->operation(), "claim.enqueue");
    EXPECT_GT(std::string(failed->what()).size(), std::string("sqlserver: claim.enqueue: ").size());
    expect_no_data(*failed);
  }
}

TEST_P(sqlserver_trouble, of_a_queue_that_was_made_anew_is_told_by_its_identity) {
  script_.once("fifo.enqueue", tds_answer().error(52003, "the queue was dropped"));
  script_.once("limits.ask",
               answers::limits().row({9, "claim", nullptr, nullptr, nullptr, nullptr, nullptr}));
  std::optional<error> failed;
  const auto came = sent_by([&] { failed = thrown_by([&] { fifo_.enqueue("p"); }); });
  EXPECT_EQ(to_string(failed->code()), "kind_mismatch") << failed->what();
  for (const auto& each : came) {
    const auto call = read_call(each);
    if (call.name != "fifo.enqueue") continue;
    EXPECT_EQ(call.own_identity,
              tableq_test::tds_value(tableq_test::sqlserver_script::queue("fifo").identity));
  }
  EXPECT_EQ(to_string(thrown_by([&] { fifo_.enqueue("p"); }).code()), "kind_mismatch");
}

TEST_P(sqlserver_trouble, is_the_error_among_messages_that_surround_it) {
  script_.once("fifo.enqueue", tds_answer()
                                   .info(5701, "Changed database context.")
                                   .info(50001, canary)
                                   .error(2627, canary)
                                   .info(3621, "The statement has been terminated."));
  const error failed = thrown_by([&] { fifo_.enqueue("p"); });
  EXPECT_EQ(failed.native(), 2627);
  expect_no_data(failed);
}

TEST_P(sqlserver_trouble, that_is_unknown_is_told_by_its_number_and_not_by_that_of_a_message) {
  script_.once("fifo.enqueue", tds_answer().info(50001, canary).error(50123, canary));
  const error failed = thrown_by([&] { fifo_.enqueue("p"); });
  EXPECT_EQ(to_string(failed.code()), "internal");
  EXPECT_EQ(failed.native(), 50123);
  expect_no_data(failed);
}

TEST_P(sqlserver_trouble, that_is_unknown_does_not_hide_the_one_that_is_known) {
  script_.once("fifo.enqueue", tds_answer().error(50123, canary).error(1205, canary, 13));
  const error failed = thrown_by([&] { fifo_.enqueue("p"); });
  EXPECT_EQ(to_string(failed.code()), "conflict");
  EXPECT_EQ(failed.native(), 1205);
  expect_no_data(failed);
}

TEST_P(sqlserver_trouble, outside_of_a_transaction_leaves_the_session_in_use) {
  script_.once("fifo.enqueue", tds_answer().error(2627, "there already"));
  EXPECT_CODE(constraint_violated, fifo_.enqueue("p"));
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "fifo.enqueue");
}

TEST_P(sqlserver_trouble, after_rows_is_an_error_and_gives_no_message) {
  script_.once("fifo.dequeue", deadlock_after(one_message()));
  script_.once("fifo.dequeue", one_message());
  std::vector<tableq::message> got;
  EXPECT_EQ(names_of(sent_by([&] { EXPECT_CODE(conflict, got = fifo_.dequeue_batch(10)); })),
            "fifo.dequeue");
  EXPECT_TRUE(got.empty());
  got = fifo_.dequeue_batch(10);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].payload, "seven");
}

TEST_P(sqlserver_trouble, after_rows_is_seen_wherever_it_stands) {
  const auto then = [](tds_answer answer) { return answer; };
  const auto error_last = one_message().columns({{"n", tds_type::bigint}}).row({1});
  const std::vector<tds_answer> answers{
      deadlock_after(one_message()),
      deadlock_after(one_message(7).row({8, 1000, nullptr, std::string(100'000, 'p')})),
      deadlock_after(one_message().info(50001, "printed")),
      deadlock_after(error_last),
      deadlock_after(one_message().columns({{"none", tds_type::bigint}})),
      deadlock_after(one_message().affected(3)),
      deadlock_after(answers::messages()),
      deadlock_after(tds_answer()),
      deadlock_after(tds_answer().affected(1)),
      then(deadlock_after(one_message()).columns({{"n", tds_type::bigint}}).row({1})),
      then(deadlock_after(one_message()).info(3621, "terminated")),
  };
  for (std::size_t i = 0; i < answers.size(); ++i) {
    script_.once("fifo.dequeue", answers[i]);
    const error failed = thrown_by([&] { (void)fifo_.dequeue(); });
    EXPECT_EQ(to_string(failed.code()), "conflict") << i;
    EXPECT_EQ(failed.native(), 1205) << i;
    expect_no_data(failed);
  }
}

TEST_P(sqlserver_trouble, after_rows_takes_and_settles_nothing) {
  script_.once("claim.take", deadlock_after(one_delivery()));
  EXPECT_CODE(conflict, (void)claim_.take(1));
  tds_answer settled = answers::added();
  script_.once("claim.complete", deadlock_after(settled.row({0, 1})));
  EXPECT_CODE(conflict, (void)claim_.complete(receipt_of("claim", 1)));
  tds_answer added = answers::added();
  script_.once("fifo.enqueue", deadlock_after(added.row({nullptr, 1})));
  EXPECT_CODE(conflict, fifo_.enqueue("p"));
}

TEST_P(sqlserver_trouble, that_passes_is_overcome_and_the_message_comes_once) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  for (const int number : {1205, 3960, 1222, 701}) {
    script_.once("fifo.dequeue", one_message(1).error(number, "passing"));
    script_.once("fifo.dequeue", one_message(2).error(number, "passing"));
    script_.once("fifo.dequeue", one_message(3));
    std::vector<tableq::message> got;
    EXPECT_EQ(names_of(sent_by([&] { got = fifo.dequeue_batch(10); })),
              "fifo.dequeue fifo.dequeue fifo.dequeue");
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].id.value, 3);
  }
}

TEST_P(sqlserver_trouble, that_stays_is_told_when_the_time_for_repeating_is_used_up) {
  auto db = open(300ms);  // longer than a round trip on a loaded machine
  auto fifo = db.fifo("fifo");
  script_.always("fifo.dequeue", deadlock_after(one_message()));
  const auto came = sent_by([&] { EXPECT_CODE(conflict, (void)fifo.dequeue()); });
  EXPECT_GT(came.size(), 1U);
}

TEST_P(sqlserver_trouble, that_will_not_pass_is_never_repeated) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  for (const int number : {2627, 208, 229, 334, 650, 1934, 2628, 1105, 50123}) {
    script_.once("fifo.enqueue", tds_answer().error(number, "no"));
    EXPECT_EQ(names_of(sent_by([&] { EXPECT_THROW(fifo.enqueue("p"), error); })), "fifo.enqueue");
  }
}

TEST_P(sqlserver_trouble, of_a_secondary_replica_is_repeated_once_on_a_new_session) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  for (const int number : {3906, 3908}) {
    script_.once("fifo.enqueue", tds_answer().error(number, "no"));
    script_.once("read_only_state",
                 tds_answer().columns({{"read_only_state", tds_type::bigint}}).row({1}));
    EXPECT_EQ(names_of(sent_by([&] { EXPECT_NO_THROW(fifo.enqueue("p")); })),
              "fifo.enqueue read_only_state login setup fifo.enqueue");
  }
}

/// An error inside a transaction that the caller handles.
class sqlserver_trouble_in_transactions : public sqlserver_trouble {};
INSTANTIATE_TEST_SUITE_P(, sqlserver_trouble_in_transactions, testing::Bool(),
                         tableq_test::address_name);

TEST_P(sqlserver_trouble_in_transactions, lets_nothing_out_but_the_rollback) {
  for (const int number : {1205, 2627, 1222, 50123}) {
    tds_answer refused = tds_answer().error(number, canary, 13);
    // With XACT_ABORT, or after a deadlock, the server has ended the transaction.
    script_.once("fifo.enqueue", refused.transaction(tds_change::rolled_back));
    const auto came = sent_by([&] {
      tableq::transaction tx = db_.begin();
      EXPECT_EQ(thrown_by([&] { fifo_.in(tx).enqueue("p"); }).native(), number);
      EXPECT_CODE(invalid_argument, fifo_.in(tx).enqueue("p"));
      EXPECT_CODE(invalid_argument, (void)fifo_.in(tx).dequeue());
      EXPECT_CODE(invalid_argument, (void)claim_.in(tx).complete(receipt_of("claim", 1)));
      EXPECT_CODE(invalid_argument, tx.commit());
      tx.rollback();
    });
    const std::string sent = names_of(came);
    EXPECT_TRUE(sent.ends_with("begin fifo.enqueue rollback")) << sent;
  }
}

TEST_P(sqlserver_trouble_in_transactions, throws_the_session_away) {
  script_.once("fifo.enqueue", tds_answer().error(2627, "there already"));
  const auto first = sent_by([&] {
    tableq::transaction tx = db_.begin();
    EXPECT_CODE(constraint_violated, fifo_.in(tx).enqueue("p"));
  });
  EXPECT_EQ(names_of(first), "begin fifo.enqueue rollback");
  const auto next = sent_by([&] { fifo_.enqueue("p"); });
  EXPECT_EQ(names_of(next), "login setup fifo.enqueue");
  EXPECT_NE(next.back().connection, first.back().connection);
}

TEST_P(sqlserver_trouble_in_transactions, after_rows_throws_the_session_away_too) {
  script_.once("fifo.dequeue", deadlock_after(one_message()));
  const auto first = sent_by([&] {
    tableq::transaction tx = db_.begin();
    EXPECT_CODE(conflict, (void)fifo_.in(tx).dequeue());
  });
  EXPECT_EQ(names_of(first), "begin fifo.dequeue rollback");
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "login setup fifo.enqueue");
}

TEST_P(sqlserver_trouble_in_transactions, runs_all_of_it_again_if_it_passes) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  script_.once("fifo.enqueue", deadlock_after(tds_answer()));
  script_.once("fifo.dequeue", one_message(1));
  script_.once("fifo.dequeue", one_message(2));
  std::vector<std::int64_t> seen;
  const auto came = sent_by([&] {
    db.transact([&](tableq::transaction& tx) {
      const auto got = fifo.in(tx).dequeue();
      seen.push_back(got.value().id.value);
      fifo.in(tx).enqueue(got->payload);
    });
  });
  EXPECT_EQ(names_of(came),
            "begin fifo.dequeue fifo.enqueue rollback "
            "login setup begin fifo.dequeue fifo.enqueue commit");
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2}));
}

TEST_P(sqlserver_trouble_in_transactions, that_the_commit_meets_is_no_success) {
  script_.once("commit", tds_answer().error(3902, "The COMMIT has no BEGIN TRANSACTION."));
  const auto came = sent_by([&] {
    tableq::transaction tx = db_.begin();
    fifo_.in(tx).enqueue("p");
    EXPECT_CODE(conflict, tx.commit());
    EXPECT_FALSE(tx.active());
  });
  EXPECT_EQ(names_of(came), "begin fifo.enqueue commit rollback");
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "login setup fifo.enqueue");
}

TEST_P(sqlserver_trouble_in_transactions, that_the_rollback_meets_closes_the_session) {
  script_.once("rollback", tds_answer().error(3903, "The ROLLBACK has no BEGIN TRANSACTION."));
  const auto came = sent_by([&] {
    tableq::transaction tx = db_.begin();
    fifo_.in(tx).enqueue("p");
  });
  EXPECT_TRUE(names_of(came).starts_with("begin fifo.enqueue rollback")) << names_of(came);
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "login setup fifo.enqueue");
}

}  // namespace
