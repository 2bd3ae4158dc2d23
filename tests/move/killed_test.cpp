#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "move/move_fixture.hpp"
#include "support/forked.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

/// Kills its process after a step of either database: before the next one nothing changes there.
class killer final : public tableq::observer {
 public:
  explicit killer(std::size_t step) : left_(step) {}
  void after(const tableq::observed_operation& /*operation*/,
             const tableq::operation_result& /*result*/) override {
    if (--left_ == 0) ::kill(::getpid(), SIGKILL);
  }

 private:
  std::size_t left_;
};

class killed_moves : public move_test {
 protected:
  /// A move in a process that dies at that step.
  /// @return whether it came to its end.
  bool move_until(std::size_t step) {
    // A child may not have a file open twice.
    clear_database();
    there().clear_database();
    const std::string from = here().url();
    const std::string to = there().here().url();
    forked child([&] {
      const auto death = std::make_shared<killer>(step);
      tableq::database source = tableq::database::open(from, {.observer = death});
      tableq::database target = tableq::database::open(to, {.observer = death});
      tableq::move_messages(source, target, "jobs", {.once = true, .batch = 2, .lease = 1ms});
      return 0;
    });
    const int result = child.wait();
    EXPECT_TRUE(result == 0 || result == 128 + SIGKILL) << result;
    return result != 128 + SIGKILL;
  }

  /// Handles up to so many messages, as a worker.
  void work(tableq::claim_queue on, std::size_t most) {
    for (const tableq::delivery& each : on.take(most)) {
      ASSERT_EQ(on.complete(each), settle_result::applied);
      ++handled_[each.payload];
    }
  }

  void send(std::size_t round) {
    const std::string name = std::to_string(round);
    for (const char* const each : {" a", " b", " c"}) {
      const bool last = each == std::string(" c");
      jobs().enqueue(name + each, {.key = last ? std::optional(name) : std::nullopt,
                                   .group = last ? std::nullopt : std::optional(name)});
      sent_.push_back(name + each);
    }
  }

  void expect_each_once() {
    for (const std::string& each : sent_) EXPECT_EQ(handled_[each], 1U) << each;
    EXPECT_EQ(handled_.size(), sent_.size());
  }

  std::vector<std::string> sent_;
  std::map<std::string, std::size_t> handled_;
};
TABLEQ_ON_BACKENDS(killed_moves, distinct_backends);

TEST_P(killed_moves, handle_each_message_once_whatever_the_step) {
  if (!can().shared || !children_may_have_threads()) GTEST_SKIP() << "needs processes";
  make({.groups = {.limit = 1}});
  std::size_t step = 1;
  for (bool ended = false; !ended; ++step) {
    send(step);
    ended = move_until(step);
    // Workers of both sides go on meanwhile.
    work(jobs(), 1);
    work(jobs_there(), step % 3 == 0 ? 1 : 100);
  }
  EXPECT_GT(step, 50U);
  EXPECT_TRUE(move_until(1'000'000));
  while (jobs_there().stats().ready > 0) work(jobs_there(), 100);
  EXPECT_TRUE(jobs().list({.all = true}).messages.empty());
  expect_each_once();
  expect_tidy();
}

}  // namespace
