#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class tool_canary : public tool_test {
 protected:
  /// Runs the command, with any result; its output must not contain data of messages.
  void say_nothing(const words& arguments, const start_options& options = {}) {
    const ended end = run(arguments, options);
    EXPECT_FALSE(contains(end.err, "canary")) << end.err;
    EXPECT_FALSE(contains(end.err, hex("canary"))) << end.err;
    failed_ += end.status > 1 ? 1 : 0;
  }
  void say_nothing_of_all() {
    const start_options lines{.input = "canary-payload\ncanary-payload\n"};
    for (const char* queue : {"jobs", "mail"}) {
      say_nothing({"enqueue", queue, "canary-payload"});
      say_nothing({"enqueue", queue, "--lines"}, lines);
      say_nothing({"enqueue", queue, "--stdin"}, lines);
      say_nothing({"peek", queue});
      say_nothing({"stats", queue});
      say_nothing({"purge", queue, "--dead"});
    }
    say_nothing({"enqueue", "jobs", "canary-payload", "--key", "canary-key", "--header",
                 "canary-name=canary-value"});
    say_nothing({"dequeue", "mail"});
    say_nothing(
        {"work", "jobs", "--until-empty", "--retry-delay", "0s", "--", "sh", "-c", "exit 5"});
    say_nothing({"list", "jobs", "--state", "dead"});
    say_nothing({"dead", "list", "jobs"});
    say_nothing({"dead", "redrive", "jobs", "--all"});
    say_nothing({"doctor"});
  }
  int failed_ = 0;
};
TABLEQ_ON_BACKENDS(tool_canary, distinct_backends);

TEST_P(tool_canary, is_in_no_complaint) {
  done({"create", "claim", "jobs", "--max-attempts", "1"});
  done({"create", "fifo", "mail"});
  say_nothing_of_all();
  for (const char* table : {"jobs", "mail"}) {
    here().sql(std::string("DELETE FROM ") + table);
    here().forbid_equal_payloads(table);
  }
  say_nothing_of_all();
  const int refused = failed_;
  EXPECT_GT(refused, 0);
  for (const char* table : {"jobs", "mail"}) here().sql(std::string("DROP TABLE ") + table);
  say_nothing_of_all();
  EXPECT_GT(failed_, refused);
}

TEST_P(tool_canary, grants_are_printed_for_databases_with_users) {
  const ended granted = run_alone({"ddl", "postgresql", "claim", "jobs", "--groups", "1", "--grant",
                                   "producer", "--to", "web", "--schema", "queues"});
  EXPECT_EQ(granted.status, 0) << granted.err;
  EXPECT_TRUE(contains(granted.out, "ON \"queues\".\"jobs\" TO \"web\";")) << granted.out;
  EXPECT_TRUE(contains(granted.out, "GRANT USAGE ON SCHEMA \"queues\"")) << granted.out;
  TABLEQ_EXPECT_REFUSAL(2, run_alone({"ddl", "postgresql", "fifo", "mail", "--grant", "viewer"}));
  TABLEQ_EXPECT_REFUSAL(2, run_alone({"ddl", "postgresql", "fifo", "mail", "--to", "web"}));
  const ended none = run_alone({"ddl", "sqlite", "fifo", "mail", "--grant", "viewer", "--to", "x"});
  EXPECT_EQ(none.status, 3) << none.err;
  EXPECT_TRUE(contains(none.err, "no rights to grant")) << none.err;
}

}  // namespace
