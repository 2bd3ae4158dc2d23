#include <future>
#include <optional>
#include <set>

#include "drivers/sqlserver_fixture.hpp"
#include "drivers/sqlserver_operations.hpp"
#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::error;
using tableq_test::names_of;
using tableq_test::sqlserver_operation;
using tableq_test::sqlserver_operations;
using tableq_test::tds_answer;
using tableq_test::tds_column;
using tableq_test::tds_gate;
using tableq_test::tds_type;
using tableq_test::tds_value;
using tableq_test::thrown_by;

namespace answers = tableq_test::sqlserver_rows;

tds_answer message_seven() {
  tds_answer out = answers::messages();
  return out.row({7, 1000, nullptr, "seven"});
}

/// Before the answer, in the middle of a row, and just before the end.
std::vector<tds_answer> cuts_of(const std::string& name) {
  tds_answer head;
  std::vector<tds_value> row;
  if (name == "claim.peek" || name == "claim.get" || name == "claim.find" ||
      name.starts_with("claim.list")) {
    head = name == "claim.get" ? answers::stored_items() : answers::stored();
    row = {7,       0,       0,       0,       1000,    0,       nullptr,
           nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, "seven"};
    if (name == "claim.get") row.insert(row.begin(), 0);
  } else if (name.ends_with(".peek") || name.find(".dequeue") != std::string::npos) {
    head = answers::messages();
    row = {7, 1000, nullptr, "seven"};
  } else {
    head.columns(std::vector<tds_column>(10, {"number", tds_type::bigint}));
    row = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  }
  return {tds_answer().cut(), tds_answer(head).row(row).cut_in_row(row, 11),
          tds_answer(head).row(row).cut()};
}

/// A connection that breaks.
class sqlserver_lost : public tableq_test::on_each_address {
 protected:
  std::size_t count_of(std::string_view name) const {
    std::size_t out = 0;
    for (const auto& each : server_.requests()) out += read_call(each).name == name ? 1U : 0U;
    return out;
  }

  tableq::database db_ = open(10s);
  tableq::fifo_queue fifo_ = db_.fifo("fifo");
  tableq::claim_queue claim_ = db_.claim("claim");
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_lost, testing::Bool(), tableq_test::address_name);

bool only_looks(const std::string& name) {
  return name.ends_with(".peek") || name.ends_with(".stats") || name.starts_with("claim.list") ||
         name == "claim.get" || name == "claim.letters" || name == "claim.find" ||
         name.ends_with(".next_due") || name.ends_with(".count") || name.ends_with(".leased") ||
         name == "claim.lost" || name == "claim.unseen";
}

TEST_P(sqlserver_lost, leaves_the_outcome_of_a_change_unknown_and_repeats_nothing) {
  for (const sqlserver_operation& each : sqlserver_operations(db_)) {
    if (only_looks(each.sends) || each.strict) continue;
    for (const tds_answer& cut : cuts_of(each.sends)) {
      script_.once(each.sends, cut);
      const std::size_t before = count_of(each.sends);
      std::optional<error> failed;
      const auto came = sent_by([&] { failed = thrown_by(each.run); });
      EXPECT_EQ(to_string(failed->code()), "outcome_unknown") << each.sends;
      EXPECT_EQ(to_string(failed->advice()), "never") << each.sends;
      EXPECT_NE(std::string_view(failed->what()).find(each.sends), std::string_view::npos);
      EXPECT_TRUE(names_of(came).ends_with(each.sends)) << names_of(came);
      EXPECT_EQ(count_of(each.sends), before + 1) << each.sends;
    }
  }
}

TEST_P(sqlserver_lost, undoes_an_operation_of_a_strict_queue_unless_its_commit_was_sent) {
  for (const sqlserver_operation& each : sqlserver_operations(db_)) {
    if (!each.strict) continue;
    const std::string whole = "begin queue.lock " + each.sends + " commit";
    script_.once(each.sends, tds_answer().cut());
    EXPECT_EQ(names_of(sent_by(each.run)),
              "begin queue.lock " + each.sends + " login setup " + whole);
    script_.once("commit", tds_answer().cut());
    EXPECT_EQ(names_of(sent_by([&] { EXPECT_CODE(outcome_unknown, each.run()); })), whole);
    EXPECT_EQ(names_of(sent_by(each.run)), "login setup " + whole);
  }
}

TEST_P(sqlserver_lost, leaves_the_outcome_of_a_take_unknown) {
  script_.once("claim.take", tds_answer().cut());
  EXPECT_EQ(names_of(sent_by([&] { EXPECT_CODE(outcome_unknown, (void)claim_.take(1)); })),
            "claim.take");
}

TEST_P(sqlserver_lost, makes_what_only_looks_look_again_on_a_new_session) {
  for (const sqlserver_operation& each : sqlserver_operations(db_)) {
    if (!only_looks(each.sends)) continue;
    for (const tds_answer& cut : cuts_of(each.sends)) {
      script_.once(each.sends, cut);
      EXPECT_EQ(names_of(sent_by(each.run)), each.sends + " login setup " + each.sends);
    }
  }
}

TEST_P(sqlserver_lost, is_told_by_what_only_looks_if_nothing_may_be_repeated) {
  auto db = open(0ms);
  for (const sqlserver_operation& each : sqlserver_operations(db)) {
    if (!only_looks(each.sends)) continue;
    for (const tds_answer& cut : cuts_of(each.sends)) {
      script_.once(each.sends, cut);
      EXPECT_CODE(connection_lost, each.run());
    }
  }
}

TEST_P(sqlserver_lost, is_followed_by_a_new_session) {
  script_.once("fifo.enqueue", tds_answer().cut());
  EXPECT_CODE(outcome_unknown, fifo_.enqueue("p"));
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "login setup fifo.enqueue");
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "fifo.enqueue");
}

TEST_P(sqlserver_lost, by_an_error_that_ends_the_session_leaves_the_outcome_unknown) {
  for (const int number : {596, 6005, 40197, 40613, 1205, 2627, 50123}) {
    script_.once("fifo.enqueue", tds_answer().error(number, "data-canary", 21).cut());
    const error failed = thrown_by([&] { fifo_.enqueue("p"); });
    EXPECT_EQ(to_string(failed.code()), "outcome_unknown") << number;
    EXPECT_EQ(failed.native(), number);
    EXPECT_EQ(std::string(failed.what()).find("canary"), std::string::npos) << failed.what();
    EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "login setup fifo.enqueue");
  }
}

TEST_P(sqlserver_lost, as_the_service_says_is_lost_though_the_connection_holds) {
  for (const int number : {40197, 596}) {
    script_.once("fifo.enqueue", tds_answer().error(number, "failing over"));
    EXPECT_CODE(outcome_unknown, fifo_.enqueue("p"));
    EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "login setup fifo.enqueue");
  }
}

TEST_P(sqlserver_lost, after_any_number_of_bytes_gives_a_whole_answer_or_an_error) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  std::size_t bytes = 0;
  for (bool whole = false; !whole; ++bytes) {
    ASSERT_LT(bytes, 1000U);
    tds_answer answer = message_seven().row({8, 1000, nullptr, "eight"});
    script_.once("fifo.dequeue", answer.cut_after_bytes(bytes));
    try {
      const auto got = fifo.dequeue_batch(2);
      whole = true;
      ASSERT_EQ(got.size(), 2U) << bytes;
      EXPECT_EQ(got[0].payload + got[1].payload, "seveneight");
    } catch (const error& failed) {
      EXPECT_EQ(to_string(failed.code()), "outcome_unknown") << bytes << failed.what();
    }
  }
  EXPECT_GT(bytes, 150U);
}

TEST_P(sqlserver_lost, within_a_transaction_is_certain_to_have_changed_nothing) {
  for (const tds_answer& cut : cuts_of("fifo.dequeue")) {
    script_.once("fifo.dequeue", cut);
    const auto came = sent_by([&] {
      tableq::transaction tx = db_.begin();
      EXPECT_CODE(connection_lost, (void)fifo_.in(tx).dequeue());
      EXPECT_CODE(invalid_argument, fifo_.in(tx).enqueue("p"));
      EXPECT_CODE(invalid_argument, tx.commit());
    });
    EXPECT_TRUE(names_of(came).ends_with("begin fifo.dequeue")) << names_of(came);
  }
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "login setup fifo.enqueue");
}

TEST_P(sqlserver_lost, within_transact_runs_all_of_it_again) {
  script_.once("fifo.dequeue", message_seven().cut());
  script_.once("fifo.dequeue", message_seven());
  int runs = 0;
  const auto came = sent_by([&] {
    db_.transact([&](tableq::transaction& tx) {
      ++runs;
      EXPECT_EQ(fifo_.in(tx).dequeue().value().payload, "seven");
    });
  });
  EXPECT_EQ(names_of(came), "begin fifo.dequeue login setup begin fifo.dequeue commit");
  EXPECT_EQ(runs, 2);
}

TEST_P(sqlserver_lost, while_it_begins_a_transaction_begins_it_elsewhere) {
  script_.once("begin", tds_answer().cut());
  const auto came = sent_by([&] { db_.begin().rollback(); });
  EXPECT_EQ(names_of(came), "begin login setup begin rollback");
}

TEST_P(sqlserver_lost, in_the_commit_leaves_the_outcome_unknown_and_repeats_nothing) {
  script_.once("commit", tds_answer().cut());
  EXPECT_EQ(names_of(sent_by([&] {
              tableq::transaction tx = db_.begin();
              fifo_.in(tx).enqueue("p");
              EXPECT_CODE(outcome_unknown, tx.commit());
              EXPECT_FALSE(tx.active());
            })),
            "begin fifo.enqueue commit");
  script_.once("commit", tds_answer().cut());
  int runs = 0;
  EXPECT_EQ(names_of(sent_by([&] {
              EXPECT_CODE(outcome_unknown, db_.transact([&](tableq::transaction& tx) {
                ++runs;
                fifo_.in(tx).enqueue("p");
              }));
            })),
            "login setup begin fifo.enqueue commit");
  EXPECT_EQ(runs, 1);
}

TEST_P(sqlserver_lost, in_the_rollback_is_followed_by_a_new_session) {
  script_.once("rollback", tds_answer().cut());
  db_.begin().rollback();
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "login setup fifo.enqueue");
}

TEST_P(sqlserver_lost, amid_the_pieces_of_a_batch_is_repeated_and_in_its_commit_is_not) {
  const std::vector<tableq::new_message> many(300, {.payload = "p", .options = {}});
  script_.once("fifo.enqueue", tds_answer().cut());
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue_batch(many); })),
            "begin fifo.enqueue login setup begin fifo.enqueue fifo.enqueue commit");
  script_.once("commit", tds_answer().cut());
  const auto came = sent_by([&] { EXPECT_CODE(outcome_unknown, fifo_.enqueue_batch(many)); });
  EXPECT_TRUE(names_of(came).ends_with("commit")) << names_of(came);
}

TEST_P(sqlserver_lost, while_idle_spoils_nothing_that_only_looks) {
  server_.cut_all();
  ASSERT_TRUE(server_.left_alone());
  EXPECT_TRUE(names_of(sent_by([&] { (void)fifo_.stats(); })).ends_with("login setup fifo.stats"));
}

TEST_P(sqlserver_lost, while_idle_is_at_worst_an_unknown_outcome_of_one_change) {
  server_.cut_all();
  ASSERT_TRUE(server_.left_alone());
  std::string told = "done";
  const auto came = sent_by([&] {
    try {
      fifo_.enqueue("p");
    } catch (const error& failed) {
      told = to_string(failed.code());
    }
  });
  EXPECT_TRUE(told == "done" ? names_of(came) == "login setup fifo.enqueue"
                             : told == "outcome_unknown" && came.empty())
      << told << ": " << names_of(came);
  fifo_.enqueue("p");
}

/// The only test that waits, for a second: the client library has no shorter time-out.
class sqlserver_time_out : public tableq_test::on_scripted_sqlserver {};

TEST_F(sqlserver_time_out, ends_a_statement_and_its_session_and_repeats_nothing) {
  const tds_gate never;
  const std::string address = tableq_test::sqlserver_address(server_, "&statement_timeout=1s");
  const auto opened = [&](std::chrono::milliseconds retry_for) {
    return tableq::database::open(address, {.retry_for = retry_for});
  };
  auto writer = opened(10s);
  auto reader = opened(0ms);
  auto worker = opened(10s);
  auto enqueues = writer.fifo("fifo");
  auto peeks = reader.lifo("lifo");
  auto takes = worker.heap("heap");
  script_.once("fifo.enqueue", tds_answer().wait(never));
  script_.once("lifo.peek", message_seven().wait(never));
  script_.once("heap.dequeue", message_seven().wait(never));
  const std::size_t mark = server_.mark();
  auto looked =
      std::async(std::launch::async, [&] { return thrown_by([&] { (void)peeks.peek(); }); });
  auto took = std::async(std::launch::async, [&] {
    tableq::transaction tx = worker.begin();
    return thrown_by([&] { (void)takes.in(tx).dequeue(); });
  });
  EXPECT_EQ(to_string(thrown_by([&] { enqueues.enqueue("p"); }).code()), "outcome_unknown");
  EXPECT_EQ(to_string(looked.get().code()), "cancelled");
  EXPECT_EQ(to_string(took.get().code()), "cancelled");
  std::map<std::size_t, std::string> came;
  for (const auto& each : server_.requests_since(mark)) {
    if (read_call(each).name == "limits.ask") continue;
    std::string& of_one = came[each.connection];
    of_one += (of_one.empty() ? "" : " ") + read_call(each).name;
  }
  std::multiset<std::string> talks;
  for (const auto& [connection, talk] : came) talks.insert(talk);
  EXPECT_EQ(talks, (std::multiset<std::string>{"fifo.enqueue attention", "lifo.peek attention",
                                               "begin heap.dequeue attention rollback"}));
  EXPECT_EQ(names_of(sent_by([&] { enqueues.enqueue("p"); })), "login setup fifo.enqueue");
  EXPECT_EQ(names_of(sent_by([&] { (void)peeks.peek(); })), "login setup lifo.peek");
  EXPECT_EQ(names_of(sent_by([&] { (void)takes.dequeue(); })), "login setup heap.dequeue");
}

}  // namespace
