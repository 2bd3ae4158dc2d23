#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "support/at_once.hpp"
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Lasting commands, which get a line for each message and answer with one.
class tool_work_lines : public tool_test {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs", at_once({.max_attempts = 1})); }

  /// A shell script that runs `body` for each line, with $receipt and $payload.
  std::string handler(const std::string& body) {
    const auto path = scratch / "handler";
    std::ofstream(path)
        << "#!/bin/sh\n"
           "while read -r line; do\n"
           "  receipt=$(printf '%s' \"$line\" | cut -d '\"' -f 4)\n"
           "  payload=$(printf '%s' \"$line\" | sed 's/.*\"payload\":\"//; s/\".*//')\n"
        << body << "\ndone\n";
    ::chmod(path.c_str(), 0700);
    return path.string();
  }
  /// The shell's text of an answer.
  static std::string answer(const std::string& rest) {
    return R"(echo '{"receipt":"'$receipt'",)" + rest + "}'";
  }
  static std::string completes() { return answer(R"("settle":"complete")"); }
  words arguments(const std::string& program, const words& options = {}) {
    return joined({"work", "jobs", "--child", "lines"}, options, {"--", program});
  }
  ended work(const std::string& body, const words& options = {}) {
    return run(arguments(handler(body), joined({"--until-empty"}, options)));
  }
  std::unique_ptr<command> start_verbose(const std::string& body) {
    return start_told(arguments(handler(body), {"--verbose"}));
  }
  void expect_dead(const std::string& why) {
    const auto dead = jobs().list(tableq::message_state::dead);
    ASSERT_EQ(dead.size(), 1U);
    EXPECT_EQ(dead[0].errors.at(0).error, why);
  }
};
TABLEQ_ON_BACKENDS(tool_work_lines, distinct_backends);

TEST_P(tool_work_lines, one_command_handles_one_message_after_the_other) {
  jobs().enqueue_batch({{.payload = "a"}, {.payload = "b"}, {.payload = "c"}});
  const ended end = work("echo $$ $payload >&2; " + completes());
  EXPECT_EQ(end.status, 0);
  const auto lines = lines_of(end.err);
  ASSERT_EQ(lines.size(), 3U) << end.err;
  const std::string process = lines[0].substr(0, lines[0].find(' '));
  EXPECT_EQ(lines, (words{process + " a", process + " b", process + " c"}));
  EXPECT_EQ(jobs().stats().leased + jobs().stats().dead, 0U);
}

TEST_P(tool_work_lines, there_are_as_many_commands_as_work_at_once) {
  jobs().enqueue_batch({{.payload = "a"}, {.payload = "b"}});
  named_pipe started((scratch / "started").string());
  named_pipe go((scratch / "go").string());
  const auto worker = start(arguments(
      handler("echo $$ > " + started.path() + "; read x < " + go.path() + "; " + completes()),
      {"--until-empty", "--concurrency", "2"}));
  const std::string first = started.read_line();
  EXPECT_NE(started.read_line(), first);
  // One after the other: both read from one pipe, and a shell may read ahead.
  go.write_line("x");
  EXPECT_EQ(jobs().stats().ready, 0U);
  while (jobs().stats().leased == 2) std::this_thread::yield();
  go.write_line("x");
  EXPECT_EQ(worker->wait().status, 0);
  EXPECT_EQ(jobs().stats().leased + jobs().stats().dead, 0U);
}

TEST_P(tool_work_lines, an_answer_can_fail_or_release) {
  auto queue = db().claim("jobs", {.max_attempts = 5});
  queue.enqueue_batch({{.payload = "final"}, {.payload = "later"}, {.payload = "back"}});
  named_pipe started((scratch / "started").string());
  named_pipe go((scratch / "go").string());
  const std::string final = answer(R"("settle":"fail","error":"bad","final":true)");
  const std::string later = answer(R"("settle":"fail","error":"busy","delay_ms":3600000)");
  const std::string back = answer(R"("settle":"release")");
  const auto worker = start_verbose("case $payload in final) " + final + ";; later) " + later +
                                    ";; back) echo up > " + started.path() + "; read x < " +
                                    go.path() + "; " + back + ";; esac");
  started.read_line();
  worker->signal(SIGTERM);  // Otherwise the released message would come again.
  heard->next_with("finishing running commands");
  go.write_line("x");
  EXPECT_EQ(worker->wait().status, 0);
  EXPECT_EQ(queue.list(tableq::message_state::dead).at(0).errors.at(0).error, "bad");
  EXPECT_EQ(queue.list(tableq::message_state::delayed).at(0).errors.at(0).error, "busy");
  EXPECT_EQ(queue.peek().at(0).payload, "back");
  EXPECT_EQ(queue.peek().at(0).attempts, 0);
}

TEST_P(tool_work_lines, an_answer_can_have_a_result) {
  auto queue = db().claim("jobs", {.keep_completed = true});
  const auto sent = queue.enqueue("work");
  EXPECT_EQ(work(answer(R"("settle":"complete","result":"42")")).status, 0);
  EXPECT_EQ(queue.get(sent.id, {.result = true})->result, "42");
}

/// Ten failures in a row would otherwise wait.
TEST_P(tool_work_lines, final_answers_do_not_slow_the_others_down) {
  auto queue = jobs();
  for (int i = 0; i < 30; ++i) queue.enqueue("x");
  const ended end = work(answer(R"("settle":"fail","error":"bad","final":true)"));
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.err.find("slowing down"), std::string::npos) << end.err;
  EXPECT_EQ(queue.stats().dead, 30U);
}

TEST_P(tool_work_lines, what_slows_them_down_names_the_answer_that_does_not) {
  for (int i = 0; i < 12; ++i) jobs().enqueue("x");
  const auto worker = start_verbose(answer(R"("settle":"fail","error":"bad")"));
  heard->next_with("the handler's answer (with \"final\" it does not count); slowing down");
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait().status, 0);
}

TEST_P(tool_work_lines, a_command_that_dies_fails_its_message_and_another_goes_on) {
  jobs().enqueue_batch({{.payload = "bad"}, {.payload = "good"}});
  EXPECT_EQ(work("case $payload in bad) exit 3;; esac; " + completes()).status, 0);
  expect_dead("exit status 3");
}

TEST_P(tool_work_lines, a_command_that_ends_without_an_answer_fails_its_message) {
  jobs().enqueue("bad");
  EXPECT_EQ(work("exit 0").status, 0);
  expect_dead("the handler ended without an answer");
}

TEST_P(tool_work_lines, the_end_of_a_command_is_told_beside_what_it_has_started) {
  jobs().enqueue("bad");
  named_pipe go((scratch / "go").string());
  // The other process has the command's standard output, so that its end alone tells nothing.
  EXPECT_EQ(work("(read x < " + go.path() + ") 2>/dev/null & exit 4").status, 0);
  expect_dead("exit status 4");
  go.write_line("x");
}

TEST_P(tool_work_lines, a_command_that_hangs_is_ended) {
  jobs().enqueue_batch({{.payload = "bad"}, {.payload = "good"}});
  named_pipe never((scratch / "never").string());
  EXPECT_EQ(work("trap '' TERM; case $payload in bad) read x < " + never.path() + ";; esac; " +
                     completes(),
                 {"--answer-within", "1s"})
                .status,
            0);
  expect_dead("the handler has not answered in time");
}

TEST_P(tool_work_lines, nonsense_fails_the_message_and_is_not_repeated) {
  const std::string wrong = "the handler's answer is wrong: ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"echo canary", "the handler's answer is not a JSON object"},
      {"echo [1]", "the handler's answer is not a JSON object"},
      {R"(echo '{"settle":"complete"}')", wrong + "another message's receipt, or none"},
      {R"(echo '{"receipt":"1.2.3","settle":"complete"}')",
       wrong + "another message's receipt, or none"},
      {answer(R"("settle":"canary")"), wrong + "settle is neither complete, fail nor release"},
      {answer(R"("settle":"complete","delay":1)"),
       wrong + "an unknown member; it has receipt, settle, result, error, delay_ms, final and last "
               "only"},
      {answer(R"("settle":"fail","delay_ms":"1")"), wrong + "a member of another type"},
      {answer(R"("settle":"complete","error":"x")"),
       wrong + "error, delay_ms and final go with \"settle\": \"fail\""},
      {answer(R"("settle":"fail","result":"x")"),
       wrong + R"(result goes with "settle": "complete")"},
      {answer(R"("settle":"fail","delay_ms":1,"final":true)"),
       wrong + "delay_ms and final exclude each other"},
      {answer(R"("settle":"fail","delay_ms":315360000001)"), wrong + "delay_ms is over 3,650 days"},
      {"head -c 70000 /dev/zero | tr '\\0' x", "the handler's answer is over 64 KiB long"},
      {"head -c 70000 /dev/zero | tr '\\0' x; echo", "the handler's answer is over 64 KiB long"}};
  for (const auto& [body, why] : cases) {
    jobs().enqueue("x");
    EXPECT_EQ(work(body).status, 0);
    expect_dead(why);
    jobs().purge(tableq::message_state::dead);
  }
}

TEST_P(tool_work_lines, what_is_said_unasked_is_no_answer_to_the_next_message) {
  jobs().enqueue_batch({{.payload = "a"}, {.payload = "b"}});
  // In one write: noise that comes later may be an answer to the next message.
  EXPECT_EQ(work("said=$(" + completes() + R"(); printf '%s\nnoise\n' "$said")").status, 0);
  EXPECT_EQ(jobs().stats().dead, 0U);
}

TEST_P(tool_work_lines, a_command_may_end_after_its_last_answer) {
  jobs().enqueue_batch({{.payload = "a"}, {.payload = "b"}});
  const ended end = work("echo $$ >&2; " + answer(R"("settle":"complete","last":true)") + "; exit");
  const auto lines = lines_of(end.err);
  ASSERT_EQ(lines.size(), 2U) << end.err;
  EXPECT_NE(lines[0], lines[1]);
  EXPECT_EQ(jobs().stats().dead, 0U);
}

TEST_P(tool_work_lines, a_large_payload_passes) {
  jobs().enqueue(std::string(1024UL * 1024, 'x'));
  EXPECT_EQ(work(completes()).status, 0);
  EXPECT_EQ(jobs().stats().leased + jobs().stats().dead, 0U);
}

TEST_P(tool_work_lines, a_second_signal_gives_the_message_back) {
  jobs().enqueue("a");
  named_pipe started((scratch / "started").string());
  named_pipe never((scratch / "never").string());
  const auto worker = start_verbose("echo up > " + started.path() + "; read x < " + never.path());
  started.read_line();
  worker->signal(SIGTERM);
  heard->next_with("repeat to give their messages back");  // Two signals at once may count as one.
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait().status, 0);
  EXPECT_EQ(jobs().peek().at(0).attempts, 0);
}

TEST_P(tool_work_lines, options_that_do_not_fit_are_refused) {
  jobs();
  for (const words& wrong :
       {words{"work", "jobs", "--child", "threads", "--", "true"},
        words{"work", "jobs", "--answer-within", "1s", "--", "true"},
        words{"work", "jobs", "--child", "lines", "--answer-within", "0s", "--", "true"},
        words{"work", "jobs", "other:jobs", "--also-db", "other=sqlite://x.db", "--child", "lines",
              "--pass-db", "--", "true"}}) {
    TABLEQ_EXPECT_REFUSAL(2, run(wrong));
  }
}

}  // namespace
