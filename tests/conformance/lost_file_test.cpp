#include <gtest/gtest.h>
#include <soci/soci.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"
#include "support/latch.hpp"
#include "support/scratch_directory.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
namespace files = std::filesystem;

/// The file of the database is removed while it is in use.
class lost_file : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const std::string query = "SELECT file FROM pragma_database_list WHERE name = 'main'";
    if (!here().takes(query)) GTEST_SKIP() << "this database is no file";
    file_ = here().sql(query).at(0).at(0).value();
    for (int i = 0; i < 3; ++i) {
      open_queue(db(), tableq::kind::fifo, "mail");
      db().fifo("mail").enqueue("mail");
      static_cast<void>(db().claim("jobs").enqueue("jobs"));
    }
  }
  [[nodiscard]] const files::path& file() const { return file_; }
  [[nodiscard]] files::path beside(const char* ending) const { return file_.string() + ending; }
  /// An address of a file, in the way of this place.
  [[nodiscard]] std::string url_of(const files::path& other) {
    std::string out = here().url();
    return out.replace(out.find(file_.string()), file_.string().size(), other.string());
  }
  /// Moves the file with its side files.
  void move_to(const files::path& folder) const {
    for (const char* ending : {"", "-wal", "-shm"}) {
      files::rename(beside(ending), folder / (file_.filename().string() + ending));
    }
    wait_for_a_look();
  }
  /// Moves them back.
  void come_back_from(const files::path& folder) const {
    for (const char* ending : {"", "-wal", "-shm"}) {
      const files::path away = folder / (file_.filename().string() + ending);
      if (files::exists(away)) files::rename(away, beside(ending));
    }
  }
  /// A session checks its files at most once in a millisecond.
  static void wait_for_a_look() {
    const auto until = std::chrono::steady_clock::now() + 1ms;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
  static void expect_lost(const std::function<void()>& call, const files::path& file) {
    const tableq::error failure = thrown_by(call);
    EXPECT_EQ(failure.code(), tableq::errc::not_found) << failure.what();
    EXPECT_EQ(failure.advice(), tableq::advice::never) << failure.what();
    EXPECT_TRUE(contains(failure.what(), file.string() + " was deleted")) << failure.what();
    EXPECT_NE(failure.operation(), "") << failure.what();
  }

  /// A change, and how much it adds to a figure of the database.
  struct change {
    const char* name;
    std::function<void()> run;
    std::function<std::size_t()> figure;
    int adds;
  };
  std::vector<change> changes() {
    auto mail = db().fifo("mail");
    auto jobs = db().claim("jobs");
    const auto held = jobs.take(1).at(0).receipt;
    const auto open = std::make_shared<tableq::transaction>(db().begin());
    mail.in(*open).enqueue("in the transaction");
    static_cast<void>(mail.in(*open).dequeue_batch(3));
    const auto waiting = [=] { return mail.stats().waiting; };
    const auto leased = [=] { return jobs.stats().leased; };
    return {
        {"commit", [=] { open->commit(); }, waiting, -2},
        {"enqueue", [=]() mutable { mail.enqueue("stored"); }, waiting, 1},
        {"enqueue_batch",
         [=]() mutable {
           mail.enqueue_batch(std::array{tableq::new_message{.payload = "a"},
                                         tableq::new_message{.payload = "b"}});
         },
         waiting, 2},
        {"enqueue_async", [=]() mutable { mail.enqueue_async("stored").get(); }, waiting, 1},
        {"dequeue", [=]() mutable { static_cast<void>(mail.dequeue()); }, waiting, -1},
        {"dequeue_batch", [=]() mutable { static_cast<void>(mail.dequeue_batch(2)); }, waiting, -2},
        {"transact",
         [this, mail]() mutable {
           db().transact([&](tableq::transaction& tx) { mail.in(tx).enqueue("stored"); });
         },
         waiting, 1},
        {"enqueue with a key", [=]() mutable { jobs.enqueue("stored", {.key = "k"}); },
         [=] { return jobs.stats().ready; }, 1},
        {"take", [=]() mutable { static_cast<void>(jobs.take(1)); }, leased, 1},
        {"complete", [=]() mutable { static_cast<void>(jobs.complete(held)); }, leased, -1}};
  }

  struct call {
    const char* name;
    std::function<void()> run;
  };
  /// With handles, a session and a transaction that were opened before.
  std::vector<call> calls() {
    auto mail = db().fifo("mail");
    auto jobs = db().claim("jobs");
    const auto held = jobs.take(1).at(0).receipt;
    return {{"enqueue", [=]() mutable { mail.enqueue("lost"); }},
            {"enqueue_batch",
             [=]() mutable {
               mail.enqueue_batch(std::array{tableq::new_message{.payload = "a"},
                                             tableq::new_message{.payload = "b"}});
             }},
            {"enqueue_async", [=]() mutable { mail.enqueue_async("lost").get(); }},
            {"dequeue", [=]() mutable { static_cast<void>(mail.dequeue()); }},
            {"dequeue, waiting", [=]() mutable { static_cast<void>(mail.dequeue({.wait = 60s})); }},
            {"peek", [=] { static_cast<void>(mail.peek()); }},
            {"stats", [=] { static_cast<void>(mail.stats()); }},
            {"enqueue with a key", [=]() mutable { jobs.enqueue("lost", {.key = "k"}); }},
            {"take", [=]() mutable { static_cast<void>(jobs.take(1)); }},
            {"complete", [=]() mutable { static_cast<void>(jobs.complete(held)); }},
            {"extend", [=]() mutable { static_cast<void>(jobs.extend(held, 1h)); }},
            {"purge", [=]() mutable { mail.purge(); }},
            {"pause", [=]() mutable { mail.pause(); }},
            {"begin", [this] { static_cast<void>(db().begin()); }},
            {"transact",
             [this, mail]() mutable {
               db().transact([&](tableq::transaction& tx) { mail.in(tx).enqueue("lost"); });
             }},
            {"open", [this] { static_cast<void>(db().heap("more")); }},
            {"queues", [this] { static_cast<void>(db().queues()); }}};
  }

 private:
  files::path file_;
};
TABLEQ_ON_BACKENDS(lost_file, shared_backends);

TEST_P(lost_file, is_an_error_for_an_address_that_only_verifies) {
  if (can().second_way) GTEST_SKIP() << "this way makes what is missing";
  const files::path other = file().string() + ".typo";
  const auto open_other = [&] {
    static_cast<void>(
        tableq::database::open(url_of(other), {.schema = tableq::schema_policy::verify_only}));
  };
  const tableq::error failure = thrown_by(open_other);
  EXPECT_EQ(failure.code(), tableq::errc::not_found) << failure.what();
  EXPECT_TRUE(contains(failure.what(), other.string() + " does not exist")) << failure.what();
  EXPECT_FALSE(files::exists(other));
}

TEST_P(lost_file, that_is_deleted_is_told_by_every_call_and_is_not_made_again) {
  const auto all = calls();
  for (const char* ending : {"", "-wal", "-shm"}) files::remove(beside(ending));
  wait_for_a_look();
  for (const call& each : all) {
    SCOPED_TRACE(each.name);
    expect_lost(each.run, file());
  }
  EXPECT_FALSE(files::exists(file()));
}

TEST_P(lost_file, that_is_replaced_is_told_and_a_new_database_works_with_what_is_there) {
  const auto all = calls();
  const scratch_directory elsewhere;
  move_to(elsewhere.path());
  auto fresh = tableq::database::open(here().url());
  fresh.fifo("mail").enqueue("new");
  for (const call& each : all) {
    SCOPED_TRACE(each.name);
    expect_lost(each.run, file());
  }
  EXPECT_EQ(fresh.fifo("mail").stats().waiting, 1U);
  EXPECT_EQ(fresh.fifo("mail").dequeue()->payload, "new");
  EXPECT_EQ(fresh.queues().size(), 1U);
}

TEST_P(lost_file, that_is_moved_loses_nothing) {
  auto mail = db().fifo("mail");
  auto jobs = db().claim("jobs");
  const scratch_directory elsewhere;
  move_to(elsewhere.path());
  expect_lost([&] { static_cast<void>(mail.dequeue()); }, file());
  expect_lost([&] { static_cast<void>(jobs.take(1)); }, file());
  expect_lost([&] { mail.enqueue("refused"); }, file());
  clear_database();
  auto moved = tableq::database::open(url_of(elsewhere / file().filename().string()));
  EXPECT_EQ(moved.fifo("mail").stats().waiting, 3U);
  EXPECT_EQ(moved.claim("jobs").stats().ready, 3U);
}

TEST_P(lost_file, that_comes_back_is_as_it_was) {
  auto mail = db().fifo("mail");
  const scratch_directory elsewhere;
  move_to(elsewhere.path());
  expect_lost([&] { mail.enqueue("refused"); }, file());
  come_back_from(elsewhere.path());
  mail.enqueue("stored");
  EXPECT_EQ(mail.stats().waiting, 4U);
}

TEST_P(lost_file, is_told_by_the_commit) {
  auto mail = db().fifo("mail");
  tableq::transaction tx = db().begin();
  mail.in(tx).enqueue("not committed");
  EXPECT_EQ(mail.in(tx).dequeue()->payload, "mail");
  const scratch_directory elsewhere;
  move_to(elsewhere.path());
  expect_lost([&] { tx.commit(); }, file());
  EXPECT_FALSE(tx.active());
  clear_database();
  auto moved = tableq::database::open(url_of(elsewhere / file().filename().string()));
  EXPECT_EQ(moved.fifo("mail").stats().waiting, 3U);
}

// A change that was committed must not look like one that was refused.
TEST_P(lost_file, that_is_moved_in_a_commit_leaves_the_outcome_unknown) {
  for (const change& each : changes()) {
    SCOPED_TRACE(each.name);
    const scratch_directory elsewhere;
    const std::size_t before = each.figure();
    ASSERT_TRUE(here().in_next_commit([&] {
      move_to(elsewhere.path());
      wait_for_a_look();
    }));
    const tableq::error failure = thrown_by(each.run);
    EXPECT_EQ(failure.code(), tableq::errc::outcome_unknown) << failure.what();
    EXPECT_EQ(failure.advice(), tableq::advice::never) << failure.what();
    EXPECT_TRUE(contains(failure.what(), file().string() + " was deleted, moved"))
        << failure.what();
    EXPECT_TRUE(contains(failure.what(), "while the change was written")) << failure.what();
    come_back_from(elsewhere.path());
    EXPECT_EQ(each.figure(), before + static_cast<std::size_t>(each.adds));
  }
}

TEST_P(lost_file, is_told_in_the_callers_session) {
  auto mail = db().fifo("mail");
  const auto session = here().session();
  {
    tableq::enlistment joined = tableq::enlist(db(), *session, tableq::autocommit);
    files::remove(file());
    wait_for_a_look();
    expect_lost([&] { mail.in(joined).enqueue("lost"); }, file());
  }
  if (can().second_way) return;  // An earlier loss looks like the present state.
  auto fresh = tableq::database::open(here().url());
  auto other = fresh.fifo("mail");
  expect_lost(
      [&] {
        tableq::enlistment joined = tableq::enlist(fresh, *session, tableq::autocommit);
        other.in(joined).enqueue("lost");
      },
      file());
}

/// Counts down when a read has found nothing.
class first_looks : public tableq::observer {
 public:
  void after(const tableq::observed_operation& operation,
             const tableq::operation_result& /*result*/) override {
    if (operation.name == "fifo.dequeue" && left_.fetch_sub(1) > 0) ended.count_down();
  }

  latch ended{2};

 private:
  std::atomic<int> left_{2};
};

TEST_P(lost_file, wakes_and_ends_waiting_reads) {
  const auto looks = std::make_shared<first_looks>();
  auto own = open({.observer = looks});
  auto empty = own.fifo("empty");
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      expect_lost([&] { static_cast<void>(empty.dequeue({.wait = for_ever})); }, file());
    });
  }
  // The file goes while they sleep: a read that is under way has an unknown outcome.
  looks->ended.wait();
  files::remove(file());
}

TEST_P(lost_file, may_be_the_log) {
  if (can().second_way) GTEST_SKIP() << "this way tells of no log";
  const auto all = calls();
  files::rename(beside("-wal"), beside("-away"));
  wait_for_a_look();
  for (const call& each : all) {
    SCOPED_TRACE(each.name);
    expect_lost(each.run, beside("-wal"));
  }
  EXPECT_FALSE(files::exists(beside("-wal")));
  files::rename(beside("-away"), beside("-wal"));
  clear_database();
  EXPECT_GE(db().fifo("mail").stats().waiting, 3U);
}

TEST_P(lost_file, is_not_one_to_which_a_link_led_once) {
  const scratch_directory elsewhere;
  const files::path link = elsewhere / "link.db";
  files::create_symlink(file(), link);
  auto first = tableq::database::open(url_of(link));
  auto mail = first.fifo("mail");
  EXPECT_EQ(mail.dequeue()->payload, "mail");
  files::remove(link);
  files::create_symlink(elsewhere / "other.db", link);
  wait_for_a_look();
  auto second = tableq::database::open(url_of(link));
  second.fifo("mail").enqueue("other");
  EXPECT_EQ(second.fifo("mail").stats().waiting, 1U);
  if (can().second_way) return expect_lost([&] { mail.enqueue("first"); }, link);
  tableq::transaction tx = first.begin();
  mail.in(tx).enqueue("first");
  EXPECT_EQ(mail.stats().waiting, 2U) << "in a session that is opened now";
  tx.commit();
  EXPECT_EQ(db().fifo("mail").stats().waiting, 3U);
}

TEST_P(lost_file, is_not_one_whose_relative_name_the_process_has_left) {
  if (can().second_way) GTEST_SKIP() << "this way keeps the name as it was given";
  const files::path here_now = files::current_path();
  const scratch_directory elsewhere;
  for (const files::path& name : {file().filename(), files::path("new.db")}) {
    files::current_path(file().parent_path());
    auto relative = tableq::database::open(url_of(name));
    files::current_path(elsewhere.path());
    auto mail = relative.fifo("mail");
    const std::size_t before = mail.stats().waiting;
    tableq::transaction tx = relative.begin();
    mail.in(tx).enqueue("another");
    EXPECT_EQ(mail.stats().waiting, before) << "in a session that is opened now";
    tx.commit();
    EXPECT_EQ(mail.stats().waiting, before + 1);
  }
  files::current_path(here_now);
  EXPECT_TRUE(files::is_empty(elsewhere.path()));
}

}  // namespace
