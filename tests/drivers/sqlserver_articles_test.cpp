// The tables of well-known articles, as a SQL Server receives the statements on them.
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/sqlserver_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using tableq_test::tds_answer;
using tableq_test::tds_request;
using tableq_test::tds_script;
using tableq_test::tds_type;

/// A column of an application's table.
struct article_column {
  const char* name;
  const char* declared;
  const char* form;
};

/// A server with one table beside tableq's own. Each statement on it is answered by no rows.
class article_texts : public testing::Test {
 protected:
  tableq::table_queue open(const std::string& table, const std::vector<article_column>& columns,
                           const std::vector<std::string>& key, tableq::table_mapping mapping) {
    script_.always("table.find", tds_answer()
                                     .columns({{"schema", tds_type::nvarchar, 60},
                                               {"name", tds_type::nvarchar, 60},
                                               {"is_table", tds_type::integer},
                                               {"has_triggers", tds_type::integer},
                                               {"trouble", tds_type::nvarchar, 60}})
                                     .row({"dbo", table, 1, 0, ""}));
    tds_answer described;
    described.columns({{"name", tds_type::nvarchar, 60},
                       {"declared", tds_type::nvarchar, 60},
                       {"form", tds_type::nvarchar, 60},
                       {"required", tds_type::integer},
                       {"has_value", tds_type::integer},
                       {"computed", tds_type::integer},
                       {"room", tds_type::integer},
                       {"labels", tds_type::nvarchar, 60}});
    for (const article_column& each : columns) {
      const bool required = std::find(key.begin(), key.end(), each.name) != key.end();
      described.row({each.name, each.declared, each.form, required ? 1 : 0, 0, 0, 0, ""});
    }
    script_.always("table.columns", described);
    tds_answer keys;
    keys.columns({{"index_name", tds_type::nvarchar, 60}, {"name", tds_type::nvarchar, 60}});
    for (const std::string& each : key) keys.row({"PK", each});
    script_.always("table.keys", keys);
    {
      const std::scoped_lock hold(guard_);
      quoted_ = "\"dbo\".\"" + table + "\"";
    }
    return db_.table(table, std::move(mapping));
  }
  tds_script handlers() {
    tds_script out = script_.handlers();
    out.statement = [this, inner = out.statement](const tds_request& asked) {
      const std::scoped_lock hold(guard_);
      if (quoted_.empty() || asked.text.find(quoted_) == std::string::npos) return inner(asked);
      last_ = asked.text;
      return answer_;
    };
    return out;
  }
  /// The rows of the next statements: the place, and each column that a read returns.
  void answer(const tds_answer& rows) {
    const std::scoped_lock hold(guard_);
    answer_ = rows;
  }
  std::string last() {
    const std::scoped_lock hold(guard_);
    return last_;
  }
  /// The parts stand in the last statement, in this order.
  void expect_text(const std::vector<std::string>& parts) {
    const std::string text = last();
    std::size_t at = 0;
    for (const std::string& each : parts) {
      const std::size_t found = text.find(each, at);
      ASSERT_NE(found, std::string::npos) << each << "\nis not there, or not in this order:\n"
                                          << text;
      at = found + each.size();
    }
  }
  static tds_answer settled() {
    return tds_answer().columns({{"item"}, {"state", tds_type::integer}}).row({0, 0});
  }

  static constexpr const char* hints =
      "AS msg WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)";
  std::mutex guard_;
  std::string quoted_;  // under guard_, as the next ones
  std::string last_;
  tds_answer answer_ = tds_answer().affected(0);
  tableq_test::sqlserver_script script_;
  tableq_test::tds_server server_{handlers()};
  tableq::database db_ =
      tableq::database::open(tableq_test::sqlserver_address(server_), {.retry_for = 0ms});
};

const char* const guid = "6F9619FF-8B86-D011-B42D-00C04FC964FF";

TEST_F(article_texts, simple_queue_is_taken_by_its_time_and_deleted_by_its_guid) {
  auto queue = open("SimpleQueue",
                    {{"Id", "uniqueidentifier", "text"},
                     {"CreatedAt", "datetime2(3)", "time.local"},
                     {"ProcessingStartedAt", "datetime2(3)", "time.local"},
                     {"Errors", "nvarchar(max)", "text"},
                     {"Payload", "nvarchar(max)", "text"}},
                    {"Id"},
                    {.key = {"Id"},
                     .waiting = tableq::null_time("ProcessingStartedAt"),
                     .order = {{.column = "CreatedAt"}},
                     .columns = {"Id", "Payload"},
                     .errors = "Errors"});
  answer(tds_answer()
             .columns({{"place"},
                       {"tableq_0", tds_type::nvarchar_max},
                       {"tableq_1", tds_type::nvarchar_max},
                       {"tableq_2"}})
             .row({0, guid, "hello", 1'704'067'200'000}));
  const auto taken = queue.take_one();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->row.get<std::string>("Id"), guid);
  expect_text({"WITH picked AS", "SELECT TOP (CAST(", "\"dbo\".\"SimpleQueue\"", hints,
               "WHERE msg.\"ProcessingStartedAt\" IS NULL", "ORDER BY msg.\"CreatedAt\"",
               "UPDATE picked", "\"ProcessingStartedAt\" = CAST(DATEADD(", "SYSUTCDATETIME()",
               "AS datetime2(3))", "OUTPUT 0 AS place", "inserted.\"Id\"", "inserted.\"Payload\""});
  answer(settled());
  EXPECT_EQ(queue.complete(*taken), tableq::settle_result::applied);
  expect_text({"DELETE msg", "OUTPUT", "\"SimpleQueue\" AS msg WITH (ROWLOCK)",
               "msg.\"Id\" = CAST(given.key_0 AS uniqueidentifier)",
               "msg.\"ProcessingStartedAt\" IS NOT NULL"});
  EXPECT_EQ(queue.fail(*taken, "no route"), tableq::settle_result::applied);
  expect_text({"UPDATE msg", "\"Errors\" = CAST(LEFT((CAST(given.error AS nvarchar(max)) +",
               "NCHAR(10) + NULLIF(CAST(msg.\"Errors\" AS nvarchar(max))",
               "COLLATE Latin1_General_100_CI_AS_SC, 8000) AS nvarchar(max))", "OUTPUT"});
}

TEST_F(article_texts, queue_for_update_keeps_its_rows) {
  auto queue = open("QueueForUpdateStrategy",
                    {{"Id", "int", "integer"},
                     {"IsDequeued", "bit", "boolean"},
                     {"EnqueuedAt", "datetime", "time.local"},
                     {"DequeuedAt", "datetime", "time.local"}},
                    {"Id"},
                    {.key = {"Id"},
                     .waiting = tableq::flag("IsDequeued"),
                     .columns = {"Id"},
                     .taken_at = "DequeuedAt",
                     .completed = tableq::on_complete::leave});
  answer(tds_answer().columns({{"place"}, {"tableq_0"}}).row({0, 7}));
  const auto taken = queue.take_one();
  ASSERT_TRUE(taken);
  expect_text({"WITH picked AS", "SELECT TOP (CAST(", "\"QueueForUpdateStrategy\"", hints,
               "WHERE msg.\"IsDequeued\" = 0", "ORDER BY msg.\"Id\"", "UPDATE picked",
               "\"IsDequeued\" = 1", "\"DequeuedAt\" = CAST(DATEADD(", "OUTPUT",
               "inserted.\"Id\""});
  answer(settled());
  EXPECT_EQ(queue.complete(*taken), tableq::settle_result::applied);
  expect_text({"UPDATE msg", "OUTPUT", "WITH (ROWLOCK)", "msg.\"IsDequeued\" = 1"});
  answer(tds_answer().columns({{"state", tds_type::integer}}).row({0}));
  EXPECT_EQ(queue.requeue_older_than(1h), 1U);
  expect_text({"SELECT TOP (CAST(", hints, "msg.\"IsDequeued\" = 1",
               "msg.\"DequeuedAt\" <=", "UPDATE picked", "\"IsDequeued\" = 0", "OUTPUT"});
}

TEST_F(article_texts, heap_queue_deletes_any_rows) {
  auto queue = open("HeapQueue", {{"Payload", "varbinary(max)", "bytes"}}, {}, {});
  answer(tds_answer().columns({{"place"}, {"tableq_0", tds_type::varbinary_max}}).row({0, "x"}));
  ASSERT_TRUE(queue.take_one());
  expect_text({"WITH picked AS", "SELECT TOP (CAST(", "msg.\"Payload\"", "\"HeapQueue\"", hints,
               "ORDER BY (SELECT NULL)", "DELETE FROM picked", "OUTPUT 0 AS place",
               "deleted.\"Payload\""});
}

TEST_F(article_texts, fifo_queue_deletes_in_the_order_of_its_clustered_index) {
  auto queue =
      open("FifoQueue", {{"Id", "bigint", "integer"}, {"Payload", "varbinary(max)", "bytes"}}, {},
           {.order = {{.column = "Id"}}});
  answer(tds_answer()
             .columns({{"place"}, {"tableq_0"}, {"tableq_1", tds_type::varbinary_max}})
             .row({0, 4, "x"}));
  ASSERT_TRUE(queue.take_one());
  expect_text({"WITH picked AS", "SELECT TOP (CAST(", "\"FifoQueue\"", hints, "ORDER BY msg.\"Id\"",
               "DELETE FROM picked", "OUTPUT 0 AS place", "deleted.\"Payload\""});
}

TEST_F(article_texts, email_request_counts_its_attempts_and_is_set_aside) {
  auto queue = open("EmailRequests",
                    {{"Id", "int", "integer"},
                     {"IsProcessed", "bit", "boolean"},
                     {"IsEmailSent", "bit", "boolean"},
                     {"RetryCount", "int", "integer"},
                     {"LastError", "nvarchar(2000)", "text"}},
                    {"Id"},
                    {.key = {"Id"},
                     .waiting = tableq::flag("IsProcessed"),
                     .columns = {"Id"},
                     .attempts = "RetryCount",
                     .last_error = "LastError",
                     .done = tableq::flag("IsEmailSent"),
                     .completed = tableq::on_complete::mark,
                     .max_attempts = 3});
  answer(tds_answer().columns({{"place"}, {"tableq_0"}, {"tableq_1"}}).row({0, 7, 3}));
  const auto taken = queue.take_one();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->attempt, 3);
  expect_text({"SELECT TOP (CAST(", hints, "msg.\"IsProcessed\" = 0", "msg.\"IsEmailSent\" = 0",
               "ORDER BY msg.\"Id\"", "UPDATE picked", "\"IsProcessed\" = 1",
               "\"RetryCount\" = COALESCE(\"RetryCount\", 0) + 1", "OUTPUT"});
  answer(settled());
  EXPECT_EQ(queue.complete(*taken), tableq::settle_result::applied);
  expect_text({"UPDATE msg", "\"IsEmailSent\" = 1", "OUTPUT"});
  EXPECT_EQ(queue.fail(*taken, "no"), tableq::settle_result::applied);
  expect_text({"UPDATE msg", "\"IsProcessed\" = CASE WHEN msg.\"RetryCount\" > 2 OR",
               "THEN 1 ELSE 0", "\"LastError\" = CAST(given.error AS nvarchar(2000))", "OUTPUT",
               "inserted.\"RetryCount\" > 2"});
}

TEST_F(article_texts, clustered_queue_is_read_in_the_order_of_its_only_key) {
  auto queue = open("QueueTable", {{"PROCESSED", "int", "integer"}, {"ID", "int", "integer"}},
                    {"PROCESSED", "ID"},
                    {.key = {"PROCESSED", "ID"},
                     .waiting = tableq::flag("PROCESSED"),
                     .order = {{.column = "ID"}},
                     .completed = tableq::on_complete::leave});
  answer(tds_answer().columns({{"place"}, {"tableq_0"}, {"tableq_1"}}).row({0, 1, 7}));
  const auto taken = queue.take_one();
  ASSERT_TRUE(taken);
  expect_text({"WITH picked AS", "SELECT TOP (CAST(", "\"QueueTable\"", hints,
               "msg.\"PROCESSED\" = 0", "ORDER BY msg.\"ID\"", "UPDATE picked", "\"PROCESSED\" = 1",
               "OUTPUT", "inserted.\"PROCESSED\"", "inserted.\"ID\""});
  answer(settled());
  EXPECT_EQ(queue.release(*taken), tableq::settle_result::applied);
  expect_text({"UPDATE msg", "\"PROCESSED\" = 0", "OUTPUT",
               "msg.\"PROCESSED\" = CAST(given.key_0 AS bigint)",
               "msg.\"ID\" = CAST(given.key_1 AS bigint)"});
}

}  // namespace
