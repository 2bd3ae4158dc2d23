#include "drivers/sqlserver_fixture.hpp"
#include "drivers/transport/odbc_lengths.hpp"
#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using namespace std::chrono_literals;
using tableq_test::contains;
using tableq_test::names_of;
using tableq_test::read_call;
using tableq_test::tds_answer;
using tableq_test::tds_request;
using tableq_test::tds_type;
using tableq_test::tds_value;

namespace answers = tableq_test::sqlserver_rows;

/// The server's answer when an index refuses a row: the index of a queue's keys, or another one.
tds_answer key_refused(const std::string& index = "claim_key") {
  return tds_answer().error(
      2601, "Cannot insert duplicate key row in object 'dbo.claim' with unique index '" + index +
                "'. The duplicate key value is (0x6B00).");
}

/// Locks, and what takes their place.
class sqlserver_locks : public tableq_test::on_each_address {
 protected:
  tableq::database db_ = open(0ms);
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_locks, testing::Bool(), tableq_test::address_name);

TEST_P(sqlserver_locks, of_strict_queues_are_taken_by_each_reader_and_writer) {
  auto strict = db_.fifo("strict_fifo");
  const auto came = sent_by([&] {
    strict.enqueue("p");
    (void)strict.dequeue();
    strict.purge();
    db_.transact([&](tableq::transaction& tx) {
      strict.in(tx).enqueue("p");
      (void)strict.in(tx).dequeue();
    });
  });
  EXPECT_EQ(names_of(came),
            "begin queue.lock fifo.enqueue commit begin queue.lock fifo.dequeue_strict commit "
            "begin queue.lock fifo.purge commit "
            "begin queue.lock fifo.enqueue queue.lock fifo.dequeue_strict commit");
  const tds_value own = tableq_test::sqlserver_script::queue("strict_fifo").identity;
  for (const tds_request& each : came) {
    if (read_call(each).name != "queue.lock") continue;
    EXPECT_EQ(read_call(each).shared.at("identity"), own);
    EXPECT_TRUE(contains(each.text, "@LockMode = N'Exclusive', @LockOwner = N'Transaction'"));
    EXPECT_TRUE(contains(each.text, "IF @got = -3 THROW 52004"));
  }
  auto relaxed = db_.fifo("fifo");
  EXPECT_EQ(names_of(sent_by([&] { (void)relaxed.dequeue(); })), "fifo.dequeue");
}

TEST_P(sqlserver_locks, are_not_needed_where_the_index_of_keys_decides) {
  auto db = open(10s);
  auto claim = db.claim("claim");
  script_.once("claim.enqueue", key_refused());
  script_.once("claim.enqueue", answers::added());
  script_.once("claim.find_key", answers::added().row({0, 9}));
  tableq::enqueued result;
  const auto came = sent_by([&] { result = claim.enqueue("p", {.key = "k"}); });
  EXPECT_EQ(names_of(came), "claim.enqueue claim.enqueue claim.find_key");
  EXPECT_FALSE(contains(came.front().text, "HOLDLOCK"));
  EXPECT_TRUE(!result.created() && result.id.value == 9);
}

TEST_P(sqlserver_locks, that_are_missing_are_a_conflict_only_where_the_index_is_that_of_the_keys) {
  auto claim = db_.claim("claim");
  script_.once("claim.enqueue", key_refused());
  EXPECT_CODE(conflict, claim.enqueue("p", {.key = "k"}));
  for (const char* other : {"only_once", "mail_key", "_key"}) {
    script_.once("claim.enqueue", key_refused(other));
    EXPECT_CODE(constraint_violated, claim.enqueue("p", {.key = "k"}));
  }
}

TEST_P(sqlserver_locks, of_a_group_are_taken_before_the_row_of_a_postponed_message) {
  auto claim = db_.claim("grouped");
  const tds_answer holder = answers::added().row({0, 9});
  script_.always("claim.find_key", holder);
  script_.always("claim.group_of",
                 tds_answer()
                     .columns({{"item", tds_type::bigint}, {"group_key", tds_type::nvarchar, 200}})
                     .row({0, "g"}));
  script_.always("claim.replace", holder);
  const auto came = sent_by([&] {
    EXPECT_TRUE(
        claim
            .enqueue("p",
                     {.delay = 1min, .key = "k", .on_duplicate = tableq::on_duplicate::postpone})
            .id.value == 9);
  });
  const std::string names = names_of(came);
  EXPECT_TRUE(contains(names, "claim.find_key claim.group_of queue.lock claim.replace")) << names;
}

/// A queue with a concurrency of two.
TEST_P(sqlserver_locks, of_the_limits_are_kept_while_nothing_else_is_waited_for) {
  auto claim = db_.claim("claim");
  const std::int64_t identity = tableq_test::sqlserver_script::queue("claim").identity;
  script_.always("limits.ask",
                 answers::limits().row({identity, "claim", nullptr, nullptr, nullptr, nullptr, 2}));
  script_.always("limits.read",
                 answers::limits().row({identity, "claim", nullptr, nullptr, nullptr, nullptr, 2}));
  script_.always("limits.lock",
                 answers::locked_limits().row({nullptr, nullptr, nullptr, 2, nullptr, nullptr, 1}));
  // The answer when settlements are under way without row versioning: all that it was asked for.
  script_.once("claim.leased",
               tds_answer().columns({{"number", tableq_test::tds_type::bigint}}).row({2}));
  const auto came = sent_by([&] { EXPECT_TRUE(claim.take(1).empty()); });
  EXPECT_TRUE(contains(names_of(came), "begin limits.lock claim.leased rollback"))
      << names_of(came);
  EXPECT_FALSE(contains(names_of(came), "claim.take"));
  for (const tds_request& each : came) {
    if (read_call(each).name != "claim.leased") continue;
    EXPECT_EQ(each.text.find("SET XACT_ABORT OFF;\n"), 0U);
    EXPECT_TRUE(contains(each.text, "NOWAIT"));
    EXPECT_EQ(each.procedure, "sp_executesql");  // which ends the setting
  }
}

TEST(declared_lengths, are_unlimited_with_microsofts_drivers_for_any_value) {
  using tableq::drivers::odbc::knows_unlimited;
  using tableq::drivers::odbc::type_of_bytes;
  using tableq::drivers::odbc::type_of_text;
  for (const char* name : {"libmsodbcsql-18.3.so.2.1", "libmsodbcsql-17.10.so.6.1",
                           "MSODBCSQL18.DLL", "sqlncli11.dll"}) {
    EXPECT_TRUE(knows_unlimited(name)) << name;
  }
  for (const char* name : {"libtdsodbc.so", "psqlodbcw.so", "sqlite3odbc.so", ""}) {
    EXPECT_FALSE(knows_unlimited(name)) << name;
  }
  for (const std::size_t length : {0U, 1U, 8000U, 8001U, 100'000U}) {
    EXPECT_EQ(type_of_bytes(true, length).type, SQL_VARBINARY);
    EXPECT_EQ(type_of_bytes(true, length).size, 0U);  // SQL_SS_LENGTH_UNLIMITED
    EXPECT_EQ(type_of_bytes(false, length).type, SQL_LONGVARBINARY);
    EXPECT_EQ(type_of_bytes(false, length).size, std::max<std::size_t>(length, 1));
  }
  EXPECT_EQ(type_of_text(true, 0).size, 4000U);
  EXPECT_EQ(type_of_text(true, 4001).type, SQL_WVARCHAR);
  EXPECT_EQ(type_of_text(true, 4001).size, 0U);
  EXPECT_EQ(type_of_text(false, 4001).type, SQL_WLONGVARCHAR);
}

}  // namespace
