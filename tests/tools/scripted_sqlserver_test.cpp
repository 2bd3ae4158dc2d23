#include <gtest/gtest.h>

#include <optional>

#include <nlohmann/json.hpp>

#include "support/tds_server.hpp"
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// A server with a catalogue without queues. It answers the command's texts; `trouble` is the
/// answer to the list of queues.
class tool_with_scripted_server : public testing::Test {
 protected:
  ended run(const words& arguments) {
    return run_alone(arguments,
                     {.environment = {"TABLEQ_DB=sqlserver://sa:Secret.1@127.0.0.1:" +
                                      std::to_string(server_.port()) + "/app?driver=FreeTDS"}});
  }

  std::optional<tds_answer> trouble_;

 private:
  tds_answer answer(const tds_request& asked) const {
    if (contains(asked.text, "AS present")) {
      return tds_answer()
          .columns({{"present", tds_type::integer},
                    {"schema", tds_type::nvarchar, 128},
                    {"sharded", tds_type::integer},
                    {"narrow", tds_type::integer}})
          .row({1, "dbo", 0, 0});
    }
    if (contains(asked.text, "AS checked")) {
      return tds_answer()
          .columns({{"severity", tds_type::integer},
                    {"what", tds_type::nvarchar, 200},
                    {"fix", tds_type::nvarchar, 200}})
          .row({0, "SQL Server 15.0.2000.5", ""});
    }
    if (!contains(asked.text, "kind, layout, options")) return {};
    if (trouble_ && contains(asked.text, "ORDER BY name")) return *trouble_;
    return tds_answer()
        .columns({{"name", tds_type::nvarchar, 60},
                  {"identity", tds_type::bigint},
                  {"kind", tds_type::nvarchar, 20},
                  {"layout", tds_type::integer},
                  {"options", tds_type::nvarchar, 1000},
                  {"created_at", tds_type::bigint}})
        .row({"tableq", 0, "catalogue", 1, "", 1});
  }

  tds_server server_{[this](const tds_request& asked) { return answer(asked); }};
};

TEST_F(tool_with_scripted_server, says_once_that_no_server_has_run_the_driver) {
  const ended end = run({"stats"});
  EXPECT_EQ(end.status, 1) << end.err;
  EXPECT_EQ(end.caution, "tableq: warning: this driver was not run on a SQL Server yet\n");
  EXPECT_EQ(end.err, "");
  EXPECT_EQ(run_alone({"ddl", "sqlserver", "fifo", "mail"}).caution, "");
}

TEST_F(tool_with_scripted_server, finds_with_doctor_that_no_server_has_run_the_driver) {
  const ended end = run({"doctor", "--json"});
  EXPECT_EQ(end.status, 0) << end.err;
  bool found = false;
  for (const std::string& line : lines_of(end.out)) {
    const auto one = nlohmann::json::parse(line);
    if (!contains(std::string(one["what"]), "not run on a SQL Server yet")) continue;
    found = true;
    EXPECT_EQ(one["level"], "warning");
    EXPECT_EQ(one["subject"], "database");
    EXPECT_TRUE(contains(std::string(one["fix"]), "run tableq's tests on yours first"));
  }
  EXPECT_TRUE(found) << end.out;
}

TEST_F(tool_with_scripted_server, prints_the_number_of_an_error_that_no_rule_covers) {
  trouble_ = tds_answer().error(50123, "secret words");
  const ended end = run({"stats"});
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.complaints(), 1U) << end.err;
  EXPECT_TRUE(contains(end.err, "number 50123)")) << end.err;
  EXPECT_TRUE(contains(end.err, "(SQLSTATE ")) << end.err;
  EXPECT_FALSE(contains(end.err, "secret"));
}

TEST_F(tool_with_scripted_server, prints_no_number_where_the_sentence_says_all) {
  trouble_ = tds_answer().error(229, "secret words");
  EXPECT_FALSE(contains(run({"stats"}).err, "229"));
}

}  // namespace
