#include <csignal>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// The end of workers with two running commands and a third, waiting message.
class tool_work_end : public tool_test {
 protected:
  void SetUp() override {
    tool_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (int i = 0; i < 3; ++i) jobs().enqueue("work");
    started_.emplace((scratch / "started").string());
    go_.emplace((scratch / "go").string());
  }
  tableq::claim_queue jobs() { return db().claim("jobs"); }

  /// The worker, when its commands run.
  std::unique_ptr<command> two_running(const std::string& script, const words& options = {}) {
    auto worker = start_told(joined({"work", "jobs", "--verbose", "--concurrency", "2"}, options,
                                    {"--", "sh", "-c", script}));
    started_->read_line();
    started_->read_line();
    return worker;
  }
  std::string blocking() { return "echo up > " + started_->path() + "; read x < " + go_->path(); }
  /// Asks it to end as often as there are words, each of which it answers.
  void signal(command& worker, std::initializer_list<const char*> words) {
    for (const std::string word : words) {
      worker.signal(SIGTERM);
      heard->next_with(word + " running commands");
    }
  }
  /// The worker ends, and so many messages have had no attempt.
  void expect_end(command& worker, std::size_t ready) {
    EXPECT_EQ(worker.wait().status, 0);
    EXPECT_EQ(jobs().stats().ready, ready);
    EXPECT_EQ(jobs().stats().leased, 0U);
    for (const auto& one : jobs().peek(10)) EXPECT_EQ(one.attempts, 0);
  }
  /// The database blocks all writers until `let_write`.
  void hold_lock() { here().sql(here().begin_with_lock("jobs")); }
  void let_write() { here().sql("COMMIT"); }
  /// The worker has ended while the lock is held. What it had is given back later, by the lease or
  /// by its last call.
  void expect_left_behind(command& worker) {
    heard->next_with("2 messages are neither settled nor given back");
    EXPECT_EQ(worker.wait().status, 3);
    let_write();
    EXPECT_EQ(jobs().stats().ready + jobs().stats().leased, 3U);
  }
  /// Lets the two commands go on, one after the other: they read from one pipe.
  void let_both_go() {
    go_->write_line("x");
    heard->next_with("completed");
    go_->write_line("x");
    heard->next_with("completed");
  }

  std::optional<named_pipe> started_;
  std::optional<named_pipe> go_;
};
TABLEQ_ON_BACKENDS(tool_work_end, distinct_backends);

TEST_P(tool_work_end, sigterm_finishes_what_runs_and_takes_no_more) {
  const auto worker = two_running(blocking());
  signal(*worker, {"finishing"});
  let_both_go();
  heard->next_with("completed 2, failed 0, lease lost 0, in");
  expect_end(*worker, 1);
}

TEST_P(tool_work_end, ctrl_c_on_the_terminal_does_not_reach_the_commands) {
  const auto worker = two_running(blocking());
  worker->signal_group(SIGINT);
  heard->next_with("finishing running commands");
  let_both_go();
  expect_end(*worker, 1);
}

TEST_P(tool_work_end, a_hangup_finishes_what_runs) {
  const auto worker = two_running(blocking());
  worker->signal_group(SIGHUP);
  heard->next_with("finishing running commands");
  let_both_go();
  EXPECT_EQ(worker->wait().status, 0);
}

TEST_P(tool_work_end, a_second_signal_ends_the_commands_and_gives_their_messages_back) {
  const auto worker = two_running(blocking());
  signal(*worker, {"finishing"});
  worker->signal(SIGTERM);
  heard->next_with("completed 0, failed 0, lease lost 0, given back 2, in");
  expect_end(*worker, 3);
}

TEST_P(tool_work_end, a_second_signal_reaches_what_the_command_has_started) {
  // The outer shell waits for the inner one, which would never end by itself.
  const auto worker = two_running("sh -c '" + blocking() + "'; exit $?");
  worker->signal(SIGINT);
  heard->next_with("finishing running commands");
  worker->signal(SIGINT);
  heard->next_with("given back 2");
  expect_end(*worker, 3);
}

TEST_P(tool_work_end, a_third_signal_ends_commands_that_do_not_listen) {
  const auto worker = two_running("trap '' TERM; " + blocking());
  signal(*worker, {"finishing", "ending"});
  worker->signal(SIGTERM);
  heard->next_with("given back 2");
  expect_end(*worker, 3);
}

TEST_P(tool_work_end, after_the_grace_the_commands_end_and_their_messages_are_given_back) {
  const auto worker = two_running(blocking(), {"--grace", "100ms"});
  signal(*worker, {"finishing"});
  heard->next_with("ending running commands");
  heard->next_with("completed 0, failed 0, lease lost 0, given back 2, in");
  expect_end(*worker, 3);
}

TEST_P(tool_work_end, after_the_grace_commands_that_do_not_listen_are_killed) {
  const auto worker = two_running("trap '' TERM; " + blocking(), {"--grace", "0s"});
  worker->signal(SIGTERM);
  heard->next_with("given back 2");
  expect_end(*worker, 3);
}

TEST_P(tool_work_end, after_the_grace_waits_for_no_lock_in_the_database) {
  const auto worker = two_running(blocking(), {"--grace", "100ms"});
  hold_lock();
  signal(*worker, {"finishing"});
  expect_left_behind(*worker);
}

TEST_P(tool_work_end, a_third_signal_waits_for_no_lock_in_the_database) {
  const auto worker = two_running("trap '' TERM; " + blocking());
  hold_lock();
  signal(*worker, {"finishing", "ending", "killing"});
  expect_left_behind(*worker);
}

TEST_P(tool_work_end, a_fourth_signal_ends_it_at_once) {
  const auto worker = two_running("trap '' TERM; " + blocking());
  hold_lock();
  signal(*worker, {"finishing", "ending", "killing"});
  worker->signal(SIGTERM);
  expect_left_behind(*worker);
}

TEST_P(tool_work_end, within_the_grace_commands_finish) {
  const auto worker = two_running(blocking(), {"--grace", "1h"});
  signal(*worker, {"finishing"});
  let_both_go();
  expect_end(*worker, 1);
}

}  // namespace
