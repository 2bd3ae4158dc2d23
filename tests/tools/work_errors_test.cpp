// The standard error of commands, and the results of messages.

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include <nlohmann/json.hpp>

#include "support/at_once.hpp"
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using json = nlohmann::json;

class tool_work_errors : public tool_test {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs", at_once({.max_attempts = 1})); }
  ended work(const std::string& body, const words& options = {}) {
    return run(joined({"work", "jobs", "--until-empty"}, options, {"--", "sh", "-c", body}));
  }
  std::string reason() {
    const auto dead = jobs().list(tableq::message_state::dead);
    return dead.empty() ? "" : dead.back().errors.at(0).error;
  }
};
TABLEQ_ON_BACKENDS(tool_work_errors, distinct_backends);

TEST_P(tool_work_errors, of_a_failed_command_are_in_the_history_and_passed_on) {
  jobs().enqueue("a");
  const ended end = work("echo first >&2; echo 'no such file' >&2; exit 3");
  EXPECT_EQ(end.err, "first\nno such file\n");
  EXPECT_EQ(reason(), "exit status 3: first\nno such file");
}

TEST_P(tool_work_errors, are_cut_at_their_beginning) {
  jobs().enqueue("a");
  const ended end = work(
      "i=0; while [ $i -lt 3000 ]; do echo 12345678; i=$((i+1)); done >&2; echo end >&2; "
      "exit 3");
  EXPECT_EQ(end.err.size(), 3000U * 9 + 4);
  const std::string found = reason();
  EXPECT_TRUE(found.starts_with("exit status 3: ")) << found.substr(0, 40);
  EXPECT_TRUE(found.ends_with("12345678\nend"));
  EXPECT_LE(found.size(), 2000U);
  EXPECT_GE(found.size(), 1990U);
}

TEST_P(tool_work_errors, of_a_command_that_succeeds_are_only_passed_on) {
  jobs().enqueue("a");
  EXPECT_EQ(work("echo warned >&2").err, "warned\n");
  EXPECT_EQ(reason(), "");
}

TEST_P(tool_work_errors, of_a_lasting_command_are_those_of_the_message) {
  jobs().enqueue_batch({{.payload = "a"}, {.payload = "b"}});
  const ended end = work(
      "n=0; while read -r line; do n=$((n+1)); echo message $n >&2; [ $n = 2 ] && kill -9 $$; "
      "receipt=$(printf '%s' \"$line\" | cut -d '\"' -f 4); "
      "echo '{\"receipt\":\"'$receipt'\",\"settle\":\"complete\"}'; done",
      {"--child", "lines"});
  EXPECT_EQ(end.err, "message 1\nmessage 2\n");
  EXPECT_EQ(reason(), "signal 9 (Killed): message 2");
}

TEST_P(tool_work_errors, of_processes_left_behind_are_passed_on) {
  jobs().enqueue("a");
  named_pipe go((scratch / "go").string());
  const auto worker =
      start_told({"work", "jobs", "--", "sh", "-c",
                  "(read x < " + go.path() + "; echo later >&2) > /dev/null & exit 3"});
  while (jobs().stats().dead == 0) std::this_thread::yield();
  go.write_line("x");
  heard->next_with("later");
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait().status, 0);
  EXPECT_EQ(reason(), "exit status 3");
}

class tool_results : public tool_test {
 protected:
  tableq::claim_queue jobs(bool keeps = true) {
    return db().claim("jobs", at_once({.keep_completed = keeps}));
  }
};
TABLEQ_ON_BACKENDS(tool_results, distinct_backends);

TEST_P(tool_results, are_given_by_complete_and_shown_by_wait_and_get) {
  const std::string id = std::to_string(jobs().enqueue("a").id.value);
  const json taken = json::parse(done({"take", "jobs", "--json"}));
  const std::string receipt = taken.at("receipt");
  const ended early = run({"wait", "jobs", id, "--for", "1ms"});
  EXPECT_EQ(early.status, 1);
  EXPECT_EQ(json::parse(early.out).at("ending"), "waiting");
  EXPECT_EQ(done({"complete", "jobs", receipt, "--result", "42"}), receipt + " completed\n");
  const json found = json::parse(done({"wait", "jobs", id}));
  EXPECT_EQ(found.at("ending"), "done");
  EXPECT_EQ(found.at("result"), "42");
  EXPECT_EQ(json::parse(done({"get", "jobs", id})).at("result"), "42");
  EXPECT_EQ(run({"complete", "jobs", receipt, "--result", "43"}).status, 1);
  EXPECT_EQ(json::parse(run({"wait", "jobs", "99"}).out).at("ending"), "gone");
}

TEST_P(tool_results, that_nothing_keeps_are_refused) {
  jobs(false).enqueue_batch({{.payload = "a"}, {.payload = "b"}});
  const auto lines = lines_of(done({"take", "jobs", "--count", "2"}));
  const std::string first = lines.at(0).substr(0, lines.at(0).find(' '));
  const std::string second = lines.at(1).substr(0, lines.at(1).find(' '));
  TABLEQ_EXPECT_REFUSAL(2, run({"complete", "jobs", first, "--result", "42"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"complete", "jobs", first, second, "--result", "42"}));
  EXPECT_EQ(jobs().stats().leased, 2U);
}

TEST_P(tool_results, progress_is_shown_by_get_and_list) {
  const auto id = jobs().enqueue("a").id;
  const auto taken = jobs().take_one();
  ASSERT_TRUE(taken);
  jobs().progress(*taken, 0.4, "page 12 of 30");
  EXPECT_EQ(jobs().extend(*taken, std::chrono::hours{1}), tableq::settle_result::applied);
  const json found = json::parse(done({"get", "jobs", std::to_string(id.value)}));
  EXPECT_EQ(found.at("progress").at("done"), 0.4);
  EXPECT_EQ(found.at("progress").at("note"), "page 12 of 30");
  const std::string listed = done({"list", "jobs", "--state", "leased"});
  EXPECT_TRUE(contains(listed, "PROGRESS")) << listed;
  EXPECT_TRUE(contains(listed, "40% page 12 of 30")) << listed;
}

}  // namespace
