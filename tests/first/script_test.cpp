#include <csignal>
#include <fstream>
#include <regex>

#include "drivers/sqlserver_fixture.hpp"
#include "support/scratch_directory.hpp"
#include "tools/command.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Runs the script against a scripted server, which knows tableq's texts in the schema of the run.
class first_sqlserver : public on_scripted_sqlserver {
 protected:
  tds_answer answer(const tds_request& asked) {
    static const std::regex own("tableq_first_[0-9_]+");
    tds_request moved = asked;
    // The script's queues are in `dbo`.
    moved.text = std::regex_replace(asked.text, own, "dbo");
    const auto has = [&](const char* part) { return contains(moved.text, part); };
    const std::vector<std::pair<const char*, tds_answer>> of_the_program{
        {"names_to_hide", with_columns("d:n u:n").row({"canarydefault", "DOMAIN\\canarylogin"})},
        {"CREATE ANY DATABASE", with_columns("v:n").row({"0"})},
        {"yes_or_no", with_columns("v:n").row({"1"})},
        {"ProductLevel", with_columns("v:n").row({"version 15.0.1"})},
        {"logical_reads", with_columns("v").row({5})},
        {"PAGELATCH", with_columns("tasks ms").row({3, 4})},
        {"physical_stats", with_columns("v:n").row({"8 ghosts"})},
        {"SHOWPLAN", {}},
        {"compatibility_level", {}},
        {"QUOTE", {}},
        {"CREATE SCHEMA", {}},
        {"clustered_table", {}},
        {"heap_with_an_index", {}},
        {refused_, tds_answer().error(8622, "no plan in canarydefault for DOMAIN\\canarylogin")}};
    for (const auto& [part, said] : of_the_program) {
      if (has(part)) return said;
    }
    if (asked.kind == tds_kind::batch && has("DECLARE @p_")) {
      return with_columns("v:m").row(
          {"<RelOp PhysicalOp=\"Index Seek\"><Object Index=\"[claim_key]\"/></RelOp>"});
    }
    return handlers_.statement(moved);
  }
  tds_script scripted() {
    tds_script out = handlers_;
    out.statement = [this](const tds_request& asked) { return answer(asked); };
    return out;
  }
  std::unique_ptr<command> start(const std::string& url, const std::string& seconds = "1") const {
    return std::make_unique<command>(
        TABLEQ_FIRST_SCRIPT,
        std::vector<std::string>{url, "--build", TABLEQ_BUILD, "--output",
                                 (scratch_ / "report.txt").string(), "--seconds", seconds});
  }
  [[nodiscard]] std::string told() const {
    std::ifstream in(scratch_ / "report.txt");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void expect_told(std::initializer_list<const char*> parts) const {
    for (const char* each : parts) EXPECT_TRUE(contains(told(), each)) << each << "\n" << told();
    for (const char* secret : {"pwd-canary", "tester", "127.0.0.1", "canarydefault", "canarylogin"})
      EXPECT_FALSE(contains(told(), secret)) << secret << "\n" << told();
  }
  /// Whether the schema of the run was dropped.
  [[nodiscard]] bool cleaned_up() const {
    return std::ranges::any_of(first_.requests(), [](const tds_request& each) {
      return contains(each.text, "DROP SCHEMA [tableq_first_");
    });
  }

  scratch_directory scratch_;
  tds_script handlers_ = script_.handlers();
  const char* refused_ = "no text has this";
  tds_server first_{scripted()};
};
INSTANTIATE_TEST_SUITE_P(, first_sqlserver, both_drivers, name_of_way);

TEST_P(first_sqlserver, writes_one_report_of_all_steps_without_secrets) {
  const ended end = start(address_at(first_))->wait();
  EXPECT_EQ(end.status, 0) << end.err;
  expect_told({"== tableq", "== connection\n", "== server\n", "version 15.0.1", "== tables",
               "== doctor", "== statements", "claim.complete: Index Seek [claim_key]", "== layouts",
               "16 readers", "latch waits and their ms after: 3 4", "heap_with_an_index: 8 ghosts",
               "left out: the login may not create databases", "the schema is dropped", "== end"});
  for (const char* right : {"FINDING run claim.complete", "FINDING plan of claim.take",
                            "FINDING connect", "FINDING fill", "FINDING heap_"}) {
    EXPECT_FALSE(contains(told(), right)) << right << "\n" << told();
  }
  EXPECT_TRUE(cleaned_up());
}

TEST_P(first_sqlserver, goes_on_after_failures_and_a_login_that_the_server_puts_off) {
  refused_ = "READPAST";
  script_.once("login", tds_answer().error(40613, "Database is not currently available.", 14));
  const ended end = start(address_at(first_))->wait();
  EXPECT_TRUE(contains(end.err, "trying again")) << end.err;
  expect_told({"FINDING plan of claim.take", "== clean up"});
}

TEST_P(first_sqlserver, cleans_up_after_an_interrupt) {
  const auto running = start(address_at(first_), "600");
  ASSERT_TRUE(first_.received(200, 60s));
  running->signal(SIGTERM);
  EXPECT_EQ(running->wait().status, 143);
  expect_told({"interrupted"});
  EXPECT_TRUE(cleaned_up());
}

TEST_P(first_sqlserver, reports_a_login_that_is_refused_and_leaves_nothing) {
  script_.always("login", tds_answer().error(18456, "Login failed for canarylogin.", 14));
  const ended end = start(address_at(first_))->wait();
  EXPECT_TRUE(contains(end.err, "check user and password")) << end.err;
  expect_told({"FINDING connect: ", "(number 18456)", "\n  1 finding. "});
  EXPECT_FALSE(contains(told(), "may be left")) << told();
}

TEST_P(first_sqlserver, refuses_arguments_without_showing_them) {
  for (const char* wrong : {"sqlservr://u:canary/password@host", "sqlserver://u:canary/password"}) {
    const ended end = start(wrong)->wait();
    EXPECT_EQ(end.status, 2);
    EXPECT_FALSE(contains(end.err + told(), "canary")) << end.err << told();
  }
}

}  // namespace
