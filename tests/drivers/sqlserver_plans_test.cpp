#include <soci/soci.h>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"
#include "support/soci_sessions.hpp"
#include "support/text.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::errc;
using tableq_test::contains;
using tableq_test::names_of;
using tableq_test::read_call;
using tableq_test::tds_answer;
using tableq_test::tds_request;

namespace answers = tableq_test::sqlserver_rows;

tds_answer no_plan(int number = 8622) {
  return tds_answer().error(number, "Query processor could not produce a query plan.");
}

/// Hints for which the server has no plan.
class sqlserver_plans : public tableq_test::on_each_address {
 protected:
  /// Of each received statement: `+` all its hints, `o` those of the order only, `-` none.
  static std::string hints_of(const std::vector<tds_request>& came) {
    std::string out;
    for (const tds_request& each : came) {
      const bool some = contains(each.text, "FORCESEEK");
      EXPECT_EQ(some, read_call(each).hinted);
      out += some ? '+' : contains(each.text, "LOOP JOIN") ? 'o' : '-';
    }
    return out;
  }
  static tableq_test::tds_answer one_message() {
    return answers::messages().row({7, 1000, 1000, "seven"});
  }

  tableq::database db_ = open(0ms);
  tableq::pending_queue pending_ = db_.pending("pending");
  tableq::claim_queue claim_ = db_.claim("claim");
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_plans, testing::Bool(), tableq_test::address_name);

TEST_P(sqlserver_plans, that_hints_prevent_are_asked_for_once_more_without_them) {
  for (const int number : {8622, 8180}) {
    auto db = open(0ms);
    auto pending = db.pending("pending");
    script_.once("pending.dequeue", no_plan(number));
    script_.once("pending.dequeue", one_message());
    std::string payload;
    const auto came = sent_by([&] { payload = pending.dequeue().value().payload; });
    EXPECT_EQ(names_of(came), "pending.dequeue pending.dequeue");
    EXPECT_EQ(hints_of(came), "+-");
    EXPECT_EQ(payload, "seven");
  }
}

TEST_P(sqlserver_plans, keep_the_hints_of_the_order_in_all_sessions_for_that_statement_only) {
  script_.once("claim.complete", no_plan());
  const auto first = sent_by([&] { (void)claim_.complete(receipt_of("claim", 1)); });
  EXPECT_EQ(hints_of(first), "+o");
  EXPECT_TRUE(contains(first.back().text, "FORCE ORDER"));
  EXPECT_EQ(hints_of(sent_by([&] { (void)claim_.complete(receipt_of("claim", 1)); })), "o");
  EXPECT_EQ(hints_of(sent_by([&] { (void)claim_.release(receipt_of("claim", 1)); })), "+");
  const auto again = sent_by([&] {
    const auto tx = db_.begin();  // the first session is busy
    (void)claim_.outside().complete(receipt_of("claim", 1));
  });
  EXPECT_TRUE(contains(names_of(again), "login"));
  for (const tds_request& each : again) {
    EXPECT_TRUE(read_call(each).name != "claim.complete" || !read_call(each).hinted);
  }
}

TEST_P(sqlserver_plans, lose_the_hints_of_the_order_last) {
  script_.once("claim.complete", no_plan());
  script_.once("claim.complete", no_plan());
  EXPECT_EQ(hints_of(sent_by([&] { (void)claim_.complete(receipt_of("claim", 1)); })), "+o-");
  EXPECT_EQ(hints_of(sent_by([&] { (void)claim_.complete(receipt_of("claim", 1)); })), "-");
}

TEST_P(sqlserver_plans, of_another_queue_keep_their_hints) {
  auto kept = db_.claim("kept");
  script_.once("claim.release", no_plan());
  EXPECT_EQ(hints_of(sent_by([&] { (void)claim_.release(receipt_of("claim", 1)); })), "+o");
  EXPECT_EQ(hints_of(sent_by([&] { (void)kept.release(receipt_of("kept", 1)); })), "+");
}

TEST_P(sqlserver_plans, of_a_statement_without_hints_are_not_asked_for_again) {
  auto heap = db_.heap("heap");
  script_.always("heap.dequeue", no_plan());
  const auto came =
      sent_by([&] { EXPECT_CODE(schema_mismatch, static_cast<void>(heap.dequeue())); });
  EXPECT_EQ(names_of(came), "heap.dequeue");
}

TEST_P(sqlserver_plans, in_an_enlisted_transaction_are_conflicts_until_no_hints_are_left) {
  const auto session = tableq_test::soci_odbc_session(server_.connection_string());
  script_.always("claim.complete", no_plan());
  const auto attempt = [&](errc wanted) {
    const soci::transaction mine(*session);
    const tableq::enlistment joining = tableq::enlist(db_, *session);
    auto joined = claim_.in(joining);
    auto came = sent_by([&] {
      const auto refused =
          tableq_test::thrown_by([&] { (void)joined.complete(receipt_of("claim", 1)); });
      EXPECT_EQ(refused.code(), wanted) << refused.what();
    });
    std::erase_if(came, [](const auto& each) { return read_call(each).name != "claim.complete"; });
    return hints_of(came);
  };
  EXPECT_EQ(attempt(errc::conflict), "+");
  EXPECT_EQ(attempt(errc::conflict), "o");
  EXPECT_EQ(attempt(errc::schema_mismatch), "-") << "a repetition would be in vain";
}

TEST_P(sqlserver_plans, that_fail_without_hints_too_are_told) {
  script_.always("pending.dequeue", no_plan());
  const auto came =
      sent_by([&] { EXPECT_CODE(schema_mismatch, static_cast<void>(pending_.dequeue())); });
  EXPECT_EQ(hints_of(came), "+-");
}

TEST_P(sqlserver_plans, keep_their_hints_when_the_statement_fails_for_another_reason) {
  script_.once("pending.dequeue", no_plan(207).error(8180, "Statement(s) could not be prepared."));
  const auto came =
      sent_by([&] { EXPECT_CODE(schema_mismatch, static_cast<void>(pending_.dequeue())); });
  EXPECT_EQ(hints_of(came), "+");
}

TEST_P(sqlserver_plans, keep_the_texts_of_all_batches_without_their_hints) {
  std::vector<tableq::receipt> receipts;
  for (std::int64_t id = 1; id <= 300; ++id) receipts.push_back(receipt_of("claim", id));
  script_.once("claim.complete", no_plan());
  std::vector<tableq::settle_result> results;
  const auto came = sent_by([&] { results = claim_.complete_batch(receipts); });
  EXPECT_EQ(names_of(came),
            "begin claim.complete rollback begin claim.complete claim.complete commit");
  EXPECT_EQ(results, std::vector(300, tableq::settle_result::applied));
}

TEST_P(sqlserver_plans, make_a_transaction_repeat_as_a_whole) {
  auto db = open(10s);
  auto pending = db.pending("pending");
  script_.once("pending.dequeue", no_plan());
  script_.once("pending.dequeue", one_message());
  const auto came = sent_by([&] {
    db.transact([&](tableq::transaction& tx) {
      pending.in(tx).enqueue("p");
      EXPECT_EQ(pending.in(tx).dequeue().value().payload, "seven");
    });
  });
  EXPECT_EQ(names_of(came),
            "begin pending.enqueue pending.dequeue rollback "
            "login setup begin pending.enqueue pending.dequeue commit");
}

}  // namespace
