#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// The environment of a command, and its effects on its worker.
class tool_work_child : public tool_test {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs"); }
  ended work(const words& program) {
    return run(joined({"work", "jobs", "--until-empty", "--"}, program));
  }
  std::string script(const std::string& text) {
    const auto path = scratch / "script";
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0700);
    return path.string();
  }
};
TABLEQ_ON_BACKENDS(tool_work_child, distinct_backends);

TEST_P(tool_work_child, need_not_read_its_input) {
  jobs().enqueue(std::string(1024UL * 1024, 'x'));
  EXPECT_EQ(work({"true"}).status, 0);
  EXPECT_EQ(jobs().stats().ready + jobs().stats().dead, 0U);
}

TEST_P(tool_work_child, may_leave_processes_behind_that_hold_its_input) {
  jobs().enqueue("x");
  named_pipe go((scratch / "go").string());
  EXPECT_EQ(work({"sh", "-c", "(read x < " + go.path() + ") >/dev/null 2>&1 &"}).status, 0);
  go.write_line("x");
}

TEST_P(tool_work_child, reads_its_input_from_the_beginning_and_more_than_once) {
  jobs().enqueue("line one\nline two\n");
  EXPECT_EQ(work({"sh", "-c", "cat; cat < /dev/stdin"}).out.substr(0, 18), "line one\nline two\n");
}

TEST_P(tool_work_child, gets_its_arguments_untouched) {
  jobs().enqueue("x");
  const ended end = work({"printf", "<%s>", "--db", "a b", "", "--", "*", "$HOME", "--help"});
  EXPECT_EQ(end.out, "<--db><a b><><--><*><$HOME><--help>");
}

TEST_P(tool_work_child, writes_straight_to_both_streams) {
  jobs().enqueue("x");
  const ended end = work({"sh", "-c", "echo out; echo err >&2"});
  EXPECT_EQ(end.out, "out\n");
  EXPECT_EQ(end.err, "err\n");
}

TEST_P(tool_work_child, dies_of_a_broken_pipe_like_any_other) {
  jobs().enqueue("x");
  // A program with an inherited ignored SIGPIPE would continue to write, and fail in its own way.
  const ended end = work({"sh", "-c", "(yes; echo $? >&2) | head -n 1"});
  EXPECT_EQ(end.out, "y\n");
  EXPECT_EQ(end.err, "141\n");
}

TEST_P(tool_work_child, is_waited_for_though_the_caller_ignores_the_end_of_children) {
  jobs().enqueue("x");
  const ended end = command("/usr/bin/env",
                            {"--ignore-signal=CHLD", TABLEQ_COMMAND, "work", "jobs",
                             "--until-empty", "--", "true"},
                            {.environment = {"TABLEQ_DB=" + here().url()}})
                        .wait();
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(jobs().stats().ready + jobs().stats().leased + jobs().stats().dead, 0U);
}

TEST_P(tool_work_child, inherits_no_blocked_signal) {
  jobs().enqueue("x");
  EXPECT_EQ(work({"sh", "-c", "grep SigBlk /proc/self/status"}).out, "SigBlk:\t0000000000000000\n");
}

TEST_P(tool_work_child, inherits_no_file_of_the_database) {
  jobs().enqueue("x");
  const words listing{"-c", "ls /proc/self/fd"};
  const std::string outside = command("/bin/sh", listing).wait().out;
  EXPECT_EQ(work({"/bin/sh", listing[0], listing[1]}).out, outside);
}

TEST_P(tool_work_child, is_not_given_the_address_of_the_database) {
  jobs().enqueue("x");
  jobs().enqueue("y");
  const words program{"sh", "-c", "echo \"${TABLEQ_DB-none}\"; env | grep -cF \"$0\"; true",
                      here().url()};
  EXPECT_EQ(work(program).out, "none\n0\nnone\n0\n");
}

TEST_P(tool_work_child, is_given_the_address_where_that_is_asked_for) {
  jobs().enqueue("x");
  words arguments{"work", "jobs", "--until-empty",      "--pass-db", "--",
                  "sh",   "-c",   "echo \"$TABLEQ_DB\""};
  EXPECT_EQ(done(arguments), here().url() + "\n");
  // The address that work itself uses.
  jobs().enqueue("y");
  arguments.insert(arguments.begin(), {"--db", here().url()});
  EXPECT_EQ(done(arguments, {.environment = {"TABLEQ_DB=nowhere://at-all"}}), here().url() + "\n");
}

TEST_P(tool_work_child, finds_all_else_of_the_environment) {
  jobs().enqueue("x");
  const words arguments{
      "work", "jobs", "--until-empty", "--", "sh", "-c", "echo \"$SECRET $TABLEQ_DBS\""};
  EXPECT_EQ(done(arguments, {.environment = {"SECRET=mine", "TABLEQ_DBS=too"}}), "mine too\n");
}

TEST_P(tool_work_child, that_vanishes_costs_no_message_an_attempt) {
  jobs().enqueue("first");
  jobs().enqueue("second");
  const std::string once = script("#!/bin/sh\nrm $0\n");
  TABLEQ_EXPECT_REFUSAL(2, work({once}));
  EXPECT_EQ(jobs().stats().ready, 1U);
  EXPECT_EQ(jobs().peek().at(0).payload, "second");
  EXPECT_EQ(jobs().peek().at(0).attempts, 0);
}

TEST_P(tool_work_child, that_no_system_can_run_costs_no_message_an_attempt) {
  jobs().enqueue("first");
  TABLEQ_EXPECT_REFUSAL(2, work({script("neither a program nor a script\n")}));
  EXPECT_EQ(jobs().peek().at(0).attempts, 0);
}

}  // namespace
