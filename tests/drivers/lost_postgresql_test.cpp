#include <gtest/gtest.h>
#include <soci/soci.h>

#include <array>
#include <string>
#include <thread>

#include <tableq/soci.hpp>

#include "core/input/identifier.hpp"
#include "core/seam/driver.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using tableq::errc;
using tableq::core::statement;
using tableq::core::value;

/// Sessions that die during a statement that waits for a lock.
class lost_sessions_of_postgresql : public tableq_test::on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    driver_ = tableq::core::make_driver(here().url());
    session_ = driver_->connect();
    session_->define("catalog", names_);
    session_->define("fifo", names_);
    id_ = here()
              .sql(
                  "SELECT max(pid) FROM pg_stat_activity WHERE application_name ="
                  " current_schema() AND pid <> pg_backend_pid()")
              .at(0)
              .at(0)
              .value();
  }
  void TearDown() override {
    session_.reset();
    on_each_backend::TearDown();
  }
  [[nodiscard]] tableq::core::connection& session() const { return *session_; }

  void enqueue() const {
    const std::array items{value(std::string_view("x")), value()};
    const value now;
    session_->execute(contract_of(statement::fifo_enqueue), names_, {&now, 1}, items);
  }
  void peek() const {
    const std::array first{value(std::int64_t{1})};
    session_->execute(contract_of(statement::fifo_peek), names_, first, {});
  }
  /// Runs a step that must wait for a lock, and ends its session during the wait.
  template <class Step>
  tableq::error lost_in(const Step& step) {
    here().sql("BEGIN; LOCK TABLE mail IN ACCESS EXCLUSIVE MODE");
    std::jthread other([this] {
      const std::string waiting =
          "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = " + id_;
      while (here().sql(waiting).at(0).at(0) == "0") {
      }
      here().end_session(id_);
    });
    tableq::error lost = tableq_test::thrown_by(step);
    other.join();
    here().sql("ROLLBACK");
    return lost;
  }

 private:
  tableq::core::table_names names_ = tableq::core::names_for({}, "mail");
  std::unique_ptr<tableq::core::driver> driver_;
  std::unique_ptr<tableq::core::connection> session_;
  std::string id_;
};
INSTANTIATE_TEST_SUITE_P(, lost_sessions_of_postgresql,
                         testing::Values(&tableq_test::postgresql_backend()),
                         tableq_test::backend_name);

TEST_P(lost_sessions_of_postgresql, leave_the_outcome_of_a_write_unknown) {
  enqueue();
  const tableq::error lost = lost_in([this] { enqueue(); });
  EXPECT_EQ(lost.code(), errc::outcome_unknown) << lost.what();
  EXPECT_EQ(lost.advice(), tableq::advice::never);
  EXPECT_FALSE(session().usable());
}

TEST_P(lost_sessions_of_postgresql, have_done_nothing_within_a_transaction) {
  enqueue();
  session().begin();
  const tableq::error lost = lost_in([this] { enqueue(); });
  EXPECT_EQ(lost.code(), errc::connection_lost) << lost.what();
  EXPECT_EQ(lost.advice(), tableq::advice::session);
  EXPECT_FALSE(session().usable());
  EXPECT_EQ(here().sql("SELECT count(*) FROM mail").at(0).at(0), "1");
}

TEST_P(lost_sessions_of_postgresql, have_done_nothing_when_they_only_read) {
  peek();
  const tableq::error lost = lost_in([this] { peek(); });
  EXPECT_EQ(lost.code(), errc::connection_lost) << lost.what();
  EXPECT_EQ(lost.advice(), tableq::advice::session);
}

class resting_transactions : public tableq_test::on_each_backend {};
INSTANTIATE_TEST_SUITE_P(, resting_transactions,
                         testing::Values(&tableq_test::postgresql_backend(),
                                         &tableq_test::postgresql_odbc_backend()),
                         tableq_test::backend_name);

TEST_P(resting_transactions, that_the_server_ended_are_cancelled_at_their_commit) {
  auto mail = db().fifo("mail");
  tableq::transaction tx = db().begin();
  mail.in(tx).enqueue("never");
  std::string id;
  tableq::session_of(tx) << "SELECT CAST(pg_backend_pid() AS text)", soci::into(id);
  // Long enough for the client to be done with this statement: psqlODBC forgets why a session has
  // ended that it finds dead then.
  tableq::session_of(tx) << "SET LOCAL idle_in_transaction_session_timeout = 100";
  const std::string open = "SELECT count(*) FROM pg_stat_activity WHERE pid = " + id;
  while (here().sql(open).at(0).at(0) != "0") std::this_thread::yield();
  EXPECT_CODE(cancelled, tx.commit());
  EXPECT_EQ(mail.stats().waiting, 0U);
}

}  // namespace
