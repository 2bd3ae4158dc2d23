#include "drivers/transport/sqlite_turn.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "support/scratch_directory.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::drivers::sqlite_turn;

/// Another session that may be the head of the line.
class somebody {
 public:
  explicit somebody(const std::string& log) : descriptor_(::open(log.c_str(), O_RDONLY)) {}
  somebody(const somebody&) = delete;
  somebody& operator=(const somebody&) = delete;
  ~somebody() { ::close(descriptor_); }

  [[nodiscard]] bool becomes_head() const { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }
  void leaves() const { ::flock(descriptor_, LOCK_UN); }

 private:
  int descriptor_;
};

class turn : public testing::Test {
 protected:
  void SetUp() override {
    log_ = (folder_ / "queues.db-wal").string();
    std::ofstream(log_) << "x";
  }
  /// Refused repeatedly, while it waits. @return how often.
  static int refused(sqlite_turn& who) {
    int tries = 0;
    while (who.wait(tries)) ++tries;
    return tries;
  }

  tableq_test::scratch_directory folder_;
  std::string log_;
};

TEST_F(turn, ends_no_sooner_than_its_time_out) {
  sqlite_turn mine(log_, 100ms);
  mine.lock();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_GT(refused(mine), 1);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 95ms);
  mine.unlock();
}

TEST_F(turn, ends_though_the_head_of_the_line_never_does) {
  const somebody stuck(log_);
  ASSERT_TRUE(stuck.becomes_head());
  sqlite_turn mine(log_, 300ms);
  mine.lock();
  EXPECT_GT(refused(mine), 1);
  mine.unlock();
}

TEST_F(turn, does_not_wait_when_that_is_not_wanted) {
  const somebody stuck(log_);
  ASSERT_TRUE(stuck.becomes_head());
  sqlite_turn mine(log_, 0ms);
  mine.lock();
  EXPECT_EQ(refused(mine), 0);
  mine.unlock();
}

TEST_F(turn, makes_who_waits_the_head_of_the_line_until_it_ends) {
  const somebody other(log_);
  sqlite_turn mine(log_, 1min);
  mine.lock();
  EXPECT_TRUE(mine.wait(0));
  EXPECT_TRUE(mine.wait(1));
  EXPECT_FALSE(other.becomes_head());
  EXPECT_TRUE(mine.wait(2));
  mine.unlock();
  EXPECT_TRUE(other.becomes_head());
}

TEST_F(turn, lets_go_of_the_line_with_its_session) {
  const somebody other(log_);
  {
    sqlite_turn mine(log_, 1min);
    mine.lock();
    EXPECT_TRUE(mine.wait(0));
    EXPECT_TRUE(mine.wait(1));
  }
  EXPECT_TRUE(other.becomes_head());
}

TEST_F(turn, comes_when_the_head_leaves) {
  const somebody first(log_);
  ASSERT_TRUE(first.becomes_head());
  sqlite_turn mine(log_, 1min);
  std::thread later([&] {
    mine.lock();
    EXPECT_TRUE(mine.wait(0));
    EXPECT_TRUE(mine.wait(1));
  });
  first.leaves();
  later.join();
  mine.unlock();
  EXPECT_TRUE(first.becomes_head());
}

TEST_F(turn, waits_without_a_log_too) {
  for (const std::string& log : {std::string(), (folder_ / "none").string()}) {
    sqlite_turn mine(log, 50ms);
    mine.lock();
    EXPECT_GT(refused(mine), 1);
    mine.unlock();
  }
}

}  // namespace
