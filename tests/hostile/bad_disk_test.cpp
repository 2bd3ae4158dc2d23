#include <gtest/gtest.h>
#include <soci/soci.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include <tableq/soci.hpp>

#include "hostile/bad_disk.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"
#include "support/forked.hpp"
#include "support/scratch_directory.hpp"
#include "support/sqlite_client.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using call = bad_disk::call;
namespace files = std::filesystem;

/// Databases that are a file of this process.
class files_on_a_bad_disk : public on_each_backend {
 protected:
  [[nodiscard]] files::path file() {
    return here()
        .sql("SELECT file FROM pragma_database_list WHERE name = 'main'")
        .at(0)
        .at(0)
        .value();
  }
};
INSTANTIATE_TEST_SUITE_P(, files_on_a_bad_disk, testing::Values(&sqlite_file_backend()),
                         backend_name);

std::vector<const backend*> files_by_each_way() {
  std::vector<const backend*> out{&sqlite_file_backend()};
#if defined(TABLEQ_WITH_ODBC)
  out.push_back(&sqlite_odbc_backend());
#endif
  return out;
}

class files_that_are_not_flushed : public files_on_a_bad_disk {};
INSTANTIATE_TEST_SUITE_P(, files_that_are_not_flushed, testing::ValuesIn(files_by_each_way()),
                         backend_name);

/// Handles all messages of a queue, and counts.
class counted_worker {
 public:
  /// @param handle runs in the worker's thread.
  counted_worker(const tableq::claim_queue& of, std::function<void()> handle)
      : work_(of, [handle = std::move(handle)](const tableq::delivery&) { handle(); },
              {.observe = [this](const tableq::worker_event& told) { count(told); }}) {}

  /// Waits until that many were completed.
  [[nodiscard]] bool completes(std::size_t wanted) {
    std::unique_lock lock(guard_);
    return changed_.wait_for(lock, for_ever, [&] { return completed_ >= wanted; });
  }
  [[nodiscard]] tableq::worker& work() { return work_; }

 private:
  void count(const tableq::worker_event& told) {
    const std::scoped_lock lock(guard_);
    if (told.what == tableq::worker_event::kind::completed) ++completed_;
    changed_.notify_all();
  }

  std::mutex guard_;
  std::condition_variable changed_;
  std::size_t completed_ = 0;  // under guard_
  tableq::worker work_;
};

TEST_P(files_on_a_bad_disk, whose_quota_is_used_up_are_full_and_work_goes_on_when_there_is_room) {
  for (const int error : {EDQUOT, EFBIG}) {
    auto mail = db().fifo("mail");
    auto jobs = db().claim("jobs");
    jobs.enqueue("before");
    const auto taken = jobs.take(1, {.lease = 1h});
    {
      const bad_disk full(call::write, error, "-wal");
      const tableq::error told = thrown_by([&] { mail.enqueue("no room"); });
      EXPECT_EQ(to_string(told.code()), "storage_full") << told.what();
      EXPECT_EQ(told.advice(), tableq::advice::never);
      EXPECT_TRUE(contains(told.what(), "then call again")) << told.what();
      EXPECT_CODE(storage_full, mail.enqueue_batch({{.payload = "one"}, {.payload = "two"}}));
      EXPECT_CODE(storage_full,
                  db().transact([&](tableq::transaction& tx) { mail.in(tx).enqueue("no room"); }));
      EXPECT_CODE(storage_full, static_cast<void>(jobs.complete(taken.at(0))));
      EXPECT_EQ(mail.stats().waiting, 0U);
      EXPECT_GT(full.failed(), 3);
    }
    EXPECT_EQ(jobs.complete(taken.at(0)), tableq::settle_result::applied);
    mail.enqueue("room");
    EXPECT_EQ(mail.dequeue()->payload, "room");
  }
  EXPECT_EQ(here().damage(), std::nullopt);
}

TEST_P(files_on_a_bad_disk, fail_a_call_by_name_and_change_nothing) {
  auto mail = db().fifo("mail");
  {
    const bad_disk bad(call::write, EIO, "-wal");
    const tableq::error told = thrown_by([&] { mail.enqueue("lost"); });
    EXPECT_EQ(to_string(told.code()), "storage_failed") << told.what();
    EXPECT_EQ(told.advice(), tableq::advice::never);
  }
  EXPECT_FALSE(mail.dequeue());
}

TEST_P(files_on_a_bad_disk, fail_no_attempt_of_a_message_whose_work_is_done) {
  for (const int error : {EDQUOT, EFBIG, EIO}) {
    auto jobs = db().claim("jobs", {.max_attempts = 1});
    std::optional<bad_disk> bad;
    std::size_t runs = 0;
    jobs.enqueue("job");
    counted_worker crew(jobs, [&] {
      ++runs;
      bad.emplace(call::write, error, "-wal", 3);
    });
    EXPECT_TRUE(crew.completes(1));
    crew.work().stop();
    crew.work().join();
    EXPECT_EQ(runs, 1U);
    EXPECT_EQ(bad->failed(), 3);
    EXPECT_EQ(jobs.stats().dead, 0U);
  }
}

TEST_P(files_that_are_not_flushed, leave_the_outcome_of_a_commit_unknown) {
  auto mail = db().fifo("mail");
  {
    const bad_disk bad(call::flush, EIO, "-wal", 1);
    EXPECT_CODE(outcome_unknown, mail.enqueue("perhaps"));
    EXPECT_EQ(bad.failed(), 1);
  }
  {
    tableq::transaction tx = db().begin();
    mail.in(tx).enqueue("perhaps");
    const bad_disk bad(call::flush, EIO, "-wal", 1);
    EXPECT_CODE(outcome_unknown, tx.commit());
    EXPECT_EQ(bad.failed(), 1);
  }
  mail.enqueue("certainly");
  std::optional<tableq::message> last = mail.dequeue();
  while (auto next = mail.dequeue()) last = std::move(next);
  EXPECT_EQ(last->payload, "certainly");
  EXPECT_EQ(here().damage(), std::nullopt);
}

/// Runs as a user who may not write to the folder.
int as_a_stranger(const files::path& folder, const std::function<void()>& test) {
  const files::perms before = files::status(folder).permissions();
  files::permissions(folder, files::perms{0555});
  forked child([&] {
    constexpr ::uid_t nobody = 65534;
    if (::geteuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) return 99;
    test();
    return testing::Test::HasFailure() ? 1 : 0;
  });
  const int result = child.wait();
  files::permissions(folder, before);
  return result;
}

TEST_P(files_on_a_bad_disk, in_a_folder_without_writes_are_read_only_by_name) {
  const scratch_directory directory;
  const files::path& folder = directory.path();
  const std::string url = "sqlite://" + (folder / "queues.db").string();
  const std::string other = url + ".new";
  tableq::database::open(url).fifo("mail").enqueue("mail");
  files::permissions(folder / "queues.db", files::perms{0644});
  const int result = as_a_stranger(folder, [&] {
    for (const std::string& each : {url, other}) {
      const tableq::error told =
          thrown_by([&] { static_cast<void>(tableq::database::open(each).fifo("mail").stats()); });
      EXPECT_EQ(to_string(told.code()), "read_only") << told.what();
      EXPECT_TRUE(contains(told.what(), "the folder " + folder.string())) << told.what();
    }
  });
  EXPECT_EQ(result, 0);
}

class files_without_a_temporary_folder : public files_on_a_bad_disk {};
INSTANTIATE_TEST_SUITE_P(, files_without_a_temporary_folder, testing::ValuesIn(files_by_each_way()),
                         backend_name);

constexpr std::size_t many = 20;
const std::string large(300'000, 'x');

void fill(tableq::claim_queue& jobs) {
  for (std::size_t i = 0; i < many; ++i) jobs.enqueue(large);
}

TEST_P(files_without_a_temporary_folder, are_read_in_large_batches) {
  const no_temporary_folder here_or_there;
  auto jobs = db().claim("jobs");
  auto mail = db().fifo("mail");
  fill(jobs);
  for (std::size_t i = 0; i < many; ++i) mail.enqueue(large);
  const auto taken = jobs.take(many);
  EXPECT_EQ(taken.size(), many);
  std::vector<tableq::receipt> receipts;
  for (const auto& each : taken) receipts.push_back(each.receipt);
  EXPECT_EQ(jobs.fail(receipts.at(0), "no"), tableq::settle_result::applied);
  receipts.erase(receipts.begin());
  for (const auto each : jobs.complete_batch(receipts))
    EXPECT_EQ(each, tableq::settle_result::applied);
  EXPECT_EQ(mail.dequeue_batch(many).size(), many);
  EXPECT_EQ(mail.purge(), 0U);
  EXPECT_TRUE(db().drop("mail"));
  EXPECT_TRUE(db().drop("jobs"));
}

TEST_P(files_on_a_bad_disk, name_the_setting_of_the_temporary_folder_to_an_enlisted_session) {
  auto mail = db().fifo("mail");
  for (std::size_t i = 0; i < many; ++i) mail.enqueue(large);
  const auto mine = here().session();
  int before = -1;
  *mine << "PRAGMA temp_store", soci::into(before);
  *mine << "BEGIN IMMEDIATE";
  {
    const no_temporary_folder here_or_there;
    const tableq::error told =
        thrown_by([&] { (void)mail.in(tableq::enlist(db(), *mine)).dequeue_batch(many); });
    EXPECT_EQ(to_string(told.code()), "storage_failed") << told.what();
    EXPECT_TRUE(contains(told.what(), "SQLITE_TMPDIR")) << told.what();
  }
  int after = -1;
  *mine << "PRAGMA temp_store", soci::into(after);
  EXPECT_EQ(after, before) << "the session is the application's";
  EXPECT_EQ(mail.dequeue_batch(many).size(), many);
}

TEST_P(files_on_a_bad_disk, are_written_by_nobody_else_while_tableq_copies_the_log) {
  auto mail = db().fifo("mail");
  sqlite_client other(file().string(), 0);
  other.run("SELECT count(*) FROM mail");
  std::size_t writes = 0;
  std::size_t let_in = 0;
  const write_watch watch(file().filename().string(), [&] {
    ++writes;
    try {
      other.run("BEGIN IMMEDIATE");
      ++let_in;
      other.run("ROLLBACK");
    } catch (const std::exception&) {  // the lock is held
    }
  });
  for (int i = 0; i < 100; ++i) mail.enqueue(large);
  EXPECT_GT(writes, 1000U) << "the log was copied";
  EXPECT_EQ(let_in, 0U);
}

/// Keeps what an open database warns of.
struct kept_warnings final : tableq::observer {
  void warned(std::string_view backend, std::string_view what) override {
    all.push_back(std::string(backend) + ": " + std::string(what));
  }
  std::vector<std::string> all;
};

TEST_P(files_on_a_bad_disk, that_other_machines_share_are_told_at_open_and_by_inspect) {
  const auto told = std::make_shared<kept_warnings>();
  static_cast<void>(open({.observer = told}));
  EXPECT_TRUE(told->all.empty());
  const told_file_system nine_p(0x01021997);
  auto warned = open({.observer = told});
  ASSERT_EQ(told->all.size(), 1U);
  EXPECT_TRUE(contains(told->all.at(0), "9p")) << told->all.at(0);
  const auto findings = warned.inspect();
  const auto found = std::find_if(findings.begin(), findings.end(), [](const tableq::finding& one) {
    return contains(one.what, "9p");
  });
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->severity, tableq::finding::level::warning);
  EXPECT_FALSE(found->fix.empty());
}

TEST_P(files_on_a_bad_disk, with_a_second_name_are_told_at_open_and_by_inspect) {
  const auto told = std::make_shared<kept_warnings>();
  const files::path second = file().concat(".second");
  files::create_hard_link(file(), second);
  auto warned = open({.observer = told});
  ASSERT_EQ(told->all.size(), 1U);
  EXPECT_TRUE(contains(told->all.at(0), "hard link")) << told->all.at(0);
  const auto findings = warned.inspect();
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const tableq::finding& one) {
    return contains(one.what, "hard link") && !one.fix.empty();
  }));
  files::remove(second);
  static_cast<void>(open({.observer = told}));
  EXPECT_EQ(told->all.size(), 1U);
}

class files_in_use : public files_on_a_bad_disk {};
INSTANTIATE_TEST_SUITE_P(, files_in_use, testing::Values(&sqlite_file_backend()), backend_name);

TEST_P(files_in_use, copied_by_vacuum_while_they_are_used_have_every_message) {
  auto mail = db().fifo("mail");
  mail.enqueue("mail");
  const std::string copy = (file().parent_path() / "copy.db").string();
  here().sql("VACUUM INTO '" + copy + "'");
  mail.enqueue("later");
  EXPECT_EQ(tableq::database::open("sqlite://" + copy).fifo("mail").stats().waiting, 1U);
}

}  // namespace
