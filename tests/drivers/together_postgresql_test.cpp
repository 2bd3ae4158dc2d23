#include <array>
#include <atomic>
#include <cstddef>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <tableq/soci.hpp>
#include <tableq/tableq.hpp>

#include "support/backends.hpp"
#include "support/untouched_bytes.hpp"
#include "transport_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using tableq::drivers::bound_statement;
using tableq::drivers::boundary;

/// Statements that libpq sends together.
class sent_together : public on_each_transport {
 protected:
  void SetUp() override {
    on_each_transport::SetUp();
    if (IsSkipped()) return;
    if (!at().kind->pipelines) GTEST_SKIP() << "this client library has no pipelines";
    executor().script("CREATE TABLE filled (v integer PRIMARY KEY)", boundary::none);
    add_ = at().prepare("INSERT INTO filled VALUES (1)", {}, {});
    count_ = at().prepare("SELECT count(*) AS v FROM filled", {}, a_number);
  }
  void TearDown() override {
    add_.reset();
    count_.reset();
    on_each_transport::TearDown();
  }

  /// Adds a row, counts all, and runs `last`. @return as run_together.
  bool add_count_and(tableq::drivers::prepared& last) {
    counted_ = tableq::core::row_set(1);
    tableq::core::row_set ignored;
    const std::array all{bound_statement{.what = add_.get(), .out = &ignored},
                         bound_statement{.what = count_.get(), .out = &counted_},
                         bound_statement{.what = &last, .out = &ignored}};
    return executor().run_together("BEGIN", begins_, all);
  }
  /// In a transaction that a statement begins, and in the one that the round trip is.
  template <class Check>
  void in_both(const Check& check) {
    for (const bool begins : {true, false}) {
      SCOPED_TRACE(begins);
      begins_ = begins;
      executor().script("DELETE FROM filled", boundary::none);
      check();
    }
  }
  void expect_lost() {
    const auto end = at().prepare(
        "SELECT CAST(pg_terminate_backend(pg_backend_pid()) AS text) AS v", {}, text_field);
    const auto failure = native_failure_of([&] { add_count_and(*end); });
    ASSERT_TRUE(failure);
    EXPECT_TRUE(failure->link_lost);
    EXPECT_FALSE(executor().alive());
  }
  [[nodiscard]] std::int64_t rows() const { return at().integer("SELECT count(*) FROM filled"); }

  std::unique_ptr<tableq::drivers::prepared> add_;
  std::unique_ptr<tableq::drivers::prepared> count_;
  tableq::core::row_set counted_;
  bool begins_ = true;
};
INSTANTIATE_TEST_SUITE_P(, sent_together, testing::Values(&postgresql_backend()), backend_name);

TEST_P(sent_together, commit_and_each_sees_the_ones_before) {
  const auto more = at().prepare("INSERT INTO filled VALUES (2)", {}, {});
  in_both([&] {
    EXPECT_TRUE(add_count_and(*more));
    EXPECT_EQ(counted_.integer(0, 0), 1);
    EXPECT_FALSE(executor().in_transaction());
    EXPECT_EQ(rows(), 2);
  });
}

TEST_P(sent_together, change_nothing_when_one_fails) {
  const auto again = at().prepare("INSERT INTO filled VALUES (1)", {}, {});
  in_both([&] {
    const auto failure = native_failure_of([&] { add_count_and(*again); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->sqlstate, "23505");
    EXPECT_FALSE(failure->link_lost);
    EXPECT_FALSE(executor().in_transaction());
    EXPECT_EQ(rows(), 0);
  });
}

TEST_P(sent_together, change_nothing_when_the_commit_fails) {
  executor().script("CREATE TABLE late (v integer REFERENCES filled INITIALLY DEFERRED)",
                    boundary::none);
  const auto orphan = at().prepare("INSERT INTO late VALUES (7)", {}, {});
  in_both([&] {
    const auto failure = native_failure_of([&] { add_count_and(*orphan); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->sqlstate, "23503");
    EXPECT_FALSE(executor().in_transaction());
    EXPECT_EQ(rows(), 0);
  });
}

TEST_P(sent_together, change_nothing_when_the_server_forgot_them_and_can_run_again) {
  const auto more = at().prepare("INSERT INTO filled VALUES (2)", {}, {});
  in_both([&] {
    executor().script("DEALLOCATE ALL", boundary::none);
    EXPECT_FALSE(add_count_and(*more));
    EXPECT_EQ(rows(), 0);
    EXPECT_TRUE(add_count_and(*more)) << "one that is gone tells of all";
    EXPECT_EQ(rows(), 2);
  });
}

TEST_P(sent_together, leave_a_usable_session_where_the_values_of_one_are_too_long) {
  const untouched_bytes most(std::size_t{1} << 30U);
  const tableq::core::value given(most.view());
  const auto too_long = at().prepare("SELECT :v AS v", text_field, text_field);
  in_both([&] {
    tableq::core::row_set ignored(1);
    const std::array all{
        bound_statement{.what = too_long.get(), .given = {{&given, 1}, {}, 0}, .out = &ignored},
        bound_statement{.what = add_.get(), .out = &ignored}};
    const auto failure = native_failure_of([&] { executor().run_together("BEGIN", begins_, all); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->sqlstate, "54000");
    EXPECT_FALSE(executor().in_transaction());
    EXPECT_EQ(rows(), 0);
  });
}

TEST_P(sent_together, tell_of_a_lost_session) {
  expect_lost();
}

TEST_P(sent_together, tell_of_a_lost_session_in_a_transaction_of_their_own) {
  begins_ = false;
  expect_lost();
}

/// Messages of groups, whose statements are sent together.
class grouped_on_postgresql : public on_each_backend {};
INSTANTIATE_TEST_SUITE_P(, grouped_on_postgresql, testing::Values(&postgresql_backend()),
                         backend_name);

TEST_P(grouped_on_postgresql, are_stored_and_completed_when_the_server_forgot_the_statements) {
  tableq::database db = open({.max_sessions = 1});
  tableq::claim_queue jobs = db.claim("jobs", {.groups = tableq::group_options{}});
  const auto forget = [&] {
    tableq::transaction tx = db.begin();
    tableq::session_of(tx) << "DEALLOCATE ALL";
    tx.commit();
  };
  jobs.enqueue("first", {.group = "a"});
  forget();
  jobs.enqueue("second", {.group = "a"});
  const auto taken = jobs.take_one();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->payload, "first");
  forget();
  EXPECT_EQ(jobs.complete(*taken), tableq::settle_result::applied);
  EXPECT_EQ(jobs.take(2).size(), 1U);
}

void until_one_waits(place& at) {
  while (at.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                " AND application_name = current_schema()")
             .at(0)
             .at(0) == "0") {
  }
}

/// Takes of one message within limits, by texts for these.
class limited_on_postgresql : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    for (auto& each : databases_) each = open({.max_sessions = 1});
    for (int i = 0; i < rounds * allowed + 1; ++i) jobs_of(0).enqueue("work");
  }
  tableq::claim_queue jobs_of(std::size_t i) { return databases_.at(i)->claim("jobs"); }
  /// Database objects take one message each at once, where all but one are allowed to. Often.
  /// One that gets none takes by another text the next time.
  template <class Free>
  void expect_all_but_one(const Free& free_them) {
    for (int round = 0; round < rounds; ++round) {
      std::array<std::vector<tableq::delivery>, allowed + 1> got;
      std::latch ready(allowed + 1);
      {
        std::vector<std::jthread> takers;
        for (std::size_t i = 0; i < got.size(); ++i) {
          takers.emplace_back([&, i, own = jobs_of(i)]() mutable {
            ready.arrive_and_wait();
            got.at(i) = own.take(1);
          });
        }
      }
      int taken = 0;
      for (const auto& all : got) {
        for (const auto& each : all) {
          EXPECT_EQ(jobs_of(0).complete(each), tableq::settle_result::applied);
          ++taken;
        }
      }
      EXPECT_EQ(taken, allowed);
      free_them();
    }
  }

  static constexpr int rounds = 60;
  static constexpr int allowed = 3;
  std::array<std::optional<tableq::database>, allowed + 1> databases_;
};
INSTANTIATE_TEST_SUITE_P(, limited_on_postgresql, testing::Values(&postgresql_backend()),
                         backend_name);

TEST_P(limited_on_postgresql, spend_no_token_twice) {
  jobs_of(0).set_limits({.rate = 0.001, .burst = allowed});
  expect_all_but_one([&] { here().sql("UPDATE tableq_limits SET tokens = 3000000000"); });
}

TEST_P(limited_on_postgresql, see_the_leases_of_others_where_the_session_was_changed) {
  jobs_of(0).set_limits({.concurrency = 1});
  tableq::transaction change = databases_[1]->begin();
  tableq::session_of(change)
      << "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ";
  change.commit();
  auto near = jobs_of(0);
  auto far = jobs_of(1);
  tableq::transaction tx = databases_[0]->begin();
  auto jobs = near.in(tx);
  jobs.enqueue("first", {.priority = 9});
  EXPECT_EQ(jobs.take(1).size(), 1U);
  std::size_t got = 0;
  std::jthread other([&] { got = far.take(1).size(); });
  until_one_waits(here());
  tx.commit();
  other.join();
  EXPECT_EQ(got, 0U);
}

/// Counts conflicts that tableq has repeated.
struct conflict_counter final : tableq::observer {
  std::atomic<int> conflicts{0};

  void retrying(const tableq::observed_operation& /*operation*/,
                const tableq::operation_retry& retry) override {
    if (retry.failed == tableq::errc::conflict) ++conflicts;
  }
};

/// A transaction that goes on while the call of another session waits for it.
class locks_on_postgresql : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    for (auto& each : databases_) each = open({.observer = counter_});
  }
  [[nodiscard]] tableq::database& near() { return *databases_.front(); }
  [[nodiscard]] tableq::database& far() { return *databases_.back(); }
  void expect_no_conflict() const { EXPECT_EQ(counter_->conflicts, 0); }

 private:
  std::shared_ptr<conflict_counter> counter_ = std::make_shared<conflict_counter>();
  std::array<std::optional<tableq::database>, 2> databases_;
};
INSTANTIATE_TEST_SUITE_P(, locks_on_postgresql, testing::Values(&postgresql_backend()),
                         backend_name);

TEST_P(locks_on_postgresql, are_of_the_limits_before_the_table_that_is_dropped) {
  near().claim("jobs").set_limits({.rate = 1000.0});
  tableq::transaction tx = near().begin();
  auto& session = tableq::session_of(tx);
  session << "UPDATE tableq_limits SET paused = 0 WHERE queue = 'jobs'";
  std::jthread other([&] { EXPECT_TRUE(far().drop("jobs")); });
  until_one_waits(here());
  EXPECT_NO_THROW(session << "LOCK TABLE jobs IN ROW EXCLUSIVE MODE");
  tx.commit();
  other.join();
  expect_no_conflict();
}

TEST_P(locks_on_postgresql, are_of_the_group_before_a_message_whose_lease_was_lost) {
  auto jobs = near().claim("jobs", {.groups = tableq::group_options()});
  jobs.enqueue("first", {.group = "a"});
  const auto stale = jobs.take_one().value().receipt;
  EXPECT_EQ(jobs.release(stale), tableq::settle_result::applied);
  for (const bool extends : {true, false}) {
    tableq::transaction tx = near().begin();
    auto inside = jobs.in(tx);
    EXPECT_EQ(extends ? inside.extend(stale, std::chrono::minutes{1}) : inside.release(stale),
              tableq::settle_result::lease_lost);
    std::jthread other([&] {
      EXPECT_EQ(far().claim("jobs").set_priority(stale.id, 1), tableq::change_result::applied);
    });
    until_one_waits(here());
    EXPECT_NO_THROW(inside.enqueue("next", {.group = "a"}));
    tx.commit();
    other.join();
  }
  expect_no_conflict();
}

}  // namespace
