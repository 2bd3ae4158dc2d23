#include <fcntl.h>
#include <gtest/gtest.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>

#include <tableq/tableq.hpp>

#include "support/expect.hpp"
#include "support/scratch_directory.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

TEST(addresses_in_memory, with_a_slash_before_are_refused) {
  for (const char* url : {"sqlite:///:memory:", "sqlite://some/:memory:", "sqlite:///:memory:?x=1",
                          "sqlite3://dbname=/:memory:"}) {
    const tableq::error refused =
        thrown_by([&] { static_cast<void>(tableq::database::open(url)); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    EXPECT_TRUE(contains(refused.what(), "sqlite://:memory:")) << refused.what();
  }
}

TEST(address_of_a_file, that_another_connection_locks_names_cause_and_remedy) {
  const scratch_directory folder;
  const std::string file = folder.path().string() + "/jobs.db";
  soci::session other(soci::sqlite3, "dbname=" + file);
  other << "BEGIN EXCLUSIVE";
  const tableq::error refused = thrown_by([&] {
    static_cast<void>(tableq::database::open("sqlite://" + file + "?busy_timeout=1ms",
                                             {.retry_for = std::chrono::milliseconds(0)}));
  });
  EXPECT_EQ(refused.code(), tableq::errc::busy) << refused.what();
  EXPECT_TRUE(contains(refused.what(), "database is locked by another connection"))
      << refused.what();
  EXPECT_TRUE(contains(refused.what(), "busy_timeout")) << refused.what();
}

TEST(address_of_a_file, that_is_no_database_is_told_so) {
  const scratch_directory folder;
  const std::string file = folder.path().string() + "/jobs.txt";
  std::ofstream(file) << std::string(4096, 'x');
  const auto why = [](const std::string& of) {
    return std::string(
        thrown_by([&] { static_cast<void>(tableq::database::open("sqlite://" + of)); }).what());
  };
  EXPECT_TRUE(contains(why(file), "is no SQLite database")) << why(file);
  EXPECT_TRUE(contains(why(folder.path().string()), "is a directory"))
      << why(folder.path().string());
}

#if defined(TABLEQ_LINUX)
TEST(other_code_on_the_file, is_refused_at_open_and_at_each_new_session) {
  const scratch_directory folder;
  const std::string file = folder.path().string() + "/jobs.db";
  const std::string url = "sqlite://" + file + "?other_sqlite=refuse";
  auto db = tableq::database::open(url);
  auto jobs = db.heap("jobs");
  auto same_copy = tableq::database::open(url);
  same_copy.heap("jobs").enqueue("a");

  const int other = ::open(file.c_str(), O_RDONLY);
  ASSERT_GE(other, 0);
  const auto expect_refused = [&](auto call) {
    const tableq::error refused = thrown_by(call);
    EXPECT_EQ(refused.code(), tableq::errc::unsupported) << refused.what();
    EXPECT_TRUE(contains(refused.what(), file)) << refused.what();
  };
  expect_refused([&] { static_cast<void>(tableq::database::open(url)); });
  auto tx = db.begin();  // by the session that is open
  jobs.in(tx).enqueue("b");
  expect_refused([&] { static_cast<void>(jobs.outside().peek(1)); });
  ::close(other);
  EXPECT_EQ(jobs.outside().peek(2).size(), 1U);
  tx.rollback();
  EXPECT_EQ(tableq::database::open(url).heap("jobs").peek(2).size(), 1U);
}

TEST(other_code_on_the_file, is_refused_also_with_the_descriptor_of_a_session_that_has_ended) {
  const scratch_directory folder;
  const std::string file = folder.path().string() + "/jobs.db";
  const std::string url = "sqlite://" + file + "?other_sqlite=refuse";
  for (int round = 0; round < 2; ++round) {
    tableq::database::open(url).heap("jobs").enqueue("a");
    const int other = ::open(file.c_str(), O_RDONLY);
    ASSERT_GE(other, 0);
    EXPECT_CODE(unsupported, static_cast<void>(tableq::database::open(url)));
    ::close(other);
  }
  const auto stays = tableq::database::open(url);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(tableq::database::open(url).heap("jobs").peek(9).size(), 2U);
  }
}

// SQLite gives back at once what it has no memory for.
TEST(other_code_on_the_file, is_refused_without_a_wait_where_memory_is_short) {
  const scratch_directory folder;
  const std::string url = "sqlite://" + folder.path().string() + "/jobs.db?other_sqlite=refuse";
  const auto stays = tableq::database::open(url);
  const std::int64_t used = sqlite_api::sqlite3_memory_used();
  bool opens = false;
  for (std::int64_t more = 0; !opens && !HasFailure(); more += 32) {
    sqlite_api::sqlite3_hard_heap_limit64(used + more);
    try {
      static_cast<void>(tableq::database::open(url, {.retry_for = std::chrono::milliseconds(0)}));
      opens = true;
    } catch (const tableq::error& failure) {
      EXPECT_TRUE(contains(failure.what(), "out of memory")) << failure.what();
    }
    sqlite_api::sqlite3_hard_heap_limit64(0);
  }
  EXPECT_TRUE(opens);
}

#else
TEST(other_code_on_the_file, cannot_be_told_by_this_system) {
  const scratch_directory folder;
  const std::string url = "sqlite://" + folder.path().string() + "/jobs.db?other_sqlite=refuse";
  EXPECT_CODE(unsupported, static_cast<void>(tableq::database::open(url)));
}
#endif

TEST(other_code_on_the_file, is_allowed_without_the_setting) {
  const scratch_directory folder;
  const std::string file = folder.path().string() + "/jobs.db";
  tableq::database::open("sqlite://" + file).heap("jobs").enqueue("a");
  const int other = ::open(file.c_str(), O_RDONLY);
  EXPECT_EQ(tableq::database::open("sqlite://" + file).heap("jobs").peek(2).size(), 1U);
  ::close(other);
  EXPECT_CODE(invalid_argument,
              static_cast<void>(tableq::database::open("sqlite://" + file + "?other_sqlite=no")));
}

}  // namespace
