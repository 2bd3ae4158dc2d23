#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// Counts the commits in SQLite's log: frames whose header says how long the database is after
/// them (https://www.sqlite.org/fileformat2.html#walformat).
std::size_t commits_in(const std::string& log) {
  constexpr std::size_t header = 32;
  constexpr std::size_t frame_header = 24;
  std::ifstream file(log, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  const auto number = [&all](std::size_t at) {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      out = out << 8U | static_cast<unsigned char>(all.at(at + i));
    }
    return out;
  };
  if (all.size() < header) return 0;
  const std::size_t frame = frame_header + number(8);
  std::size_t count = 0;
  for (std::size_t at = header; at + frame <= all.size(); at += frame) {
    if (number(at + 4) != 0) ++count;
  }
  return count;
}

class shared_commits : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (!sqlite() && GetParam()->name() != "postgresql") GTEST_SKIP() << "does not tell of commits";
  }
  static constexpr std::size_t threads = 16;
  static constexpr std::size_t each_adds = 10;

  /// Many threads add to a new queue.
  /// @return the number of transactions that stored the messages.
  std::size_t commits_of_many(bool combining) {
    auto busy = open({.shortcuts = {.combining = combining}});
    auto mail = busy.heap("mail");
    const std::size_t before = logged();
    {
      std::vector<std::jthread> adding;
      for (std::size_t i = 0; i < threads; ++i) {
        adding.emplace_back([own = mail]() mutable {
          for (std::size_t k = 0; k < each_adds; ++k) own.enqueue("x");
        });
      }
    }
    EXPECT_EQ(mail.stats().waiting, threads * each_adds);
    const std::size_t out =
        sqlite() ? logged() - before
                 : std::stoul(here()
                                  .sql("SELECT count(DISTINCT CAST(xmin AS text)) FROM mail")
                                  .at(0)
                                  .at(0)
                                  .value());
    EXPECT_TRUE(busy.drop("mail"));
    return out;
  }

 private:
  [[nodiscard]] bool sqlite() { return GetParam()->name() == "sqlite"; }
  [[nodiscard]] std::size_t logged() {
    return sqlite() ? commits_in(here().url().substr(std::string("sqlite://").size()) + "-wal") : 0;
  }
};
TABLEQ_ON_BACKENDS(shared_commits, distinct_backends);

TEST_P(shared_commits, are_those_of_calls_that_meet_unless_combining_is_off) {
  constexpr std::size_t messages = threads * each_adds;
  EXPECT_EQ(commits_of_many(false), messages);
  // The system's scheduling decides whether calls meet, so the test repeats until they do.
  std::size_t fewest = messages;
  for (int i = 0; i < 50 && fewest == messages; ++i) fewest = commits_of_many(true);
  EXPECT_LT(fewest, messages);
}

}  // namespace
