#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::error;

/// Refusals of a server with a working connection.
class sqlserver_trouble : public on_scripted_sqlserver {
 protected:
  static tds_answer deadlock_after(tds_answer answer) {
    return answer.error(1205, "Transaction was deadlocked by data-canary", 13);
  }
  static void expect_no_data(const error& failed) {
    EXPECT_FALSE(contains(failed.what(), "canary")) << failed.what();
    EXPECT_EQ(failed.backend(), "sqlserver");
  }
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_trouble, all_ways, name_of_way);

TEST_P(sqlserver_trouble, is_told_by_the_servers_number_without_the_servers_words) {
  auto db = open(0ms);
  auto claim = db.claim("claim");
  for (const auto& [number, code] : {std::pair{1205, "conflict"},
                                     {2601, "conflict"},
                                     {229, "permission_denied"},
                                     {50123, "internal"}}) {
    // Messages surround it; an unknown error does not hide the known one.
    script_.once("claim.enqueue", tds_answer()
                                      .info(5701, "Changed database context.")
                                      .info(50001, "data-canary")
                                      .error(number,
                                             "Not in object 'dbo.claim' with unique index "
                                             "'claim_key'. The value is (data-canary).")
                                      .info(3621, "The statement has been terminated."));
    const error failed = thrown_by([&] { claim.enqueue("data-canary", {.key = "data-canary"}); });
    EXPECT_EQ(to_string(failed.code()), std::string_view(code)) << number;
    EXPECT_EQ(failed.native(), number);
    EXPECT_EQ(failed.operation(), "claim.enqueue");
    expect_no_data(failed);
  }
  script_.once("claim.enqueue", tds_answer().error(50123, "canary").error(1205, "canary", 13));
  EXPECT_EQ(thrown_by([&] { claim.enqueue("p"); }).native(), 1205);
}

TEST_P(sqlserver_trouble, after_rows_is_seen_wherever_it_stands_and_gives_no_message) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  const std::vector<tds_answer> answers{
      deadlock_after(message()),
      deadlock_after(message().row({8, 1000, nullptr, std::string(100'000, 'p')})),
      deadlock_after(message().info(50001, "printed")),
      deadlock_after(message().columns({{"n"}}).row({1})),
      deadlock_after(message().columns({{"none"}})),
      deadlock_after(message().affected(3)),
      deadlock_after(with_columns("id")),
      deadlock_after(tds_answer()),
      deadlock_after(tds_answer().affected(1)),
      deadlock_after(message()).columns({{"n"}}).row({1}),
  };
  for (std::size_t i = 0; i < answers.size(); ++i) {
    script_.once("fifo.dequeue", answers[i]);
    const error failed = thrown_by([&] { (void)fifo.dequeue(); });
    EXPECT_EQ(to_string(failed.code()), "conflict") << i << failed.what();
    EXPECT_EQ(failed.native(), 1205) << i;
    expect_no_data(failed);
  }
  script_.once("fifo.dequeue", message());
  EXPECT_EQ(fifo.dequeue().value().payload, "seven");
}

TEST_P(sqlserver_trouble, that_passes_is_overcome_and_that_stays_is_told) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  script_.once("fifo.dequeue", message(1).error(1205, "passing"));
  script_.once("fifo.dequeue", message(3));
  EXPECT_EQ(fifo.dequeue_batch(10).at(0).id.value, 3);
  script_.once("fifo.enqueue", tds_answer().error(40613, "not available", 17));
  EXPECT_EQ(names_of(sent_by([&] { fifo.enqueue("p"); })), "fifo.enqueue login setup fifo.enqueue");
  script_.once("fifo.enqueue", tds_answer().error(3906, "a secondary replica"));
  script_.once("read_only_state", with_columns("read_only_state").row({1}));
  EXPECT_EQ(names_of(sent_by([&] { fifo.enqueue("p"); })),
            "fifo.enqueue read_only_state login setup fifo.enqueue");
  script_.once("fifo.enqueue", tds_answer().error(2627, "no"));
  EXPECT_EQ(names_of(sent_by([&] { EXPECT_CODE(constraint_violated, fifo.enqueue("p")); })),
            "fifo.enqueue");
}

TEST_P(sqlserver_trouble, within_a_transaction_lets_nothing_out_but_the_rollback) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  for (const auto& refused : {tds_answer().error(2627, "there"), deadlock_after(message())}) {
    script_.once("fifo.dequeue", refused);
    const auto came = sent_by([&] {
      tableq::transaction tx = db.begin();
      EXPECT_THROW((void)fifo.in(tx).dequeue(), error);
      EXPECT_CODE(invalid_argument, fifo.in(tx).enqueue("p"));
      EXPECT_CODE(invalid_argument, tx.commit());
    });
    EXPECT_TRUE(names_of(came).ends_with("begin fifo.dequeue rollback")) << names_of(came);
    EXPECT_EQ(names_of(sent_by([&] { fifo.enqueue("p"); })), "login setup fifo.enqueue");
  }
}

TEST_P(sqlserver_trouble, of_commit_and_rollback_ends_the_session) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  script_.once("commit", tds_answer().error(3902, "The COMMIT has no BEGIN TRANSACTION."));
  EXPECT_EQ(names_of(sent_by([&] {
              tableq::transaction tx = db.begin();
              fifo.in(tx).enqueue("p");
              EXPECT_CODE(conflict, tx.commit());
            })),
            "begin fifo.enqueue commit rollback");
  script_.once("rollback", tds_answer().error(3903, "The ROLLBACK has no BEGIN TRANSACTION."));
  const auto came = sent_by([&] { db.begin().rollback(); });
  EXPECT_TRUE(names_of(came).starts_with("login setup begin rollback")) << names_of(came);
  EXPECT_EQ(names_of(sent_by([&] { fifo.enqueue("p"); })), "login setup fifo.enqueue");
}

TEST_P(sqlserver_trouble, of_a_right_is_told_where_the_server_does_not_show_the_table) {
  auto db = open(0ms);
  // OBJECT_ID is NULL.
  script_.always("catalog.queue",
                 with_columns("name:n identity kind:n layout:i options:n created_at present:i")
                     .row({"fifo", sqlserver_script::identity_of("fifo"), "fifo", 1,
                           "ordering=relaxed", 1, 0}));
  script_.once("queue.count", tds_answer().error(229, "The SELECT permission was denied.", 14));
  auto fifo = db.fifo("fifo");
  script_.once("fifo.enqueue", tds_answer().error(229, "The INSERT permission was denied.", 14));
  const error denied = thrown_by([&] { fifo.enqueue("p"); });
  EXPECT_EQ(to_string(denied.code()), "permission_denied") << denied.what();
  EXPECT_TRUE(contains(denied.what(), "lacks a right on the table")) << denied.what();
  script_.once("queue.count", tds_answer().error(208, "Invalid object name.", 16));
  const error gone = thrown_by([&] { (void)db.fifo("fifo"); });
  EXPECT_EQ(to_string(gone.code()), "schema_mismatch");
  EXPECT_TRUE(contains(gone.what(), "its table is gone")) << gone.what();
  // A right on columns is enough to count, but a server may show no table for it.
  EXPECT_NO_THROW((void)db.fifo("fifo"));
}

}  // namespace
