#include <soci/soci.h>

#include <fstream>

#include <tableq/soci.hpp>

#include "crash/full_disk.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"
#include "support/report.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
namespace files = std::filesystem;

class full_file : public on_each_backend {
 protected:
  /// Runs all operations that may reach the limit.
  void go_through(tableq::database& db, const room& of, const std::string& what) {
    meet_a_full_disk(db, of);
    work_on_a_full_disk(db, of);
    report_injected(what, GetParam()->name(), 2, "storage_full; went on when there was room");
  }
  /// Takes and completes so many messages. @return how many calls the full disk refused.
  static int work_off(tableq::claim_queue& jobs, std::size_t count) {
    int refused = 0;
    const auto insist = [&](auto call) {
      for (;;) {
        try {
          return call();
        } catch (const tableq::error& failure) {
          if (failure.code() != tableq::errc::storage_full || ++refused > 100) throw;
        }
      }
    };
    for (std::size_t i = 0; i < count; ++i) {
      const auto one = insist([&] { return jobs.take(1); });
      EXPECT_EQ(one.size(), 1U);
      for (const auto& each : one) {
        EXPECT_EQ(insist([&] { return jobs.complete(each); }), tableq::settle_result::applied);
      }
    }
    return refused;
  }
};
INSTANTIATE_TEST_SUITE_P(, full_file, testing::Values(&sqlite_file_backend()), backend_name);

TEST_P(full_file, at_its_limit_is_told_and_work_goes_on_when_there_is_room) {
  auto one = open({.max_sessions = 1});
  const auto most = [&one](const std::string& pages) {
    tableq::transaction tx = one.begin();
    tableq::session_of(tx) << "PRAGMA max_page_count = " + pages;
    tx.commit();
  };
  go_through(one, {.take = [&] { most("300"); }, .give = [&] { most("1000000"); }},
             "file full, max_page_count");
  EXPECT_EQ(here().damage(), std::nullopt);
}

TEST_P(full_file, on_a_full_disk_is_told_and_work_goes_on_when_there_is_room) {
  const files::path folder =
      files::path(here().url().substr(sizeof("sqlite://") - 1)).parent_path();
  const bool mounted = on_small_disk(folder, "8m", [&] {
    auto two = open({.max_sessions = 2});
    const files::path filler = folder / "filler";
    const auto give = [&] { files::remove(filler); };
    const auto take = [&] {
      std::ofstream all(filler);
      const std::string block(65'536, 'x');
      while (all << block << std::flush) {
      }
    };
    // Not to the last page, so that the payload of a message is refused.
    const auto nearly = [&] {
      take();
      files::resize_file(filler, files::file_size(filler) - 300'000);
    };
    go_through(two, {.take = nearly, .give = give}, "disk full");
    // Now to the last page.
    meet_a_full_disk(two, {.take = take, .give = give});
    // No process has the file open, and its side files have no room.
    two = tableq::database::open("sqlite://:memory:");
    take();
    EXPECT_CODE(storage_full, static_cast<void>(open()));
    give();
    EXPECT_EQ(open().fifo("mail").stats().waiting, 0U);
    EXPECT_EQ(here().damage(), std::nullopt);
  });
  if (!mounted) GTEST_SKIP() << "a file system of its own cannot be mounted here";
}

TEST_P(full_file, whose_log_fills_the_disk_is_worked_off) {
  const files::path folder =
      files::path(here().url().substr(sizeof("sqlite://") - 1)).parent_path();
  const bool mounted = on_small_disk(folder, "40m", [&] {
    constexpr std::size_t backlog = 1500;
    const auto come_and_go = [](tableq::claim_queue& jobs) {
      jobs.enqueue(std::string(100'000, 'x'), {.priority = 1});
      for (const auto& one : jobs.take(1)) static_cast<void>(jobs.complete(one));
    };
    {
      auto jobs = open().claim("jobs");
      jobs.enqueue_batch(
          std::vector<tableq::new_claim_message>(backlog, {.payload = std::string(1000, 'x')}));
      come_and_go(jobs);
    }  // The last session copies the log and deletes it.
    auto jobs = open().claim("jobs");
    for (int i = 0; i < 15; ++i) come_and_go(jobs);
    std::ofstream all(folder / "filler");
    const std::string block(4096, 'x');
    while (all << block << std::flush) {
    }
    EXPECT_GT(work_off(jobs, backlog), 0);
  });
  if (!mounted) GTEST_SKIP() << "a file system of its own cannot be mounted here";
}

TEST_P(full_file, on_a_disk_too_small_for_a_usual_log_is_worked_off) {
  const files::path folder =
      files::path(here().url().substr(sizeof("sqlite://") - 1)).parent_path();
  const bool mounted = on_small_disk(folder, "16m", [&] {
    std::ofstream(folder / "filler") << std::string(4'000'000, 'x');
    auto jobs = open().claim("jobs");
    const std::string payload(1000, 'x');
    const auto fill = [&] {
      std::size_t stored = 0;
      const tableq::error full = thrown_by([&] {
        for (;; ++stored) jobs.enqueue(payload);
      });
      EXPECT_EQ(full.code(), tableq::errc::storage_full) << full.what();
      return stored;
    };
    const std::size_t stored = fill();
    EXPECT_GT(stored, 3000U) << "half of the disk is the database";
    files::remove(folder / "filler");
    EXPECT_LT(work_off(jobs, stored), 9);
    EXPECT_GT(fill(), stored / 2) << "the database keeps its room";
  });
  if (!mounted) GTEST_SKIP() << "a file system of its own cannot be mounted here";
}

}  // namespace
