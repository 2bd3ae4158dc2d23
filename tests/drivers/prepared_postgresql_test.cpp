#include "support/backends.hpp"
#include "transport_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using tableq::drivers::boundary;

/// A statement that the server keeps, through libpq and through ODBC.
class prepared_on_postgresql : public on_each_transport {
 protected:
  [[nodiscard]] std::int64_t kept() const {
    return at().integer("SELECT count(*) FROM pg_prepared_statements");
  }
};
INSTANTIATE_TEST_SUITE_P(, prepared_on_postgresql,
                         testing::Values(&postgresql_backend(), &postgresql_odbc_backend()),
                         backend_name);

TEST_P(prepared_on_postgresql, is_kept_by_the_server) {
  const auto ready = at().prepare("SELECT 7 AS v", {}, a_number);
  const std::int64_t before = kept();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run(*ready), 7);
  EXPECT_EQ(at().integer("SELECT count(*) FROM pg_prepared_statements"
                         " WHERE generic_plans + custom_plans > 15"),
            1);
  EXPECT_LE(kept(), before + 1);
}

TEST_P(prepared_on_postgresql, is_prepared_anew_when_the_session_forgot) {
  const auto ready = at().prepare("SELECT 7 AS v", {}, a_number);
  EXPECT_EQ(run(*ready), 7);
  executor().script("DISCARD ALL", boundary::none);
  EXPECT_EQ(run(*ready), 7);
  executor().script("DEALLOCATE ALL", boundary::none);
  EXPECT_EQ(run(*ready), 7);
}

TEST_P(prepared_on_postgresql, is_prepared_anew_after_a_transaction_that_found_it_gone) {
  const auto ready = at().prepare("SELECT 7 AS v", {}, a_number);
  EXPECT_EQ(run(*ready), 7);
  executor().script("DEALLOCATE ALL", boundary::none);
  executor().script("BEGIN", boundary::begin);
  const auto failure = native_failure_of([&] { run(*ready); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->sqlstate, "26000");
  executor().script("ROLLBACK", boundary::rollback);
  executor().script("BEGIN", boundary::begin);
  EXPECT_EQ(run(*ready), 7);
  executor().script("COMMIT", boundary::commit);
}

TEST_P(prepared_on_postgresql, is_prepared_anew_when_a_table_was_altered) {
  executor().script("CREATE TABLE changing (v integer); INSERT INTO changing VALUES (7)",
                    boundary::none);
  const auto ready = at().prepare("SELECT v FROM changing", {}, a_number);
  EXPECT_EQ(run(*ready), 7);
  executor().script("ALTER TABLE changing ALTER COLUMN v TYPE bigint", boundary::none);
  EXPECT_EQ(run(*ready), 7);
}

TEST_P(prepared_on_postgresql, stays_out_of_a_session_of_somebody_else) {
  const auto once = at().prepare("SELECT 7 AS v", {}, a_number, false);
  EXPECT_EQ(run(*once), 7);
  EXPECT_EQ(at().integer("SELECT count(*) FROM pg_prepared_statements"), 0);
}

}  // namespace
