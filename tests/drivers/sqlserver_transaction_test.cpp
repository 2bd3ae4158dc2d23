#include <soci/soci.h>

#include <tableq/soci.hpp>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"
#include "support/soci_sessions.hpp"
#include "support/text.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::errc;
using tableq_test::names_of;
using tableq_test::tds_answer;
using tableq_test::tds_type;

/// The server ends a transaction for most errors, also of the application's statements, and the
/// driver does not tell: what comes then would be committed by itself.
class sqlserver_ended_transaction : public tableq_test::on_scripted_sqlserver {
 protected:
  void answer(std::int64_t state) {
    script_.always("transaction_state",
                   tds_answer().columns({{"transaction_state", tds_type::bigint}}).row({state}));
  }

  tableq::database db_ = open(10s);
  tableq::fifo_queue fifo_ = db_.fifo("fifo");
};

TEST_F(sqlserver_ended_transaction, of_tableq_takes_no_further_call) {
  const auto came = sent_by([&] {
    tableq::transaction tx = db_.begin();
    static_cast<void>(tableq::session_of(tx));
    answer(0);
    EXPECT_CODE(invalid_argument, fifo_.in(tx).enqueue("p"));
    EXPECT_CODE(invalid_argument, tx.commit());
  });
  EXPECT_FALSE(tableq_test::contains(names_of(came), "fifo.enqueue")) << names_of(came);
  EXPECT_FALSE(tableq_test::contains(names_of(came), "commit")) << names_of(came);
}

TEST_F(sqlserver_ended_transaction, is_not_asked_about_while_the_session_is_tableqs_alone) {
  const auto came = sent_by([&] {
    tableq::transaction tx = db_.begin();
    fifo_.in(tx).enqueue("p");
    tx.commit();
  });
  EXPECT_EQ(names_of(came), "begin fifo.enqueue commit");
}

TEST_F(sqlserver_ended_transaction, of_the_application_takes_no_further_call_after_a_failed_one) {
  const auto session = tableq_test::soci_odbc_session(server_.connection_string());
  const soci::transaction mine(*session);
  const tableq::enlistment joining = tableq::enlist(db_, *session);
  auto joined = fifo_.in(joining);
  script_.once("fifo.enqueue", tds_answer().error(1205, "a deadlock"));
  answer(0);
  EXPECT_CODE(conflict, joined.enqueue("p"));
  const auto came = sent_by([&] { EXPECT_CODE(invalid_argument, joined.enqueue("p")); });
  EXPECT_EQ(names_of(came), "transaction_state");
}

}  // namespace
