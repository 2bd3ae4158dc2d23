// Tables of applications, as the server of SQL Server's tests receives the statements on them.
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq_test::tds_answer;
using tableq_test::tds_request;
using tableq_test::tds_script;
using tableq_test::tds_type;

/// A server with the table EmailRequests beside tableq's own.
class table_texts : public testing::Test {
 protected:
  table_texts() { describe(false); }

  void describe(bool has_triggers) {
    script_.always("table.find", tds_answer()
                                     .columns({{"schema", tds_type::nvarchar, 60},
                                               {"name", tds_type::nvarchar, 60},
                                               {"is_table", tds_type::integer},
                                               {"has_triggers", tds_type::integer},
                                               {"trouble", tds_type::nvarchar, 60}})
                                     .row({"dbo", "EmailRequests", 1, has_triggers ? 1 : 0, ""}));
    tds_answer columns;
    columns.columns({{"name", tds_type::nvarchar, 60},
                     {"declared", tds_type::nvarchar, 60},
                     {"form", tds_type::nvarchar, 60},
                     {"required", tds_type::integer},
                     {"has_value", tds_type::integer},
                     {"computed", tds_type::integer},
                     {"room", tds_type::integer},
                     {"labels", tds_type::nvarchar, 60}});
    const auto column = [&](const char* name, const char* declared, const char* form, int room) {
      const int required = std::string(name) == "LockedUntil" ? 0 : 1;
      columns.row({name, declared, form, required, 0, 0, room, ""});
    };
    column("Id", "int", "integer", 4);
    column("Address", "nvarchar(200)", "text", 200);
    column("IsProcessed", "bit", "boolean", 0);
    column("LockedUntil", "datetime2(3)", "time.local", 0);
    column("Fence", "bigint", "integer", 8);
    column("Errors", "varchar(500)", "text.code_page", 500);
    script_.always("table.columns", columns);
    script_.always("table.keys", tds_answer()
                                     .columns({{"index_name", tds_type::nvarchar, 60},
                                               {"name", tds_type::nvarchar, 60}})
                                     .row({"PK_EmailRequests", "Id"}));
    indexes({});
  }

  /// A column of an index.
  struct part {
    const char* index;
    const char* column;
    int descending = 0;
    const char* condition = "";
  };
  /// The server's answer: the primary key, and these.
  void indexes(const std::vector<part>& more) {
    tds_answer answer;
    answer.columns({{"index_name", tds_type::nvarchar, 60},
                    {"name", tds_type::nvarchar, 60},
                    {"descending", tds_type::integer},
                    {"condition", tds_type::nvarchar, 200}});
    answer.row({"PK_EmailRequests", "Id", 0, ""});
    for (const part& each : more) {
      answer.row({each.index, each.column, each.descending, each.condition});
    }
    script_.always("table.indexes", answer);
  }

  tds_script handlers() {
    tds_script out = script_.handlers();
    out.statement = [this, inner = out.statement](const tds_request& asked) {
      if (asked.text.find("\"EmailRequests\"") == std::string::npos) return inner(asked);
      const std::scoped_lock hold(guard_);
      came_.push_back(asked);
      if (answers_.empty()) return tds_answer().affected(0);
      const tds_answer next = answers_.front();
      answers_.erase(answers_.begin());
      return next;
    };
    return out;
  }
  /// The answer to the next statement on the table.
  void next(const tds_answer& answer) {
    const std::scoped_lock hold(guard_);
    answers_.push_back(answer);
  }
  tds_request last() {
    const std::scoped_lock hold(guard_);
    return came_.back();
  }
  static tds_answer taken(std::int64_t id, std::int64_t fence) {
    return tds_answer()
        .columns({{"place"},
                  {"tableq_0"},
                  {"tableq_1", tds_type::nvarchar_max},
                  {"tableq_2"},
                  {"tableq_3"}})
        .row({0, id, "a@b.example", fence, 1'704'067'200'000});
  }
  /// No lease has ended: the first take of a handle asks for that.
  static tds_answer none_expired() { return tds_answer().columns({{"state", tds_type::integer}}); }
  static tds_answer settled() {
    return tds_answer().columns({{"item"}, {"state", tds_type::integer}}).row({0, 0});
  }
  static tableq::table_mapping mapping() {
    return {.key = {"Id"},
            .waiting = tableq::flag("IsProcessed"),
            .columns = {"Id", "Address"},
            .lease_until = "LockedUntil",
            .fence = "Fence"};
  }

  std::mutex guard_;
  std::vector<tds_answer> answers_;  // under guard_
  std::vector<tds_request> came_;    // under guard_
  tableq_test::sqlserver_script script_;
  tableq_test::tds_server server_{handlers()};
  tableq::database db_ =
      tableq::database::open(tableq_test::sqlserver_address(server_), {.retry_for = 0ms});
};

void expect_in(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& each : parts) {
    const std::size_t found = text.find(each, at);
    ASSERT_NE(found, std::string::npos) << each << "\nis not there, or not in this order:\n"
                                        << text;
    at = found + each.size();
  }
}

TEST_F(table_texts, a_take_is_the_update_of_a_cte) {
  auto queue = db_.table("emailrequests", mapping());
  next(none_expired());
  next(taken(7, 4'294'967'299));
  const auto got = queue.take(3);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].row.get<int>("id"), 7);
  EXPECT_EQ(got[0].row.get<std::string>("Address"), "a@b.example");
  EXPECT_EQ(got[0].receipt.fence, 4'294'967'299);
  expect_in(last().text, {"WITH picked AS", "SELECT TOP (CAST(",
                          "\"dbo\".\"EmailRequests\" AS msg WITH (UPDLOCK, "
                          "ROWLOCK, READPAST, READCOMMITTEDLOCK)",
                          "msg.\"IsProcessed\" = 0", "ORDER BY msg.\"Id\"", "UPDATE picked",
                          "\"IsProcessed\" = 1", "OUTPUT 0 AS place", "inserted.\"Id\""});
}

TEST_F(table_texts, a_strict_take_skips_no_row) {
  tableq::table_mapping strict = mapping();
  strict.ordering = tableq::ordering::strict;
  auto queue = db_.table("EmailRequests", strict);
  next(none_expired());
  next(taken(7, 9));
  EXPECT_EQ(queue.take(3).size(), 1U);
  const auto sent = server_.requests();
  EXPECT_TRUE(std::any_of(sent.begin(), sent.end(), [](const auto& each) {
    return each.text.find("sp_getapplock") != std::string::npos;
  }));
  expect_in(last().text, {"WITH picked AS", "\"EmailRequests\" AS msg WITH (UPDLOCK, ROWLOCK)",
                          "ORDER BY msg.\"Id\"", "UPDATE picked"});
  strict.waiting = tableq::every_row();
  strict.lease_until = strict.fence = "";
  auto removing = db_.table("EmailRequests", strict);
  EXPECT_TRUE(removing.take(3).empty());
  expect_in(last().text, {"WITH picked AS", "\"EmailRequests\" AS msg WITH (UPDLOCK, ROWLOCK)",
                          "DELETE FROM picked"});
}

TEST_F(table_texts, a_history_keeps_the_code_page_of_its_column) {
  tableq::table_mapping with_history = mapping();
  with_history.errors = "Errors";
  auto queue = db_.table("EmailRequests", with_history);
  next(none_expired());
  next(taken(7, 9));
  const auto got = queue.take(1);
  ASSERT_EQ(got.size(), 1U);
  next(settled());
  EXPECT_EQ(queue.fail(got[0], "no"), tableq::settle_result::applied);
  expect_in(last().text,
            {"UPDATE msg", "\"Errors\" = CAST(LEFT(CAST(given.error AS nvarchar(max)) +",
             "CAST(msg.\"Errors\" AS nvarchar(max))", "8000) AS varchar(500))"});
  EXPECT_EQ(last().text.find("COLLATE"), std::string::npos);
}

TEST_F(table_texts, a_settlement_joins_its_items) {
  auto queue = db_.table("EmailRequests", mapping());
  next(none_expired());
  next(taken(7, 9));
  const auto got = queue.take(1);
  ASSERT_EQ(got.size(), 1U);
  next(settled());
  EXPECT_EQ(queue.complete(got[0]), tableq::settle_result::applied);
  expect_in(last().text,
            {"DELETE msg", "OUTPUT given.item AS item",
             "\"dbo\".\"EmailRequests\" AS msg WITH (ROWLOCK)", "(VALUES (0, CAST(",
             "AS given (item, key_0, fence)", "msg.\"Id\" = CAST(given.key_0 AS bigint)",
             "msg.\"Fence\" = CAST(given.fence AS bigint)", "msg.\"IsProcessed\" = 1"});
  EXPECT_EQ(queue.fail(got[0], "no"), tableq::settle_result::lease_lost);
  expect_in(last().text, {"UPDATE msg", "given.final", "msg.\"LockedUntil\" IS NOT NULL"});
}

TEST_F(table_texts, an_insert_returns_the_row) {
  auto queue = db_.table("EmailRequests", mapping());
  next(taken(8, 0));
  const tableq::row added = queue.enqueue({{"Address", "a@b.example"}, {"IsProcessed", false}});
  EXPECT_EQ(added.get<int>("Id"), 8);
  expect_in(
      last().text,
      {"INSERT INTO \"dbo\".\"EmailRequests\" WITH (ROWLOCK) (\"Address\", \"IsProcessed\")",
       "OUTPUT 0 AS place, CAST(inserted.\"Id\" AS bigint)", "VALUES (CAST(", "AS nvarchar(max))"});
}

TEST_F(table_texts, missing_indexes_have_no_filter) {
  auto queue = db_.table("EmailRequests", mapping());
  EXPECT_EQ(queue.ddl(),
            "CREATE INDEX \"EmailRequests_tableq_take\" ON \"dbo\".\"EmailRequests\" "
            "(\"IsProcessed\", \"Id\");\n"
            "CREATE INDEX \"EmailRequests_tableq_lease\" ON \"dbo\".\"EmailRequests\" "
            "(\"IsProcessed\", \"LockedUntil\");\n");
  auto timed = mapping();
  timed.waiting = tableq::null_time("LockedUntil");
  timed.order = {{.column = "Fence", .descending = true}};
  EXPECT_EQ(db_.table("EmailRequests", timed).ddl(),
            "CREATE INDEX \"EmailRequests_tableq_take\" ON \"dbo\".\"EmailRequests\" "
            "(\"LockedUntil\", \"Fence\" DESC);\n"
            "CREATE INDEX \"EmailRequests_tableq_lease\" ON \"dbo\".\"EmailRequests\" "
            "(\"LockedUntil\");\n");
}

TEST_F(table_texts, indexes_that_serve_are_not_missing) {
  auto queue = db_.table("EmailRequests", mapping());
  indexes({{"A", "IsProcessed"}, {"A", "Id"}, {"B", "IsProcessed"}, {"B", "LockedUntil"}});
  EXPECT_EQ(queue.ddl(), "");
  ASSERT_EQ(queue.inspect().size(), 1U);
  EXPECT_NE(queue.inspect()[0].what.find("no due_at"), std::string::npos);
  indexes({{"A", "Id", 0, "([IsProcessed]=(0))"},
           {"B", "IsProcessed", 0, "([LockedUntil] IS NOT NULL)"},
           {"B", "LockedUntil", 1, "([LockedUntil] IS NOT NULL)"}});
  EXPECT_EQ(queue.ddl(), "");
  indexes({{"A", "Id", 0, "([IsProcessed]=(1))"}, {"B", "LockedUntil"}});
  EXPECT_EQ(queue.inspect().size(), 3U);
}

TEST_F(table_texts, a_table_with_triggers_is_told) {
  describe(true);
  const tableq::error refused =
      tableq_test::thrown_by([&] { static_cast<void>(db_.table("EmailRequests", mapping())); });
  EXPECT_EQ(refused.code(), tableq::errc::unsupported);
  EXPECT_NE(std::string(refused.what()).find("triggers"), std::string::npos);
}

}  // namespace
