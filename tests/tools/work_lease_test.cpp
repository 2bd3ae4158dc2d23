#include <csignal>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class tool_work_lease : public tool_test {};
TABLEQ_ON_BACKENDS(tool_work_lease, distinct_backends);

TEST_P(tool_work_lease, that_is_lost_ends_the_command_and_settles_nothing) {
  auto jobs = db().claim("jobs");
  jobs.enqueue("work");
  named_pipe started((scratch / "started").string());
  const named_pipe go((scratch / "go").string());
  const auto worker =
      start({"work", "jobs", "--until-empty", "--summary", "--lease", "1s", "--", "sh", "-c",
             "echo $TABLEQ_ATTEMPT > " + started.path() + "; read x < " + go.path()});
  EXPECT_EQ(started.read_line(), "1");
  worker->signal(SIGSTOP);
  const auto taken = jobs.take(1, {.wait = 60s, .lease = 1h});
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].attempt, 2);
  worker->signal(SIGCONT);
  // Its command gets no line, so the lost lease alone can end it.
  worker->signal(SIGTERM);
  const ended end = worker->wait();
  EXPECT_EQ(end.status, 0);
  EXPECT_TRUE(contains(end.err, "completed 0, failed 0, lease lost 1")) << end.err;
  EXPECT_EQ(jobs.complete(taken[0].receipt), tableq::settle_result::applied);
}

}  // namespace
