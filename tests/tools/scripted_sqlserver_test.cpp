#include <gtest/gtest.h>

#include "drivers/sqlserver_script.hpp"
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class tool_with_scripted_server : public testing::Test {
 protected:
  ended run(const words& arguments) {
    return run_alone(arguments,
                     {.environment = {"TABLEQ_DB=sqlserver://sa:Secret.1@127.0.0.1:" +
                                      std::to_string(server_.port()) + "/app?driver=FreeTDS"}});
  }
  sqlserver_script script_;
  tds_server server_{script_.handlers()};
};

TEST_F(tool_with_scripted_server, says_once_that_no_server_has_run_the_driver) {
  EXPECT_EQ(run({"stats"}).caution,
            "tableq: warning: this driver was not run on a SQL Server yet\n");
  EXPECT_EQ(run_alone({"ddl", "sqlserver", "fifo", "mail"}).caution, "");
  EXPECT_TRUE(contains(run({"doctor", "--json"}).out, "run tableq's tests on yours first"));
}

TEST_F(tool_with_scripted_server, prints_the_number_of_an_error_that_no_rule_covers) {
  script_.once("catalog.list", tds_answer().error(50123, "secret words"));
  const ended end = run({"stats"});
  EXPECT_EQ(end.status, 3);
  EXPECT_TRUE(contains(end.err, "number 50123)") && contains(end.err, "(SQLSTATE ")) << end.err;
  EXPECT_FALSE(contains(end.err, "secret"));
}

}  // namespace
