// The command on tables of the application.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using nlohmann::json;

class tool_table : public tool_test {
 protected:
  static constexpr const char* mapping_text =
      R"({"table": "Requests", "key": "Id", "waiting": {"flag": "IsProcessed"},
          "columns": ["Id", "Address", "Weight"], "lease_until": "LeaseUntil", "fence": "Fence",
          "attempts": "RetryCount", "last_error": "LastError", "max_attempts": 2})";

  void SetUp() override {
    tool_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    static_cast<void>(db());  // makes the file of a database that is one
    here().sql(
        "CREATE TABLE Requests (Id INTEGER NOT NULL PRIMARY KEY, Address VARCHAR(200), Weight "
        "NUMERIC(10,2), IsProcessed INTEGER DEFAULT 0 NOT NULL, LeaseUntil BIGINT, Fence BIGINT "
        "DEFAULT 0 NOT NULL, RetryCount INTEGER DEFAULT 0 NOT NULL, LastError VARCHAR(200))");
    mapping_ = written("mapping.json", mapping_text);
  }
  std::string written(const std::string& name, const std::string& text) {
    const std::string path = (scratch / name).string();
    std::ofstream(path) << text;
    return path;
  }
  void request(int id, const std::string& address = "'a@b.example'") {
    here().sql("INSERT INTO Requests (Id, Address, Weight) VALUES (" + std::to_string(id) + ", " +
               address + ", 1.50)");
  }
  std::string count(const std::string& where = "1 = 1") {
    return here().sql("SELECT COUNT(*) FROM Requests WHERE " + where).at(0).at(0).value();
  }
  /// The names of columns as the mapping writes them: some databases fold them.
  static json with_names_in_small_letters(const json& row) {
    json out;
    for (const auto& [name, value] : row.items()) out[lower(name)] = value;
    return out;
  }
  static std::string lower(std::string text) {
    for (char& c : text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
  }

  std::string mapping_;
};
TABLEQ_ON_BACKENDS(tool_table, distinct_backends);

TEST_P(tool_table, work_gives_each_row_to_the_command_as_json) {
  request(1);
  request(2, "NULL");
  const ended end = run({"work", "--mapping", mapping_, "--until-empty", "--", "sh", "-c",
                         "cat; echo \"$TABLEQ_MESSAGE_ID $TABLEQ_ATTEMPT\""});
  EXPECT_EQ(end.status, 0) << end.err;
  const auto lines = lines_of(end.out);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], "1 1");
  const json first = with_names_in_small_letters(json::parse(lines[0]));
  EXPECT_EQ(first.at("id"), 1);
  EXPECT_EQ(first.at("address"), "a@b.example");
  EXPECT_EQ(first.at("weight"), 1.5);
  EXPECT_EQ(first.size(), 3U);
  const json second = with_names_in_small_letters(json::parse(lines[2]));
  EXPECT_TRUE(second.at("address").is_null());
  EXPECT_EQ(count(), "0");
}

TEST_P(tool_table, work_records_a_failure_and_ends_with_the_last_attempt) {
  request(1);
  const ended end = run({"work", "--mapping", mapping_, "--until-empty", "--", "false"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(count("IsProcessed = 1 AND RetryCount = 2 AND LastError = 'exit status 1'"), "1");
  EXPECT_EQ(json::parse(done({"stats", "--mapping", mapping_, "--json"})).at("dead"), 1);
}

TEST_P(tool_table, stats_and_peek_show_waiting_rows) {
  request(1);
  request(2);
  const json figures = json::parse(done({"stats", "--mapping", mapping_, "--json"}));
  EXPECT_EQ(figures.at("kind"), "table");
  EXPECT_EQ(figures.at("ready"), 2);
  EXPECT_NE(figures.at("as_of").get<std::string>().substr(0, 4), "1970");
  const auto rows = lines_of(done({"peek", "--mapping", mapping_, "--count", "5"}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(with_names_in_small_letters(json::parse(rows[1])).at("id"), 2);
  EXPECT_EQ(count("IsProcessed = 0"), "2");
}

TEST_P(tool_table, create_stores_the_mapping_for_all_commands) {
  request(1);
  done({"create", "table", "requests", "--mapping", mapping_});
  EXPECT_TRUE(contains(lower(done({"list"})), "requests  table  table=requests\n"));
  const json listed = json::parse(done({"list", "--json"}));
  EXPECT_EQ(listed.at("mapping").at("lease_until"), "LeaseUntil");
  EXPECT_EQ(json::parse(done({"stats", "requests", "--json"})).at("ready"), 1);
  EXPECT_TRUE(contains(done({"stats"}), "requests  table  1"));
  EXPECT_TRUE(contains(done({"top", "--once"}), "requests  table  1"));
  EXPECT_EQ(lines_of(done({"peek", "requests"})).size(), 1U);
  EXPECT_TRUE(contains(run({"alter", "requests", "--lease", "5s"}).err,
                       "\"requests\" is a table of the application; use SQL"));
  EXPECT_EQ(done({"work", "requests", "--until-empty", "--", "sh", "-c", "echo $TABLEQ_QUEUE"}),
            "requests\n");
  EXPECT_EQ(count(), "0");
  // The table of a stored mapping stays.
  done({"drop", "requests", "--yes"});
  EXPECT_EQ(count(), "0");
  EXPECT_EQ(run({"list"}).status, 1);
}

TEST_P(tool_table, doctor_and_ddl_tell_the_indexes_that_are_missing) {
  const std::string sql = done({"ddl", "--for", mapping_});
  EXPECT_TRUE(contains(sql, "CREATE INDEX")) << sql;
  EXPECT_TRUE(contains(done({"doctor", "--mapping", mapping_}),
                       "`tableq ddl --for " + mapping_ + "`: CREATE INDEX"));
  done({"create", "table", "requests", "--mapping", mapping_});
  const std::string stored = done({"doctor"});
  EXPECT_TRUE(contains(stored, "CREATE INDEX"));
  EXPECT_EQ(done({"doctor", "--mapping", mapping_}), stored);
  EXPECT_EQ(done({"ddl", "--for", "requests"}), sql);
  for (const std::string& each : lines_of(sql)) here().sql(each.substr(0, each.find(';')));
  EXPECT_EQ(done({"ddl", "--for", mapping_}), "");
  EXPECT_FALSE(contains(done({"doctor"}), "CREATE INDEX"));
}

TEST_P(tool_table, doctor_tells_of_a_stored_mapping_that_the_table_no_longer_fits) {
  done({"create", "table", "requests", "--mapping", mapping_});
  here().sql("DROP TABLE Requests");
  const ended end = run({"doctor", "--json"});
  EXPECT_EQ(end.status, 3) << end.out;
  EXPECT_TRUE(contains(end.out, "there is no table Requests")) << end.out;
  EXPECT_TRUE(contains(end.out, "tableq create table requests --mapping FILE")) << end.out;
}

TEST_P(tool_table, drop_says_that_the_table_stays) {
  done({"create", "table", "requests", "--mapping", mapping_});
  const ended end = run({"drop", "requests"});
  EXPECT_EQ(end.status, 2);
  EXPECT_TRUE(contains(end.err, "the table stays")) << end.err;
  EXPECT_EQ(lines_of(done({"list"})).size(), 2U);
}

TEST_P(tool_table, a_retry_delay_without_a_column_for_it_is_refused_at_the_start) {
  request(1);
  TABLEQ_EXPECT_REFUSAL(3,
                        run({"work", "--mapping", mapping_, "--retry-delay", "1s", "--", "true"}));
  EXPECT_EQ(count("IsProcessed = 0"), "1");
}

TEST_P(tool_table, wrong_input_is_told_before_anything_happens) {
  request(1);
  const std::string bad = written("bad.json", R"({"table": "Requests", "leas": "LeaseUntil"})");
  const std::string foreign = written("foreign.json", R"({"table": "Nothing"})");
  TABLEQ_EXPECT_REFUSAL(2, run({"work", "--", "true"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"work", "requests", "--mapping", mapping_, "--", "true"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"stats", "--mapping", (scratch / "none.json").string()}));
  TABLEQ_EXPECT_REFUSAL(2, run({"stats", "--mapping", scratch.path().string()}));
  TABLEQ_EXPECT_REFUSAL(2, run({"stats", "--mapping", bad}));
  TABLEQ_EXPECT_REFUSAL(3, run({"stats", "--mapping", foreign}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "table", "requests"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "fifo", "mail", "--mapping", mapping_}));
  TABLEQ_EXPECT_REFUSAL(2, run({"ddl", "sqlite", "claim", "jobs", "--for", mapping_}));
  TABLEQ_EXPECT_REFUSAL(3, run({"ddl", "--for", "nothing"}));
  TABLEQ_EXPECT_REFUSAL(3, run({"ddl", "--for", (scratch / "none.json").string()}));
  done({"create", "table", "requests", "--mapping", mapping_});
  TABLEQ_EXPECT_REFUSAL(2, run({"enqueue", "requests", "x"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"dequeue", "requests"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"dead", "list", "requests"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"pause", "requests"}));
  EXPECT_EQ(count("IsProcessed = 0"), "1");
}

}  // namespace
