#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "support/becomes.hpp"
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// The processes of `work` that are left.
class tool_work_killed : public tool_test {
 protected:
  void SetUp() override {
    tool_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    jobs().enqueue("work");
    started_.emplace((scratch / "started").string());
    never_.emplace((scratch / "never").string());
  }
  tableq::claim_queue jobs() { return db().claim("jobs"); }

  /// A worker whose command has run `script` up to the words that it writes to `started_`. Its
  /// standard output is a pipe that all have open which it has started.
  std::unique_ptr<command> running(const std::string& script,
                                   const words& arguments = {"work", "jobs"}) {
    pipe_ends out = make_pipe();
    held_ = std::move(out.reader);
    auto worker = start(joined(arguments, {"--", "sh", "-c", script}), {.out = out.writer.value()});
    words_ = started_->read_line();
    return worker;
  }
  /// Whether all have ended which have the pipe open.
  [[nodiscard]] bool all_gone() const {
    const auto limit = std::chrono::steady_clock::now() + for_ever;
    while (std::chrono::steady_clock::now() < limit) {
      pollfd event{held_.value(), POLLIN, 0};
      ::poll(&event, 1, 1000);
      char dropped = 0;
      if (event.revents != 0 && ::read(held_.value(), &dropped, 1) == 0) return true;
    }
    return false;
  }
  /// The children of a process, but one.
  static std::vector<pid_t> children_of(pid_t parent, pid_t but) {
    std::vector<pid_t> out;
    for (const auto& each : std::filesystem::directory_iterator("/proc")) {
      const std::string name = each.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(each.path() / "status");
      for (std::string line; std::getline(file, line);) {
        if (line == "PPid:\t" + std::to_string(parent) && std::stoi(name) != but) {
          out.push_back(std::stoi(name));
        }
      }
    }
    return out;
  }

  std::optional<named_pipe> started_;
  std::optional<named_pipe> never_;
  owned_descriptor held_;
  std::string words_;
};
TABLEQ_ON_BACKENDS(tool_work_killed, distinct_backends);

TEST_P(tool_work_killed, leaves_no_command_and_nothing_that_one_has_started) {
  const auto worker = running("read x < " + never_->path() + " & echo up > " + started_->path() +
                              "; read x < " + never_->path());
  worker->signal(SIGKILL);
  EXPECT_EQ(worker->wait().status, 128 + SIGKILL);
  EXPECT_TRUE(all_gone());
}

TEST_P(tool_work_killed, is_not_needed_to_end_what_a_command_that_it_ends_has_started) {
  // The shell ends by SIGTERM, and what it has started does not listen.
  const auto worker = running(
      "(trap '' TERM; echo up > " + started_->path() + "; read x < " + never_->path() + ") & wait",
      {"work", "jobs", "--grace", "0s"});
  worker->signal(SIGTERM);
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(worker->wait().status, 0);
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(tool_work_killed, leaves_no_command_if_its_guard_was_killed_too) {
#if defined(TABLEQ_PORTABLE)
  GTEST_SKIP() << "only Linux kills a command with its parent";
#endif
  const auto worker =
      running("echo $PPID $$ > " + started_->path() + "; read x < " + never_->path());
  std::istringstream ids(words_);
  pid_t parent = 0;
  pid_t itself = 0;
  ids >> parent >> itself;
  const auto guards = children_of(parent, itself);
  ASSERT_EQ(guards.size(), 1U);
  ::kill(guards[0], SIGKILL);
  ASSERT_TRUE(becomes([&] { return children_of(parent, itself).empty(); })) << "it is reaped";
  worker->signal(SIGKILL);
  EXPECT_EQ(worker->wait().status, 128 + SIGKILL);
  EXPECT_TRUE(all_gone());
}

TEST_P(tool_work_killed, goes_on_without_its_guard) {
  const auto worker =
      running("echo $PPID $$ > " + started_->path() + "; read x < " + never_->path());
  std::istringstream ids(words_);
  pid_t parent = 0;
  pid_t itself = 0;
  ids >> parent >> itself;
  for (const pid_t each : children_of(parent, itself)) ::kill(each, SIGKILL);
  never_->write_line("x");
  jobs().enqueue("more");
  started_->read_line();
  never_->write_line("x");
  ASSERT_TRUE(becomes([&] { return jobs().stats().ready + jobs().stats().leased == 0; }));
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait().status, 0);
}

TEST_P(tool_work_killed, leaves_no_process_behind_at_its_end) {
  const auto worker = running("echo up > " + started_->path());
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait().status, 0);
  EXPECT_TRUE(all_gone());
}

TEST_P(tool_work_killed, as_the_first_process_reaps_what_its_commands_leave_behind) {
  // As in a container: orphans become its children.
  const std::string adopt =
      "import ctypes, os, sys\n"
      "assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER\n"
      "os.execv(sys.argv[1], sys.argv[1:])";
  const command worker("/usr/bin/env",
                       {"python3", "-c", adopt, TABLEQ_COMMAND, "work", "jobs", "--", "sh", "-c",
                        "(read x < " + never_->path() + ") & echo $PPID $! > " + started_->path()},
                       {.environment = {"TABLEQ_DB=" + here().url()}});
  std::istringstream ids(started_->read_line());
  pid_t parent = 0;
  pid_t orphan = 0;
  ids >> parent >> orphan;
  const auto adopted = [&] {
    const auto all = children_of(parent, 0);
    return std::find(all.begin(), all.end(), orphan) != all.end();
  };
  ASSERT_TRUE(becomes(adopted));
  never_->write_line("x");
  EXPECT_TRUE(becomes([&] { return ::kill(orphan, 0) == -1; }));
  worker.signal(SIGTERM);
}

}  // namespace
