#include "drivers/transport/file_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/scratch_directory.hpp"

namespace {

using namespace std::chrono_literals;
namespace files = std::filesystem;

class file_watch : public testing::Test {
 protected:
  void SetUp() override { write("queues.db", "x"); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::app) << text;
  }
  [[nodiscard]] std::string file() const { return (folder_ / "queues.db").string(); }

  [[nodiscard]] static std::unique_ptr<tableq::core::listener> watched(const std::string& file) {
    return tableq::drivers::watch_file(file);
  }

  tableq_test::scratch_directory folder_;
};

TEST_F(file_watch, tells_of_the_log_whether_it_was_there_before_or_not) {
  const auto watch = watched(file());
  write("queues.db-wal", "made");
  EXPECT_TRUE(watch->wait(1min).any_queue);
  while (watch->wait(20ms).any_queue) {
  }
  write("queues.db-wal", "more");
  EXPECT_TRUE(watch->wait(1min).any_queue);
  files::remove(folder_ / "queues.db-wal");
  while (watch->wait(20ms).any_queue) {
  }
  write("queues.db-wal", "made again");
  EXPECT_TRUE(watch->wait(1min).any_queue);
  write("queues.db-wal", "and more");
  EXPECT_TRUE(watch->wait(1min).any_queue);
}

TEST_F(file_watch, tells_of_the_file_itself) {
  const auto watch = watched(file());
  write("queues.db", "more");
  EXPECT_TRUE(watch->wait(1min).any_queue);
}

TEST_F(file_watch, tells_when_the_file_goes_or_its_folder) {
  {
    const auto watch = watched(file());
    files::rename(folder_ / "queues.db", folder_ / "moved.db");
    EXPECT_TRUE(watch->wait(1min).any_queue);
  }
  write("queues.db", "x");
  {
    const auto watch = watched(file());
    files::remove(folder_ / "queues.db");
    EXPECT_TRUE(watch->wait(1min).any_queue);
  }
  files::create_directory(folder_ / "inner");
  write("inner/queues.db", "x");
  const auto watch = watched((folder_ / "inner/queues.db").string());
  files::rename(folder_ / "inner", folder_ / "renamed");
  EXPECT_TRUE(watch->wait(1min).any_queue);
}

TEST_F(file_watch, does_not_mind_other_files) {
  const auto watch = watched(file());
  write("letters.db", "x");
  write("letters.db-wal", "x");
  write("wueues.db-wal", "x");
  EXPECT_FALSE(watch->wait(30ms).any_queue);
}

TEST_F(file_watch, ends_when_it_is_interrupted) {
  for (const std::string& of : {file(), std::string(), (folder_ / "missing" / "x").string()}) {
    const auto watch = watched(of);
    const std::jthread other([&] { watch->interrupt(); });
    EXPECT_FALSE(watch->wait(24h).any_queue);
  }
}

TEST_F(file_watch, of_a_file_that_is_written_all_the_time_tells_now_and_then) {
  const auto watch = watched(file());
  const std::jthread writer([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) write("queues.db-wal", "x");
  });
  const auto begin = std::chrono::steady_clock::now();
  int told = 0;
  while (std::chrono::steady_clock::now() < begin + 500ms)
    told += watch->wait(1s).any_queue ? 1 : 0;
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(told, 2);
  // The shortest pause, because the writer may be delayed sometimes.
  EXPECT_LE(told, took / 1ms + 2);
}

TEST_F(file_watch, without_the_system_looks_at_the_files) {
  // The system cannot watch a missing folder.
  const files::path late = folder_ / "late";
  const auto watch = watched((late / "queues.db").string());
  files::create_directory(late);
  write("late/queues.db", "x");
  EXPECT_TRUE(watch->wait(1min).any_queue);
  write("late/queues.db-wal", "x");
  EXPECT_TRUE(watch->wait(1min).any_queue);
  EXPECT_FALSE(watch->wait(20ms).any_queue);
}

}  // namespace
