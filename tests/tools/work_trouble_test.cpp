#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "support/at_once.hpp"
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Trouble that all commands have.
class tool_work_trouble : public tool_test {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs", at_once({.max_attempts = 1})); }
  /// A worker that tells of each message.
  std::unique_ptr<command> worker(const words& program, const words& environment = {}) {
    return start_told(joined({"work", "jobs", "--verbose", "--until-empty", "--"}, program),
                      {.environment = environment});
  }
};
TABLEQ_ON_BACKENDS(tool_work_trouble, distinct_backends);

TEST_P(tool_work_trouble, of_all_commands_slows_them_down_until_one_succeeds) {
  constexpr std::size_t count = 100;
  for (std::size_t i = 0; i < count; ++i) jobs().enqueue("work");
  const std::string repaired = (scratch / "repaired").string();
  const auto running = worker({"test", "-e", repaired});
  heard->next_with("10 commands in a row have failed, the last one with exit status 1; slowing");
  { const std::ofstream made(repaired); }
  heard->next_with("completed");
  EXPECT_EQ(running->wait().status, 0);
  EXPECT_LT(jobs().stats().dead, count / 2) << "they would be dead before the file was made";
}

TEST_P(tool_work_trouble, of_bad_messages_at_the_head_holds_up_no_others) {
  auto queue = db().claim("scripts", at_once({.max_attempts = 1000}));
  for (int i = 0; i < 4; ++i) queue.enqueue("false");
  queue.enqueue("true");
  const auto running = start_told({"work", "scripts", "--verbose", "--", "sh"});
  heard->next_with("slowing down");
  heard->next_with("completed");
  running->signal(SIGTERM);
  EXPECT_EQ(running->wait().status, 0);
  EXPECT_EQ(queue.stats().ready, 4U);
}

TEST_P(tool_work_trouble, of_a_message_that_waits_alone_uses_up_its_attempts) {
  auto queue = db().claim("scripts", at_once({.max_attempts = 11}));
  queue.enqueue("false");
  const auto running = start_told({"work", "scripts", "--verbose", "--until-empty", "--", "sh"});
  heard->next_with("attempt 11: given back");
  heard->next_with("attempt 11: failed");
  EXPECT_EQ(running->wait().status, 0);
  EXPECT_EQ(queue.stats().dead, 1U);
}

TEST_P(tool_work_trouble, puts_messages_aside_that_a_stop_gives_back) {
  auto queue = db().claim("scripts", at_once({.max_attempts = 1000}));
  for (int i = 0; i < 2; ++i) queue.enqueue("false");
  const auto running = start_told({"work", "scripts", "--verbose", "--", "sh"});
  heard->next_with("slowing down");
  heard->next_with("attempt 1: failed");
  running->signal(SIGTERM);
  EXPECT_EQ(running->wait().status, 0);
  EXPECT_EQ(queue.stats().ready, 2U);
}

TEST_P(tool_work_trouble, of_all_commands_keeps_nobody_from_stopping) {
  for (int i = 0; i < 20; ++i) jobs().enqueue("work");
  const auto running = worker({"false"});
  heard->next_with("slowing down");
  running->signal(SIGTERM);
  EXPECT_EQ(running->wait().status, 0);
  EXPECT_EQ(jobs().stats().leased, 0U);
}

TEST_P(tool_work_trouble, of_a_missing_program_costs_no_attempt) {
  jobs().enqueue("work");
  const auto running = worker({"sh", "-c", "no-such-program 2> /dev/null"});
  EXPECT_TRUE(contains(heard->next(), "sh cannot start its program: exit status 127; slowing"));
  EXPECT_TRUE(contains(heard->next(), "attempt 1: given back"));
  running->signal(SIGKILL);
}

TEST_P(tool_work_trouble, of_a_program_that_one_message_lacks_fails_that_message) {
  jobs().enqueue("true");
  const auto bad = jobs().enqueue("no-such-program 2> /dev/null");
  jobs().enqueue("true");
  const auto running = worker({"sh"});
  EXPECT_EQ(running->wait().status, 0);
  const auto dead = jobs().list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].id, bad.id);
  EXPECT_EQ(dead[0].errors.at(0).error, "exit status 127");
}

TEST_P(tool_work_trouble, of_the_system_is_told_once_and_costs_no_attempt) {
  jobs().enqueue("work");
  const auto program = scratch / "program";
  owned_descriptor busy(::open(program.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0700));
  ASSERT_EQ(::write(busy.value(), "#!/bin/sh\n", 10), 10);
  const auto running = worker({program.string()});
  EXPECT_TRUE(contains(heard->next(), "Text file busy; slowing down"));
  EXPECT_TRUE(contains(heard->next(), "attempt 1: given back"));
  EXPECT_TRUE(contains(heard->next(), "attempt 1: given back")) << "nothing is told again";
  busy.close();
  EXPECT_TRUE(contains(heard->next_with("completed"), "attempt 1: completed"));
  EXPECT_EQ(running->wait().status, 0);
}

TEST_P(tool_work_trouble, of_memory_without_room_for_a_payload_passes) {
#if !defined(TABLEQ_FULL_MEMORY)
  GTEST_SKIP() << "a sanitizer must be loaded before anything else";
#else
  jobs().enqueue("work");
  const auto sign = scratch / "full";
  { const std::ofstream full(sign); }
  const auto running =
      worker({"true"}, {"LD_PRELOAD=" TABLEQ_FULL_MEMORY, "FULL_MEMORY=" + sign.string()});
  EXPECT_TRUE(contains(heard->next(), "No space left on device; slowing down"));
  EXPECT_TRUE(contains(heard->next(), "attempt 1: given back"));
  std::filesystem::remove(sign);
  EXPECT_TRUE(contains(heard->next_with("completed"), "attempt 1: completed"));
  EXPECT_EQ(running->wait().status, 0);
#endif
}

}  // namespace
