#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class tool_migrate : public tool_test {};
TABLEQ_ON_BACKENDS(tool_migrate, distinct_backends);

TEST_P(tool_migrate, goes_down_and_up_and_prints_what_it_did) {
  done({"create", "pending", "later"});
  done({"enqueue", "later", "kept"});
  const ended nothing = run({"migrate"});
  EXPECT_EQ(nothing.status, 0);
  EXPECT_EQ(nothing.out, "");
  EXPECT_TRUE(contains(nothing.err, "nothing to do")) << nothing.err;
  EXPECT_EQ(
      done({"migrate", "--to", "1"}),
      "later: layout 3 to 2\nlater: layout 2 to 1\ntableq: layout 3 to 2\ntableq: layout 2 to 1\n");
  EXPECT_TRUE(contains(done({"doctor"}), "tableq migrate later"));
  EXPECT_EQ(done({"migrate", "later"}), "later: layout 1 to 2\nlater: layout 2 to 3\n");
  EXPECT_EQ(done({"migrate", "--wait", "5s", "tableq"}),
            "tableq: layout 1 to 2\ntableq: layout 2 to 3\n");
  EXPECT_FALSE(contains(done({"doctor"}), "layout"));
  EXPECT_EQ(done({"dequeue", "later"}), "kept\n");
}

TEST_P(tool_migrate, prints_the_sql_of_a_dry_run_and_changes_nothing) {
  done({"create", "claim", "jobs"});
  done({"migrate", "--to", "1"});
  const std::string sql = done({"migrate", "--dry-run"});
  EXPECT_TRUE(contains(sql, "stop at the first error")) << sql;
  EXPECT_TRUE(contains(sql, "-- tableq: layout 1 to 2\n")) << sql;
  EXPECT_TRUE(contains(sql, "-- jobs: layout 1 to 2\n")) << sql;
  EXPECT_TRUE(contains(sql, "SET layout = ")) << sql;
  EXPECT_EQ(db().find("jobs")->layout, 1);
  TABLEQ_EXPECT_REFUSAL(3, run({"migrate", "--verify-only"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"migrate", "--to", "9"}));
  TABLEQ_EXPECT_REFUSAL(3, run({"migrate", "nothing"}));
  EXPECT_EQ(db().find("jobs")->layout, 1);
}

}  // namespace
