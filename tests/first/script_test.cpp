#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <mutex>
#include <regex>
#include <sstream>
#include <thread>

#include "drivers/sqlserver_script.hpp"
#include "support/scratch_directory.hpp"
#include "support/tds_server.hpp"
#include "support/text.hpp"
#include "tools/command.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

tds_answer one(const std::string& value) {
  return tds_answer().columns({{"v", tds_type::nvarchar_max}}).row({value});
}

/// Runs the script against a scripted server, which knows tableq's texts in the schema of the run.
class first_sqlserver : public testing::Test {
 protected:
  /// The script's queues are in `dbo`.
  tds_answer answer(const tds_request& asked) {
    static const std::regex own("tableq_first_[0-9_]+");
    tds_request moved = asked;
    moved.text = std::regex_replace(asked.text, own, "dbo");
    if (contains(moved.text, "plain_statements")) return {};
    if (contains(moved.text, "ProductVersion") && contains(moved.text, "AS f (place")) {
      return tds_answer()
          .columns({{"name", tds_type::nvarchar, 60}, {"value", tds_type::nvarchar, 60}})
          .row({"version", "15.0.1"});
    }
    if (contains(moved.text, "compatibility level")) return one("compatibility level 150");
    if (contains(moved.text, "names_to_hide")) {
      return tds_answer()
          .columns({{"d", tds_type::nvarchar, 60}, {"u", tds_type::nvarchar, 60}})
          .row({"canarydefault", "DOMAIN\\canarylogin"});
    }
    if (contains(moved.text, "@@SERVERNAME")) return one("server");
    if (contains(moved.text, "may_create")) return one(may_create_ ? "1" : "0");
    if (contains(moved.text, "schemas_left")) return one("0");
    if (contains(moved.text, "QUOTE") || contains(moved.text, "CREATE SCHEMA")) return {};
    if (contains(moved.text, refused_))
      return tds_answer().error(8622, "no plan in canarydefault for DOMAIN\\canarylogin");
    if (asked.kind == tds_kind::batch && contains(moved.text, "DECLARE @p_")) {
      return one("<RelOp PhysicalOp=\"Index Seek\"><Object Index=\"[claim_key]\"/></RelOp>");
    }
    return handlers_.statement(moved);
  }
  tds_script scripted() {
    tds_script out = handlers_;
    out.statement = [this](const tds_request& asked) { return answer(asked); };
    out.set_up = [this](const tds_request& asked) {
      return contains(asked.text, "SHOWPLAN") ? tds_answer() : handlers_.set_up(asked);
    };
    return out;
  }

  [[nodiscard]] std::string url() const {
    return "sqlserver://canaryuser:canary%2fpassword@127.0.0.1:" + std::to_string(server_.port()) +
           "/canarydb?driver=FreeTDS";
  }
  std::unique_ptr<command> start(const std::vector<std::string>& more) {
    std::vector<std::string> words = {url(), "--build", TABLEQ_BUILD, "--output",
                                      (scratch_ / "report.txt").string()};
    words.insert(words.end(), more.begin(), more.end());
    return std::make_unique<command>(TABLEQ_FIRST_SCRIPT, words);
  }
  [[nodiscard]] std::string told() const {
    std::ifstream in(scratch_ / "report.txt");
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  /// Whether the schema of the run was dropped.
  [[nodiscard]] bool cleaned_up() const {
    for (const tds_request& each : server_.requests()) {
      if (contains(each.text, "DROP SCHEMA [tableq_first_")) return true;
    }
    return false;
  }
  void expect_no_secrets() const {
    for (const char* secret : {"canary/password", "canary%2f", "canaryuser", "canarydb",
                               "127.0.0.1", "canarydefault", "canarylogin"}) {
      EXPECT_FALSE(contains(told(), secret)) << secret << "\n" << told();
    }
  }

  scratch_directory scratch_;
  sqlserver_script script_;
  tds_script handlers_ = script_.handlers();
  std::string refused_ = "no text has this";
  bool may_create_ = false;
  tds_server server_{scripted()};
};

TEST_F(first_sqlserver, writes_one_report_of_all_steps_without_secrets) {
  const ended end = start({"--seconds", "1"})->wait();
  EXPECT_EQ(end.status, 0) << end.err;
  const std::string all = told();
  for (const char* step :
       {"== tableq", "== connection", "== server", "== tables", "== doctor", "== statements",
        "== round trips", "== concurrency", "== speed", "== suites", "== clean up", "== end"}) {
    EXPECT_TRUE(contains(all, step)) << step << "\n" << all;
  }
  EXPECT_TRUE(contains(all, "driver libtdsodbc.so")) << all;
  EXPECT_TRUE(contains(all, "version: 15.0.1")) << all;
  EXPECT_TRUE(contains(all, "claim.complete: Index Seek [claim_key]")) << all;
  for (const char* right : {"FINDING run claim.complete", "FINDING plan of claim.take",
                            "FINDING connect", "FINDING fill", "FINDING speed"}) {
    EXPECT_FALSE(contains(all, right)) << right << "\n" << all;
  }
  EXPECT_TRUE(contains(all, "plain statements")) << all;
  EXPECT_TRUE(contains(all, "left out: the login may not create databases")) << all;
  EXPECT_TRUE(contains(all, "the schema is dropped")) << all;
  EXPECT_TRUE(cleaned_up());
  expect_no_secrets();
}

TEST_F(first_sqlserver, goes_on_after_failures_and_says_what_to_do) {
  refused_ = "READPAST";
  const ended end = start({"--seconds", "1"})->wait();
  EXPECT_EQ(end.status, 0) << end.err;
  const std::string all = told();
  EXPECT_TRUE(contains(all, "FINDING plan of claim.take")) << all;
  EXPECT_TRUE(contains(all, "do: the optimizer matched no plan")) << all;
  EXPECT_TRUE(contains(all, "== clean up")) << all;
  EXPECT_TRUE(cleaned_up());
  expect_no_secrets();
}

TEST_F(first_sqlserver, runs_the_suites_where_databases_may_be_created) {
  may_create_ = true;
  const ended end = start({"--seconds", "1", "--filter", "nothing"})->wait();
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_TRUE(contains(told(), "== suite conformance\n  [==========] 0 tests")) << told();
}

TEST_F(first_sqlserver, cleans_up_after_an_interrupt) {
  const auto running = start({"--seconds", "600"});
  ASSERT_TRUE(server_.received(200, 60s));
  running->signal(SIGTERM);
  const ended end = running->wait();
  EXPECT_EQ(end.status, 143) << end.err;
  EXPECT_TRUE(contains(told(), "interrupted")) << told();
  EXPECT_TRUE(cleaned_up());
  expect_no_secrets();
}

TEST_F(first_sqlserver, tells_of_nothing_that_may_be_left_before_the_first_login) {
  const tds_gate never;
  script_.always("login", tds_answer().wait(never));
  const auto running = start({});
  ASSERT_TRUE(server_.received(1, 60s));
  running->signal(SIGTERM);
  EXPECT_EQ(running->wait().status, 143);
  EXPECT_TRUE(contains(told(), "interrupted")) << told();
  EXPECT_FALSE(contains(told(), "clean up")) << told();
}

TEST_F(first_sqlserver, says_what_a_number_must_be) {
  const ended end = start({"--seconds", "soon"})->wait();
  EXPECT_EQ(end.status, 2);
  EXPECT_TRUE(contains(end.err, "--seconds takes a whole number")) << end.err;
}

TEST_F(first_sqlserver, reports_a_server_that_cannot_be_reached) {
  const ended end =
      command(TABLEQ_FIRST_SCRIPT,
              {"sqlserver://canaryuser:pw@127.0.0.1:1/canarydb?driver=FreeTDS", "--build",
               TABLEQ_BUILD, "--output", (scratch_ / "report.txt").string(), "--seconds", "1"})
          .wait();
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_TRUE(contains(told(), "FINDING connect: 08S01 20009, 08001 0\n")) << told();
  EXPECT_TRUE(contains(told(), "do: the server cannot be reached")) << told();
  EXPECT_TRUE(contains(told(), "\n  1 finding. ")) << told();
  EXPECT_FALSE(contains(told(), "may be left")) << told();
  EXPECT_FALSE(contains(told(), " \n")) << told();
  EXPECT_TRUE(contains(end.err, "the server cannot be reached")) << end.err;
  expect_no_secrets();
}

TEST_F(first_sqlserver, waits_for_a_database_that_resumes) {
  script_.once("login", tds_answer().error(40613, "Database is not currently available.", 14));
  const ended end = start({"--seconds", "1"})->wait();
  EXPECT_TRUE(contains(end.err, "trying again")) << end.err;
  EXPECT_FALSE(contains(told(), "FINDING connect")) << told();
  EXPECT_TRUE(contains(told(), "== speed")) << told();
}

TEST_F(first_sqlserver, refuses_arguments_without_showing_them) {
  const ended end = command(TABLEQ_FIRST_SCRIPT, {"sqlservr://u:canary/password@host"}).wait();
  EXPECT_EQ(end.status, 2);
  EXPECT_FALSE(contains(end.err, "canary")) << end.err;
  EXPECT_TRUE(contains(end.err, "an address begins with sqlserver://")) << end.err;
}

TEST_F(first_sqlserver, ends_at_an_address_that_cannot_be_read) {
  const ended end =
      command(TABLEQ_FIRST_SCRIPT, {"sqlserver://u:canary/password", "--build", TABLEQ_BUILD,
                                    "--output", (scratch_ / "report.txt").string()})
          .wait();
  EXPECT_TRUE(contains(end.err, "this address cannot be read")) << end.err;
  EXPECT_TRUE(contains(end.err, "with %XX for")) << end.err;
  EXPECT_FALSE(contains(end.err + told(), "canary")) << end.err << told();
  EXPECT_TRUE(contains(told(), "\n  1 finding. ")) << told();
}

TEST_F(first_sqlserver, tells_an_unknown_host) {
  const ended end =
      command(TABLEQ_FIRST_SCRIPT,
              {"sqlserver://u:pw@no-such-host.invalid/d?driver=FreeTDS", "--build", TABLEQ_BUILD,
               "--output", (scratch_ / "report.txt").string(), "--seconds", "1"})
          .wait();
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_TRUE(contains(told(), "do: the host's name is unknown")) << told();
  EXPECT_TRUE(contains(told(), "\n  1 finding. ")) << told();
}

}  // namespace
