#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "first/report.hpp"
#include "support/scratch_directory.hpp"
#include "support/text.hpp"

namespace {

using tableq_test::contains;
using tableq_test::sqlserver_address;
using tableq_test::first::advice_for;
using tableq_test::first::report;
using tableq_test::first::report_suite;

class first_report : public testing::Test {
 protected:
  [[nodiscard]] std::string text() const {
    std::ifstream in(file_);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }

  tableq_test::scratch_directory scratch_;
  std::string file_ = (scratch_ / "report").string();
  report to_{file_, sqlserver_address("sqlserver://bob:p%40ss%2fword@db.example.org:1444/shop")};
};

TEST_F(first_report, has_no_secrets_whoever_wrote_them) {
  to_.note("login failed for bob with p@ss/word at db.example.org,1444 in shop");
  to_.finding("sqlserver://bob:p%40ss%2Fword@db.example.org/shop", "ask bob");
  EXPECT_THROW(to_.attempt("part", [] { throw 1; }), int);
  to_.attempt("part", [] { throw std::runtime_error("p@ss/word"); });
  for (const char* secret : {"bob", "p@ss", "p%40", "example", "shop"}) {
    EXPECT_FALSE(contains(text(), secret)) << text();
  }
  EXPECT_TRUE(contains(text(), "<user>") && contains(text(), "<password>")) << text();
}

TEST_F(first_report, shows_no_key_or_value_of_a_malformed_address) {
  const report to(file_,
                  sqlserver_address("sqlserver://u/d?SeCrPw@h0stnm=1&driver=OtherPw&encrypt=no"));
  const std::string told = to.redacted("unknown key `SeCrPw?h0stnm`; SeCrPw@h0stnm; OtherPw; no");
  EXPECT_FALSE(contains(told, "SeCrPw") || contains(told, "OtherPw")) << told;
  EXPECT_TRUE(contains(told, "; no")) << told;
}

TEST_F(first_report, hides_a_short_secret_only_as_a_word) {
  const report to(file_, sqlserver_address("sqlserver://sa:x@h/d"));
  EXPECT_EQ(to.redacted("the same as sa, box x"), "the same as <user>, box <password>");
}

TEST_F(first_report, keeps_the_numbers_of_its_lines_readable) {
  const report to(file_, sqlserver_address("sqlserver://u:p@h/d?retries=1"));
  EXPECT_EQ(to.redacted("1 finding"), "1 finding");
}

TEST_F(first_report, says_for_each_finding_what_to_do_and_counts_them) {
  to_.step("one");
  to_.finding("run claim.take: plain client: run: 42000 8622 no plan");
  to_.attempt("two", [] { throw std::runtime_error("something new"); });
  to_.end();
  EXPECT_TRUE(contains(text(), "== one\n  FINDING run claim.take")) << text();
  EXPECT_TRUE(contains(text(), "no plan\n    do: the optimizer matched no plan")) << text();
  EXPECT_TRUE(contains(text(), "  2 findings.")) << text();
  EXPECT_EQ(advice_for("something new"), "send the file");
}

TEST_F(first_report, lists_the_failed_tests_of_a_suite) {
  const std::string log = (scratch_ / "log").string();
  std::ofstream(log) << "file.cpp:1: Failure\nExpected on db.example.org\n"
                        "[  FAILED  ] claim.keeps/sqlserver, where GetParam() (3 ms)\n"
                        "[==========] 7 tests ran.\n[  PASSED  ] 6 tests.\n";
  report_suite(to_, "conformance", log, 1);
  EXPECT_TRUE(contains(text(), "FINDING failed: claim.keeps/sqlserver")) << text();
  EXPECT_TRUE(contains(text(), "| Expected on <host>")) << text();
  EXPECT_TRUE(contains(text(), "[  PASSED  ] 6 tests.")) << text();
  report_suite(to_, "plan", (scratch_ / "none").string(), 124);
  EXPECT_TRUE(contains(text(), "plan did not come to its end\n    do: give it more time"))
      << text();
}

}  // namespace
