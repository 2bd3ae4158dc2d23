#include "drivers/transport/checkpoint_pace.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include <tableq/tableq.hpp>

#include "drivers/transport/sqlite_checkpoint.hpp"
#include "support/scratch_directory.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::drivers::checkpoint_pace;
namespace files = std::filesystem;

constexpr checkpoint_pace::clock::time_point start{};
constexpr auto endless = [] { return std::numeric_limits<std::uint64_t>::max(); };

TEST(checkpoint, is_due_from_a_thousand_pages_on) {
  checkpoint_pace pace;
  EXPECT_FALSE(pace.due(999, start, endless));
  EXPECT_TRUE(pace.due(1000, start, endless));
}

TEST(checkpoint, comes_while_the_disk_has_room_for_the_pages_and_asks_it_now_and_then) {
  checkpoint_pace pace;
  int asked = 0;
  const auto room = [&asked] {
    ++asked;
    return std::uint64_t{4096} * 500;
  };
  int pages = 0;
  while (!pace.due(++pages, start, room)) {
  }
  EXPECT_EQ(pages, 512);
  EXPECT_EQ(asked, 8);
}

TEST(checkpoint, is_tried_again_at_once_while_something_is_copied) {
  checkpoint_pace pace;
  pace.tried(4500, 4000, start, start + 10ms);  // a reader needs the rest
  EXPECT_TRUE(pace.due(4500, start + 10ms, endless));
  pace.tried(4600, 4600, start + 10ms, start + 20ms);  // all of it; the next commit starts again
  EXPECT_TRUE(pace.due(4700, start + 20ms, endless));
}

TEST(checkpoint, in_vain_waits_fifty_times_as_long_as_it_took) {
  checkpoint_pace pace;
  pace.tried(5000, 0, start, start + 10ms);
  EXPECT_FALSE(pace.due(9000, start + 509ms, endless));
  EXPECT_TRUE(pace.due(9000, start + 510ms, endless));
  pace.tried(9000, 4000, start + 510ms, start + 530ms);
  EXPECT_TRUE(pace.due(9000, start + 530ms, endless));
}

TEST(checkpoint, is_in_vain_again_after_somebody_else_was_at_it) {
  checkpoint_pace pace;
  pace.tried(5000, 1000, start, start);
  pace.tried(-1, -1, start, start + 1ms);
  EXPECT_TRUE(pace.due(5000, start + 1ms, endless));
  pace.tried(6000, 1000, start + 1ms, start + 11ms);
  EXPECT_FALSE(pace.due(6000, start + 510ms, endless));
}

/// A file with a queue, and another program that reads in it.
class kept_log : public testing::Test {
 protected:
  void SetUp() override {
    sqlite3* opened = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &opened), SQLITE_OK);
    reader_.reset(opened);
  }
  [[nodiscard]] std::string file() const { return (folder_ / "queues.db").string(); }
  [[nodiscard]] std::uintmax_t size() const { return files::file_size(folder_ / "queues.db"); }
  [[nodiscard]] std::uintmax_t log_size() const {
    return files::file_size(folder_ / "queues.db-wal");
  }
  void read(const char* sql) {
    EXPECT_EQ(sqlite3_exec(reader_.get(), sql, nullptr, nullptr, nullptr), SQLITE_OK);
  }

 private:
  struct close {
    void operator()(sqlite3* what) const noexcept { sqlite3_close(what); }
  };
  tableq_test::scratch_directory folder_;
  std::unique_ptr<sqlite3, close> reader_;
};

TEST(checkpoint, of_an_attached_file_holds_that_files_write_lock) {
  const tableq_test::scratch_directory folder;
  const std::string main = (folder / "main.db").string();
  const std::string other = (folder / "other.db").string();
  const auto opened = [](const std::string& file) {
    sqlite3* out = nullptr;
    EXPECT_EQ(sqlite3_open(file.c_str(), &out), SQLITE_OK);
    return std::unique_ptr<sqlite3, decltype([](sqlite3* what) { sqlite3_close(what); })>(out);
  };
  const auto run = [](const auto& session, const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(session.get(), sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sql;
  };
  const auto session = opened(main);
  const auto outsider = opened(main);
  for (const std::string name : {"main", "other"}) {
    if (name == "other") run(session, "ATTACH '" + other + "' AS other");
    run(session, "PRAGMA " + name + ".journal_mode=WAL");
    run(session, "CREATE TABLE " + name + ".pages (content BLOB)");
    run(session, "PRAGMA " + name + ".wal_checkpoint(TRUNCATE)");
  }
  checkpoint_pace pace;
  // SOCI's header declares the same type in a namespace of its own.
  sqlite3_wal_hook(
      session.get(),
      [](void* when, sqlite3* handle, const char* schema, int pages) {
        return tableq::drivers::copy_log(when, reinterpret_cast<sqlite_api::sqlite3*>(handle),
                                         schema, pages);
      },
      &pace);
  run(outsider, "BEGIN IMMEDIATE");
  run(session, "INSERT INTO other.pages VALUES (zeroblob(5000000))");
  EXPECT_GT(files::file_size(other), 4'000'000U) << "the outsider locks another file";
}

TEST_F(kept_log, is_copied_after_the_reader_that_kept_it) {
  tableq::database db = tableq::database::open("sqlite://" + file() + "?synchronous=normal");
  auto letters = db.fifo("letters");
  read("PRAGMA wal_checkpoint(TRUNCATE)");
  read("BEGIN");
  read("SELECT * FROM letters");  // the log is empty: all later pages are kept
  const std::uintmax_t before = size();
  const std::string page(4000, 'x');
  for (int i = 0; i < 1500; ++i) letters.enqueue(page);
  EXPECT_EQ(size(), before);
  read("COMMIT");
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (size() == before && std::chrono::steady_clock::now() < until) letters.enqueue(page);
  EXPECT_GT(size(), before);
}

TEST_F(kept_log, gives_its_room_back_after_the_reader_that_kept_it) {
  tableq::database db = tableq::database::open("sqlite://" + file() + "?synchronous=normal");
  auto letters = db.fifo("letters");
  read("BEGIN");
  read("SELECT * FROM letters");
  const std::string pages(4'000'000, 'x');
  while (log_size() < 80'000'000U) letters.enqueue(pages);
  read("COMMIT");
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (log_size() > 70'000'000U && std::chrono::steady_clock::now() < until) {
    letters.enqueue("page");
  }
  EXPECT_LT(log_size(), 70'000'000U);
}

}  // namespace
