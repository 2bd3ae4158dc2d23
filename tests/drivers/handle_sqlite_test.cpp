#include <soci/soci.h>
#include <sqlite3.h>

#include <gtest/gtest.h>

#include <tableq/sqlite.hpp>

#include "support/backends.hpp"
#include "support/fixture.hpp"
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

}  // namespace
