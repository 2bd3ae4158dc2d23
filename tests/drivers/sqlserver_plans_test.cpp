#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

tds_answer no_plan(int number = 8622) {
  return tds_answer().error(number, "Query processor could not produce a query plan.");
}

/// Hints for which the server has no plan.
class sqlserver_plans : public on_scripted_sqlserver {
 protected:
  /// Of each received statement: `+` with its hints, `-` without.
  static std::string hints_of(const std::vector<tds_request>& came) {
    std::string out;
    for (const tds_request& each : came) {
      if (contains(each.text, "sp_getapplock") || each.parameters.empty()) continue;
      out += contains(each.text, "FORCESEEK") || contains(each.text, "LOOP JOIN") ? '+' : '-';
    }
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_plans, both_drivers, name_of_way);

TEST_P(sqlserver_plans, that_hints_prevent_are_asked_for_once_more_without_them) {
  auto db = open(0ms);
  auto claim = db.claim("claim");
  const auto complete = [&] { (void)claim.complete(receipt_of("claim", 1)); };
  script_.once("claim.complete", no_plan());
  EXPECT_EQ(hints_of(sent_by(complete)), "+-");
  EXPECT_EQ(hints_of(sent_by(complete)), "-") << "remembered";
  EXPECT_EQ(hints_of(sent_by([&] { (void)claim.release(receipt_of("claim", 1)); })), "+");
}

TEST_P(sqlserver_plans, keep_their_hints_when_the_statement_fails_for_another_reason) {
  auto db = open(0ms);
  auto pending = db.pending("pending");
  script_.once("pending.dequeue", no_plan(207).error(8180, "could not be prepared."));
  EXPECT_EQ(hints_of(sent_by([&] { EXPECT_CODE(schema_mismatch, (void)pending.dequeue()); })), "+");
  script_.always("pending.dequeue", no_plan());
  EXPECT_EQ(hints_of(sent_by([&] { EXPECT_CODE(schema_mismatch, (void)pending.dequeue()); })),
            "+-");
}

}  // namespace
