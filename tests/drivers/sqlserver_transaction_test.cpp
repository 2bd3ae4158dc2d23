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

/// The server ends a transaction for most errors, also of the application's statements, and the
/// driver does not tell: what comes then would be committed by itself.
class sqlserver_ended_transaction : public tableq_test::on_scripted_sqlserver {
 protected:
  void answer(std::int64_t state) {
    script_.always("transaction_state",
                   tableq_test::with_columns("transaction_state").row({state}));
  }
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_ended_transaction, tableq_test::both_drivers,
                         tableq_test::name_of_way);

TEST_P(sqlserver_ended_transaction, of_tableq_takes_no_further_call) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  const auto came = sent_by([&] {
    tableq::transaction tx = db.begin();
    static_cast<void>(tableq::session_of(tx));
    answer(0);
    EXPECT_CODE(invalid_argument, fifo.in(tx).enqueue("p"));
    EXPECT_CODE(invalid_argument, tx.commit());
  });
  EXPECT_FALSE(tableq_test::contains(names_of(came), "fifo.enqueue")) << names_of(came);
  EXPECT_FALSE(tableq_test::contains(names_of(came), "commit")) << names_of(came);
}

TEST_P(sqlserver_ended_transaction, is_not_asked_about_while_the_session_is_tableqs_alone) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  const auto came = sent_by([&] {
    tableq::transaction tx = db.begin();
    fifo.in(tx).enqueue("p");
    tx.commit();
  });
  EXPECT_EQ(names_of(came), "begin fifo.enqueue commit");
}

TEST_P(sqlserver_ended_transaction, of_the_application_takes_no_further_call_after_a_failed_one) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  const auto session = tableq_test::soci_odbc_session(server_.connection_string(GetParam().driver));
  const soci::transaction mine(*session);
  const tableq::enlistment joining = tableq::enlist(db, *session);
  auto joined = fifo.in(joining);
  script_.once("fifo.enqueue", tds_answer().error(1205, "a deadlock"));
  answer(0);
  EXPECT_CODE(conflict, joined.enqueue("p"));
  const auto came = sent_by([&] { EXPECT_CODE(invalid_argument, joined.enqueue("p")); });
  EXPECT_EQ(names_of(came), "transaction_state");
}

}  // namespace
