#include <soci/soci.h>

#include <tableq/soci.hpp>
#include <tableq/testing.hpp>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"
#include "support/soci_sessions.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::testing::trouble;

/// The server ends a transaction for most errors, also of the application's statements, and the
/// driver does not tell: what comes then would be committed by itself.
class sqlserver_ended_transaction : public on_scripted_sqlserver {
 protected:
  void answer(std::int64_t state) {
    script_.always("transaction_state", with_columns("transaction_state").row({state}));
  }
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_ended_transaction, both_drivers, name_of_way);

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
  EXPECT_FALSE(contains(names_of(came), "fifo.enqueue")) << names_of(came);
  EXPECT_FALSE(contains(names_of(came), "commit")) << names_of(came);
}

TEST_P(sqlserver_ended_transaction, of_the_application_takes_no_further_call_after_a_failed_one) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  const auto session = soci_odbc_session(server_.connection_string(GetParam().driver));
  const soci::transaction mine(*session);
  const tableq::enlistment joining = tableq::enlist(db, *session);
  auto joined = fifo.in(joining);
  script_.once("fifo.enqueue", tds_answer().error(1205, "a deadlock"));
  answer(0);
  EXPECT_CODE(conflict, joined.enqueue("p"));
  const auto came = sent_by([&] { EXPECT_CODE(invalid_argument, joined.enqueue("p")); });
  EXPECT_EQ(names_of(came), "transaction_state");
}

/// Locks, and what takes their place.
class sqlserver_locks : public on_scripted_sqlserver {};
INSTANTIATE_TEST_SUITE_P(, sqlserver_locks, both_drivers, name_of_way);

TEST_P(sqlserver_locks, of_strict_queues_are_taken_before_the_rows) {
  auto db = open(0ms);
  auto strict = db.fifo("strict_fifo");
  EXPECT_EQ(names_of(sent_by([&] {
              strict.enqueue("p");
              (void)strict.dequeue();
            })),
            "begin queue.lock fifo.enqueue commit begin queue.lock fifo.dequeue_strict commit");
}

TEST_P(sqlserver_locks, of_a_group_are_taken_before_the_row_of_a_postponed_message) {
  auto db = open(0ms);
  auto claim = db.claim("grouped");
  script_.always("claim.find_key", with_columns("item id").row({0, 9}));
  script_.always("claim.group_of", with_columns("item group_key:n").row({0, "g"}));
  script_.always("claim.replace", with_columns("item id").row({0, 9}));
  const auto came = sent_by([&] {
    claim.enqueue("p", {.delay = 1min, .key = "k", .on_duplicate = tableq::on_duplicate::postpone});
  });
  EXPECT_TRUE(contains(names_of(came), "claim.find_key claim.group_of queue.lock claim.replace"))
      << names_of(came);
}

TEST_P(sqlserver_locks, that_a_fault_of_a_test_refuses_have_the_servers_number) {
  tableq::testing::faults faults;
  auto db = faults.open(address(), {.retry_for = 0ms});
  auto fifo = db.fifo("fifo");
  for (const auto& [what, number] : {std::pair{trouble::busy, 1222}, {trouble::deadlock, 1205}}) {
    faults.fail("fifo.enqueue", {what, tableq::testing::moment::before});
    EXPECT_EQ(thrown_by([&] { fifo.enqueue("p"); }).native(), number);
  }
}

}  // namespace
