#include <soci/soci.h>
#include <sqlite3.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <tableq/sqlite.hpp>

#include "core/input/identifier.hpp"
#include "core/seam/driver.hpp"
#include "drivers/session.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"
#include "support/scratch_directory.hpp"
#include "support/soci_sessions.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class enlisted_file : public on_each_backend {};
INSTANTIATE_TEST_SUITE_P(, enlisted_file, testing::Values(&sqlite_file_backend()), backend_name);

// SQLite rolls the transaction back when a change in it is interrupted.
TEST_P(enlisted_file, whose_transaction_ends_with_an_error_is_not_told_to_repeat_the_statement) {
  auto mail = db().fifo("mail");
  const auto session = here().session();
  auto* const own = static_cast<sqlite3*>(sqlite_handle(*session));
  tableq::enlistment joined = tableq::enlist(db(), own, tableq::autocommit);
  ASSERT_EQ(sqlite3_exec(own, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  mail.in(joined).enqueue("undone");
  sqlite3_progress_handler(
      own, 1, [](void*) { return 1; }, nullptr);
  const tableq::error interrupted = thrown_by([&] { mail.in(joined).enqueue("not stored"); });
  sqlite3_progress_handler(own, 0, nullptr, nullptr);
  EXPECT_EQ(interrupted.code(), tableq::errc::cancelled) << interrupted.what();
  ASSERT_NE(sqlite3_get_autocommit(own), 0) << "the transaction goes on";
  EXPECT_EQ(interrupted.advice(), tableq::advice::transaction) << interrupted.what();
  EXPECT_EQ(mail.stats().waiting, 0U);
}

// A transaction that has read cannot write after the change of another one.
TEST_P(enlisted_file, adds_to_a_group_after_the_writer_that_it_has_waited_for) {
  auto jobs = db().claim("jobs", {.groups = tableq::group_options{}});
  const auto others = here().session();
  const auto session = here().session();
  auto* const writer = static_cast<sqlite3*>(sqlite_handle(*others));
  auto* const own = static_cast<sqlite3*>(sqlite_handle(*session));
  sqlite3_busy_handler(
      own,
      [](void* other, int /*attempt*/) {
        const int ended =
            sqlite3_exec(static_cast<sqlite3*>(other), "COMMIT", nullptr, nullptr, nullptr);
        return ended == SQLITE_OK ? 1 : 0;
      },
      writer);
  for (const char* change :
       {"BEGIN IMMEDIATE; INSERT INTO jobs (payload, group_key, state) VALUES (x'61', 'a', 0)",
        "BEGIN IMMEDIATE; INSERT INTO jobs (payload) VALUES (x'62')"}) {
    ASSERT_EQ(sqlite3_exec(writer, change, nullptr, nullptr, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(own, "BEGIN", nullptr, nullptr, nullptr), SQLITE_OK);
    tableq::enlistment joined = tableq::enlist(db(), own);
    jobs.in(joined).enqueue("behind", {.group = "a"});
    ASSERT_EQ(sqlite3_exec(own, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  EXPECT_EQ(payloads_of(jobs.take(5)), (std::vector<std::string>{"a", "b"}));
}

// Another process may end, and delete its log, before this session reads for the first time.
TEST(log_of_a_new_file, is_not_missed_by_a_session_that_has_not_opened_it) {
  const scratch_directory scratch;
  const std::string file = (scratch / "new.db").string();
  const auto driver = tableq::core::make_driver("sqlite://" + file);
  const auto session = driver->connect();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "CREATE TABLE t (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  ASSERT_TRUE(std::filesystem::exists(file + "-wal"));
  static_cast<void>(static_cast<tableq::drivers::dialect_session&>(*session).place());
  ASSERT_EQ(sqlite3_close(other), SQLITE_OK);
  ASSERT_FALSE(std::filesystem::exists(file + "-wal"));
  const auto found = session->execute(contract_of(tableq::core::statement::table_exists),
                                      tableq::core::names_for({}, "t"), {}, {});
  EXPECT_EQ(found.integer(0, 0), 1);
}

class row_in_file : public on_each_backend {
 protected:
  /// Copies the log into the file. @return the pages that were in the log.
  int checkpoint() {
    const auto session = here().session();
    auto* const own = static_cast<sqlite3*>(sqlite_handle(*session));
    // A session knows of the log only after its first read.
    EXPECT_EQ(sqlite3_exec(own, "SELECT 1 FROM sqlite_master", nullptr, nullptr, nullptr),
              SQLITE_OK);
    int pages = -1;
    EXPECT_EQ(sqlite3_wal_checkpoint_v2(own, nullptr, SQLITE_CHECKPOINT_RESTART, &pages, nullptr),
              SQLITE_OK);
    EXPECT_GE(pages, 0);
    return pages;
  }
};
INSTANTIATE_TEST_SUITE_P(, row_in_file, testing::Values(&sqlite_file_backend()), backend_name);

// SQLite writes only the changed pages of a row that keeps its length.
TEST_P(row_in_file, is_not_written_again_by_a_take_of_its_message) {
  auto jobs = db().claim("jobs");
  const std::string payload(500'000, 'x');  // Over 120 pages.
  jobs.enqueue(payload);
  jobs.enqueue(payload, {.headers = {{"a", "b"}}, .key = "k"});
  checkpoint();
  const auto taken = jobs.take(2);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken.back().payload, payload);
  EXPECT_LT(checkpoint(), 20);
}

}  // namespace
