#include <csignal>

#include "support/at_once.hpp"
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class tool_work : public tool_test {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs", at_once({.max_attempts = 2})); }
  /// Works until nothing is left, by a shell script.
  ended work(const std::string& script, const words& options = {}) {
    return run(joined({"work", "jobs", "--until-empty"}, options, {"--", "sh", "-c", script}));
  }
};
TABLEQ_ON_BACKENDS(tool_work, distinct_backends);

TEST_P(tool_work, runs_the_command_for_each_message_in_order) {
  jobs();
  done({"enqueue", "jobs", "a", "b", "c"});
  const ended end = work("cat; echo");
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out, "a\nb\nc\n");
  EXPECT_EQ(end.err, "");
  const auto stats = jobs().stats();
  EXPECT_EQ(stats.ready + stats.leased + stats.done + stats.dead, 0U);
}

TEST_P(tool_work, an_empty_queue_is_no_work_and_no_failure) {
  jobs();
  EXPECT_EQ(work("echo ran").out, "");
  EXPECT_EQ(work("echo ran").status, 0);
}

TEST_P(tool_work, exit_status_0_completes_and_a_keeping_queue_keeps) {
  auto kept = db().claim("kept", {.keep_completed = true});
  kept.enqueue("a");
  done({"work", "kept", "--until-empty", "--", "true"});
  EXPECT_EQ(kept.stats().done, 1U);
}

TEST_P(tool_work, finished_messages_may_wait_to_be_settled_together) {
  jobs().enqueue_batch({{.payload = "a"}, {.payload = "b"}});
  done({"work", "jobs", "--until-empty", "--linger", "20ms", "--", "true"});
  EXPECT_EQ(jobs().stats().ready + jobs().stats().leased, 0U);
  TABLEQ_EXPECT_REFUSAL(2, run({"work", "jobs", "--linger", "61s", "--", "true"}));
}

TEST_P(tool_work, any_other_exit_status_fails_with_a_reason) {
  jobs().enqueue("a");
  const ended end = work("echo $TABLEQ_ATTEMPT; exit 3");
  EXPECT_EQ(end.out, "1\n2\n");
  EXPECT_EQ(jobs().stats().dead, 1U);
  const auto dead = jobs().list(tableq::message_state::dead).at(0);
  ASSERT_EQ(dead.errors.size(), 2U);
  EXPECT_EQ(dead.errors[0].error, "exit status 3");
}

TEST_P(tool_work, a_signal_fails_with_a_reason) {
  jobs().enqueue("a");
  work("kill -9 $$");
  EXPECT_EQ(jobs().list(tableq::message_state::dead).at(0).errors.at(0).error, "signal 9 (Killed)");
}

TEST_P(tool_work, the_environment_tells_what_the_message_is) {
  const auto sent = jobs().enqueue(
      "a", {.headers = {{"type", "pdf"}, {"x-trace.Id", "7 8"}, {"na\xC3\xAFve", "n"}}});
  const std::string script =
      "echo $TABLEQ_MESSAGE_ID $TABLEQ_ATTEMPT $TABLEQ_QUEUE;"
      "env | grep ^TABLEQ_HEADER_ | sort";
  const ended end = run({"work", "jobs", "--until-empty", "--", "sh", "-c", script},
                        {.environment = {"TABLEQ_HEADER_STALE=1", "TABLEQ_ATTEMPT=77"}});
  EXPECT_EQ(lines_of(end.out),
            (words{std::to_string(sent.id.value) + " 1 jobs", "TABLEQ_HEADER_NA__VE=n",
                   "TABLEQ_HEADER_TYPE=pdf", "TABLEQ_HEADER_X_TRACE_ID=7 8"}));
}

TEST_P(tool_work, a_chain_of_commands_is_one_trace) {
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto traced = [&](const std::string& trace) {
    return start_options{.environment = {"TRACEPARENT=" + trace, "TRACESTATE=a=1"}};
  };
  done({"create", "claim", "jobs"});
  done({"enqueue", "jobs", "a"}, traced(parent));
  done({"enqueue", "jobs", "b"}, traced("not a context"));
  const ended end = run({"work", "jobs", "--until-empty", "--", "sh", "-c",
                         "echo ${TRACEPARENT-none} ${TRACESTATE-none}"},
                        traced("00-00000000000000000000000000000001-0000000000000001-01"));
  EXPECT_EQ(lines_of(end.out), (words{parent + " a=1", "none none"}));
}

TEST_P(tool_work, a_failed_message_can_be_told_to_rest) {
  jobs().enqueue("a");
  const auto running =
      start_told({"work", "jobs", "--retry-delay", "1h", "--verbose", "--", "false"});
  heard->next_with("failed: exit status 1");
  EXPECT_EQ(jobs().stats().delayed, 1U);
  running->signal(SIGTERM);
  EXPECT_EQ(running->wait().status, 0);
}

TEST_P(tool_work, until_empty_waits_for_what_is_delayed) {
  EXPECT_TRUE(jobs().enqueue("a", {.delay = 1s}).created());
  EXPECT_EQ(work("cat").out, "a");
}

TEST_P(tool_work, summary_and_verbose_say_what_became_of_the_messages) {
  jobs().enqueue("good");
  jobs().enqueue("bad");
  const ended end = work("test $(cat) = good", {"--summary", "--verbose"});
  const auto lines = lines_of(end.err);
  ASSERT_EQ(lines.size(), 4U) << end.err;
  EXPECT_TRUE(contains(lines[0], "attempt 1: completed"));
  EXPECT_TRUE(contains(lines[1], "attempt 1: failed: exit status 1"));
  EXPECT_TRUE(contains(lines[2], "attempt 2: failed: exit status 1"));
  EXPECT_TRUE(contains(lines[3], "completed 1, failed 2, lease lost 0, in "));
  EXPECT_FALSE(contains(end.err, "good"));
}

TEST_P(tool_work, waits_for_messages_without_until_empty) {
  jobs();
  named_pipe ran((scratch / "ran").string());
  const auto running =
      start({"work", "jobs", "--", "sh", "-c", "cat > " + ran.path() + "; echo > " + ran.path()});
  jobs().enqueue("first");
  EXPECT_EQ(ran.read_line(), "first");
  jobs().enqueue("second");
  EXPECT_EQ(ran.read_line(), "second");
  running->signal(SIGINT);
  EXPECT_EQ(running->wait().status, 0);
}

TEST_P(tool_work, runs_as_many_at_once_as_it_was_told) {
  std::vector<std::unique_ptr<named_pipe>> go;
  go.reserve(3);
  for (int i = 0; i < 3; ++i) {
    const auto id = jobs().enqueue("work").id;
    go.push_back(std::make_unique<named_pipe>(scratch / ("go" + std::to_string(id.value))));
  }
  named_pipe started((scratch / "started").string());
  const auto running =
      start({"work", "jobs", "--until-empty", "--concurrency", "3", "--", "sh", "-c",
             "echo up > " + started.path() + "; read x < " + (scratch / "go").string() +
                 "$TABLEQ_MESSAGE_ID"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(started.read_line(), "up");
  EXPECT_EQ(jobs().stats().leased, 3U);
  for (const auto& one : go) one->write_line("x");
  EXPECT_EQ(running->wait().status, 0);
}

}  // namespace
