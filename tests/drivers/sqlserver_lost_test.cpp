#include <chrono>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::error;

/// A connection that breaks.
class sqlserver_lost : public on_scripted_sqlserver {};
INSTANTIATE_TEST_SUITE_P(, sqlserver_lost, all_ways, name_of_way);

TEST_P(sqlserver_lost, leaves_a_change_unknown_and_makes_a_look_look_again) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  for (const auto& cut : {tds_answer().cut(), message().cut()}) {
    script_.once("fifo.dequeue", cut);
    EXPECT_EQ(names_of(sent_by([&] { EXPECT_CODE(outcome_unknown, (void)fifo.dequeue()); })),
              "fifo.dequeue");
    script_.once("fifo.peek", cut);
    EXPECT_EQ(names_of(sent_by([&] { (void)fifo.peek(); })),
              "login setup fifo.peek login setup fifo.peek");
  }
}

TEST_P(sqlserver_lost, by_an_error_that_ends_the_session_is_told_by_the_servers_number) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  for (const int number : {596, 6005, 40613, 2627, 50123}) {
    // The driver puts two records of its own before the server's.
    script_.once("fifo.enqueue", tds_answer().error(number, "data-canary", 21).cut());
    const error failed = thrown_by([&] { fifo.enqueue("p"); });
    EXPECT_EQ(to_string(failed.code()), "outcome_unknown") << number;
    EXPECT_EQ(failed.native(), number);
    EXPECT_FALSE(contains(failed.what(), "canary")) << failed.what();
  }
  script_.once("fifo.enqueue", tds_answer().error(40197, "failing over"));
  EXPECT_CODE(outcome_unknown, fifo.enqueue("p"));
  EXPECT_EQ(names_of(sent_by([&] { fifo.enqueue("p"); })), "login setup fifo.enqueue");
}

TEST_P(sqlserver_lost, after_any_number_of_bytes_gives_a_whole_answer_or_an_error) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  bool whole = false;
  for (std::size_t bytes = 0; !whole; bytes += 3) {
    ASSERT_LT(bytes, 1000U);
    tds_answer answer = message();
    script_.once("fifo.dequeue", answer.row({8, 1000, nullptr, "eight"}).cut_after_bytes(bytes));
    try {
      whole = fifo.dequeue_batch(2).size() == 2;
      ASSERT_TRUE(whole) << bytes;
    } catch (const error& failed) {
      EXPECT_EQ(to_string(failed.code()), "outcome_unknown") << bytes << failed.what();
    }
  }
}

TEST_P(sqlserver_lost, within_a_transaction_has_changed_nothing_unless_in_its_commit) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  script_.once("fifo.dequeue", message().cut());
  int runs = 0;
  const auto body = [&](tableq::transaction& tx) {
    ++runs;
    (void)fifo.in(tx).dequeue();
  };
  EXPECT_EQ(names_of(sent_by([&] { db.transact(body); })),
            "begin fifo.dequeue login setup begin fifo.dequeue commit");
  EXPECT_EQ(runs, 2);
  // After each byte of the commit's answer, which has 21.
  for (std::size_t bytes = 0; bytes < 21; ++bytes) {
    script_.once("commit", tds_answer().cut_after_bytes(bytes));
    const auto came = sent_by([&] { EXPECT_CODE(outcome_unknown, db.transact(body)); });
    EXPECT_TRUE(names_of(came).ends_with("begin fifo.dequeue commit")) << names_of(came);
  }
  EXPECT_EQ(runs, 23);
}

TEST_P(sqlserver_lost, while_idle_is_told_in_words_of_ones_own_and_never_repaired_in_silence) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  server_.cut_all();
  const auto came = sent_by([&] {
    const std::string said = thrown_by([&] { fifo.enqueue("p"); }).what();
    EXPECT_TRUE(contains(said, "the connection to the server broke, or")) << said;
  });
  EXPECT_EQ(names_of(came), "");
  EXPECT_EQ(names_of(sent_by([&] { fifo.enqueue("p"); })), "login setup fifo.enqueue");
}

/// These wait for some seconds: the client libraries have no shorter time-outs.
class sqlserver_time_out : public on_scripted_sqlserver {
 protected:
  [[nodiscard]] tableq::database open_with_limit() const {
    return tableq::database::open(address("&statement_timeout=1s"), {.retry_for = 0ms});
  }
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_time_out, both_drivers, name_of_way);

TEST_P(sqlserver_time_out, ends_a_statement_and_its_session_and_repeats_nothing) {
  auto db = open_with_limit();
  auto fifo = db.fifo("fifo");
  script_.once("fifo.enqueue", tds_answer().wait());
  EXPECT_EQ(names_of(sent_by([&] { EXPECT_CODE(outcome_unknown, fifo.enqueue("p")); })),
            "fifo.enqueue attention");
  script_.once("fifo.peek", message().wait());
  EXPECT_EQ(names_of(sent_by([&] { EXPECT_CODE(cancelled, (void)fifo.peek()); })),
            "login setup fifo.peek attention");
}

TEST_P(sqlserver_time_out, holds_with_a_server_that_does_not_answer_the_attention) {
  auto db = open_with_limit();
  auto fifo = db.fifo("fifo");
  script_.once("fifo.dequeue", tds_answer().hang());
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(names_of(sent_by([&] {
              tableq::transaction tx = db.begin();
              EXPECT_CODE(cancelled, (void)fifo.in(tx).dequeue());
            })),
            "begin fifo.dequeue");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 12s);
  EXPECT_EQ(names_of(sent_by([&] { fifo.enqueue("p"); })), "login setup fifo.enqueue");
}

}  // namespace
