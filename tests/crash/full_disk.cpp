#include "crash/full_disk.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "support/expect.hpp"
#include "support/text.hpp"

namespace tableq_test {

using namespace std::chrono_literals;
using tableq::settle_result;

namespace {

const std::string large(50'000, 'x');

/// The required error without room.
template <class Call>
void tells_what_to_do(Call call) {
  const tableq::error full = thrown_by(call);
  EXPECT_EQ(tableq::to_string(full.code()), "storage_full") << full.what();
  EXPECT_EQ(full.advice(), tableq::advice::never);
  EXPECT_TRUE(contains(full.what(), "make room")) << full.what();
}

}  // namespace

void meet_a_full_disk(tableq::database& db, const room& of) {
  auto mail = db.fifo("mail");
  auto jobs = db.claim("jobs");
  jobs.enqueue("taken before");
  const auto taken = jobs.take(1, {.lease = 1h});
  of.take();
  std::size_t stored = 0;
  bool full = false;
  while (!full && stored < 10'000) {
    try {
      mail.enqueue(large);
      ++stored;
    } catch (const tableq::error& failure) {
      EXPECT_EQ(tableq::to_string(failure.code()), "storage_full") << failure.what();
      full = true;
    }
  }
  ASSERT_TRUE(full);
  tells_what_to_do([&] { mail.enqueue(large); });
  tells_what_to_do(
      [&] { db.transact([&](tableq::transaction& tx) { mail.in(tx).enqueue(large); }); });
  const std::vector<tableq::new_message> batch(40, {.payload = large});
  tells_what_to_do([&] { mail.enqueue_batch(batch); });
  // No refused message is stored, and queries still work.
  EXPECT_EQ(mail.stats().waiting, stored);
  EXPECT_EQ(mail.peek().size(), stored == 0 ? 0U : 1U);

  of.give();
  mail.enqueue(large);
  EXPECT_EQ(jobs.complete(taken.at(0).receipt), settle_result::applied);
  std::size_t left = 0;
  while (const auto each = mail.dequeue()) {
    EXPECT_EQ(each->payload, large);
    ++left;
  }
  EXPECT_EQ(left, stored + 1);
}

void work_on_a_full_disk(tableq::database& db, const room& of) {
  auto jobs = db.claim("worked");
  jobs.enqueue("before");
  std::mutex guard;
  std::condition_variable changed;
  std::size_t completed = 0;  // under guard
  tableq::worker crew(jobs, [](const tableq::delivery&) {},
                      {.observe = [&](const tableq::worker_event& told) {
                        const std::lock_guard lock(guard);
                        if (told.what == tableq::worker_event::kind::completed) ++completed;
                        changed.notify_all();
                      }});
  const auto reaches = [&](std::size_t count) {
    std::unique_lock lock(guard);
    return changed.wait_for(lock, 60s, [&] { return completed == count; });
  };
  EXPECT_TRUE(reaches(1));
  of.take();
  tells_what_to_do([&] {
    for (int i = 0; i < 10'000; ++i) jobs.enqueue(large, {.delay = 1h});
  });
  of.give();
  jobs.enqueue("after");
  EXPECT_TRUE(reaches(2));
}

bool on_small_disk(const std::filesystem::path& folder, const std::string& size,
                   const std::function<void()>& test) {
  constexpr int not_here = 77;
  std::fflush(nullptr);
  const ::pid_t child = ::fork();
  if (child == 0) {
    const std::string options = "size=" + size;
    const bool mounted =
        (::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        ::mount("none", folder.c_str(), "tmpfs", 0, options.c_str()) == 0;
    if (mounted) test();
    std::fflush(nullptr);
    ::_exit(!mounted ? not_here : testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == not_here) return false;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return true;
}

}  // namespace tableq_test
