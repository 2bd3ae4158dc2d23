#include <csignal>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Leases that are kept, lost, or left by a dead worker.
class tool_work_lease : public tool_test {
 protected:
  void SetUp() override {
    tool_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    jobs().enqueue("work");
    started_.emplace((scratch / "started").string());
    first_go_.emplace((scratch / "go1").string());
    second_go_.emplace((scratch / "go2").string());
  }
  tableq::claim_queue jobs() { return db().claim("jobs"); }

  /// A worker whose command reports its attempt and waits for that attempt's pipe.
  std::unique_ptr<command> start_worker(const std::string& lease) {
    return start({"work", "jobs", "--until-empty", "--summary", "--lease", lease, "--", "sh", "-c",
                  "echo $TABLEQ_ATTEMPT > " + started_->path() + "; read x < " +
                      (scratch / "go").string() + "$TABLEQ_ATTEMPT"});
  }

  std::optional<named_pipe> started_;
  std::optional<named_pipe> first_go_;
  std::optional<named_pipe> second_go_;
};
TABLEQ_ON_BACKENDS(tool_work_lease, distinct_backends);

TEST_P(tool_work_lease, is_extended_while_the_command_runs) {
  const auto worker = start_worker("2s");
  EXPECT_EQ(started_->read_line(), "1");
  // A wait for more than two leases would get the message as soon as one had ended.
  EXPECT_TRUE(jobs().take(1, {.wait = 5s}).empty());
  first_go_->write_line("x");
  const ended end = worker->wait();
  EXPECT_EQ(end.status, 0);
  EXPECT_TRUE(contains(end.err, "completed 1, failed 0, lease lost 0")) << end.err;
  const auto stats = jobs().stats();
  EXPECT_EQ(stats.ready + stats.leased + stats.dead, 0U);
}

TEST_P(tool_work_lease, a_killed_workers_message_is_taken_again) {
  const auto killed = start_worker("1s");
  EXPECT_EQ(started_->read_line(), "1");
  killed->signal(SIGKILL);
  EXPECT_EQ(killed->wait().status, 128 + SIGKILL);
  // It has to wait for the lease to end: until-empty includes messages that others hold.
  const auto other = start_worker("1m");
  EXPECT_EQ(started_->read_line(), "2");
  second_go_->write_line("x");
  const ended end = other->wait();
  EXPECT_EQ(end.status, 0);
  EXPECT_TRUE(contains(end.err, "completed 1")) << end.err;
  EXPECT_EQ(jobs().stats().leased, 0U);
}

TEST_P(tool_work_lease, that_is_lost_ends_the_command_and_settles_nothing) {
  const auto worker = start_worker("1s");
  EXPECT_EQ(started_->read_line(), "1");
  worker->signal(SIGSTOP);
  const auto taken = jobs().take(1, {.wait = 60s, .lease = 1h});
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].attempt, 2);
  worker->signal(SIGCONT);
  // Its command gets no line, so the lost lease alone can end it.
  worker->signal(SIGTERM);
  const ended end = worker->wait();
  EXPECT_EQ(end.status, 0);
  EXPECT_TRUE(contains(end.err, "completed 0, failed 0, lease lost 1")) << end.err;
  EXPECT_EQ(jobs().complete(taken[0].receipt), tableq::settle_result::applied);
}

}  // namespace
