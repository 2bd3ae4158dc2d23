#include <soci/soci.h>

#include <tableq/soci.hpp>
#include <tableq/tableq.hpp>

#include "core/input/identifier.hpp"
#include "core/seam/driver.hpp"
#include "drivers/known_texts.hpp"
#include "support/backends.hpp"
#include "support/expect.hpp"
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
  // PostgreSQL counts runs since version 14.
  if (at().integer("SELECT CAST(current_setting('server_version_num') AS bigint)") >= 140000) {
    EXPECT_EQ(at().integer("SELECT count(*) FROM pg_prepared_statements"
                           " WHERE generic_plans + custom_plans > 15"),
              1);
  }
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

TEST_P(prepared_on_postgresql, leaves_the_server_when_nobody_uses_it) {
  executor().script("SELECT 1", boundary::none);
  const std::int64_t before = kept();
  std::vector<std::unique_ptr<tableq::drivers::prepared>> several;
  for (int i = 0; i < 5; ++i) several.push_back(at().prepare("SELECT 7 AS v", {}, a_number));
  for (const auto& each : several) EXPECT_EQ(run(*each), 7);
  executor().script("BEGIN", boundary::begin);
  several.pop_back();
  EXPECT_EQ(run(*several.front()), 7);
  executor().script("COMMIT", boundary::commit);
  several.clear();
  executor().script("BEGIN", boundary::begin);
  executor().script("COMMIT", boundary::commit);
  EXPECT_EQ(kept(), before);
}

TEST_P(prepared_on_postgresql, that_the_server_forgot_is_no_hindrance_when_others_end) {
  auto forgotten = at().prepare("SELECT 7 AS v", {}, a_number);
  executor().script("DEALLOCATE ALL", boundary::none);
  auto unused = at().prepare("SELECT 8 AS v", {}, a_number);
  forgotten.reset();
  unused.reset();
  executor().script("BEGIN", boundary::begin);
  executor().script("COMMIT", boundary::commit);
  EXPECT_EQ(kept(), 0);
}

/// The statements that a session of a database object keeps.
class kept_statements : public on_each_backend {
 protected:
  static int kept_by(tableq::database& db) {
    tableq::transaction tx = db.begin();
    int out = 0;
    tableq::session_of(tx) << "SELECT CAST(count(*) AS integer) FROM pg_prepared_statements",
        soci::into(out);
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(, kept_statements,
                         testing::Values(&postgresql_backend(), &postgresql_odbc_backend()),
                         backend_name);

TEST_P(kept_statements, of_dropped_queues_go) {
  auto narrow = open({.max_sessions = 1});
  const auto use_once = [&](const std::string& name) {
    auto jobs = narrow.claim(name);
    jobs.enqueue("x");
    EXPECT_EQ(jobs.complete(jobs.take(1).at(0).receipt), tableq::settle_result::applied);
    narrow.drop(name);
  };
  use_once("first");
  const int before = kept_by(narrow);
  for (int i = 0; i < 10; ++i) use_once("jobs" + std::to_string(i));
  EXPECT_LE(kept_by(narrow), before + 2);
}

TEST_P(kept_statements, are_none_that_only_open_a_queue) {
  auto narrow = open({.max_sessions = 1});
  static_cast<void>(narrow.claim("first"));
  const int before = kept_by(narrow);
  for (int i = 0; i < 10; ++i) static_cast<void>(narrow.claim("jobs" + std::to_string(i)));
  EXPECT_LE(kept_by(narrow), before + 2);
}

TEST_P(kept_statements, do_not_grow_with_the_number_of_queues) {
  static_cast<void>(db().pending("jobs"));
  const auto driver = tableq::core::make_driver(here().url());
  const auto session = driver->connect();
  tableq::core::table_names names = tableq::core::names_for({}, "jobs");
  for (std::size_t i = 0; i < tableq::drivers::most_known_texts + 10; ++i) {
    names.slot = i;  // as of another queue
    session->execute(contract_of(tableq::core::statement::pending_next_due), names, {}, {});
  }
  session->begin();
  session->rollback();
  int kept = 0;
  *session->session().soci << "SELECT CAST(count(*) AS integer) FROM pg_prepared_statements",
      soci::into(kept);
  EXPECT_LE(static_cast<std::size_t>(kept), tableq::drivers::most_known_texts + 1);
  EXPECT_GT(static_cast<std::size_t>(kept), tableq::drivers::most_known_texts / 2);
}

class kept_in_an_application : public on_each_backend {};
INSTANTIATE_TEST_SUITE_P(, kept_in_an_application, testing::Values(&postgresql_backend()),
                         backend_name);

TEST_P(kept_in_an_application, that_it_forgot_fail_one_transaction_and_are_prepared_anew) {
  auto jobs = db().claim("jobs");
  const auto session = here().session();
  tableq::enlistment joined = tableq::enlist(db(), *session, {.keep_statements = true});
  const auto add = [&](const std::string& payload) {
    soci::transaction mine(*session);
    jobs.in(joined).enqueue(payload);
    mine.commit();
  };
  add("first");
  for (const char* const forget : {"DISCARD ALL", "DEALLOCATE ALL"}) {
    *session << forget;
    EXPECT_EQ(thrown_by([&] { add("lost"); }).advice(), tableq::advice::transaction);
    add(forget);
  }
  EXPECT_EQ(jobs.stats().ready, 3U);
}

TEST_P(kept_in_an_application, end_with_a_connection_that_the_server_closed) {
  auto jobs = db().claim("jobs");
  const auto session = here().session();
  {
    tableq::enlistment joined = tableq::enlist(db(), *session, {.keep_statements = true});
    soci::transaction mine(*session);
    jobs.in(joined).enqueue("lost");
    EXPECT_THROW(*session << "SELECT pg_terminate_backend(pg_backend_pid())", soci::soci_error);
    EXPECT_THROW(jobs.in(joined).enqueue("late"), tableq::error);
  }
  EXPECT_EQ(jobs.stats().ready, 0U);
}

TEST_P(prepared_on_postgresql, stays_out_of_a_session_of_somebody_else) {
  const auto once = at().prepare("SELECT 7 AS v", {}, a_number, false);
  EXPECT_EQ(run(*once), 7);
  EXPECT_EQ(at().integer("SELECT count(*) FROM pg_prepared_statements"), 0);
}

}  // namespace
