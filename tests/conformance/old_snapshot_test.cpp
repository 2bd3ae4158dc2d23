#include <gtest/gtest.h>
#include <soci/soci.h>

#include <functional>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::change_result;
using tableq::settle_result;

/// A transaction with the snapshot of its first statement: it does not see later messages of
/// others.
class old_snapshot : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!can().tells_stale_snapshots) GTEST_SKIP() << "waits for a lock instead, and is then busy";
    if (here().conflict_setup().empty()) {
      GTEST_SKIP() << "this database refuses nothing because others changed it";
    }
    static_cast<void>(db().claim("jobs"));
    static_cast<void>(db().claim("groups", {.groups = tableq::group_options{}}));
    static_cast<void>(db().claim("kept", {.keep_completed = true}));
  }

  using work = std::function<void(tableq::transaction&)>;

  /// Runs `meanwhile` in another session after the snapshot was taken, at each level with a
  /// snapshot, for a caller's session and for a transaction of tableq; then runs `look` with the
  /// snapshot.
  void after(const std::function<void()>& meanwhile, const work& look) {
    for (const std::vector<std::string>& setup : setups()) {
      SCOPED_TRACE(setup.front());
      const auto session = here().session();
      soci::transaction mine(*session);
      for (const std::string& each : setup) *session << each;
      meanwhile();
      tableq::enlistment joined = tableq::enlist(db(), *session);
      look(static_cast<tableq::transaction&>(joined));
      mine.rollback();
      if (!can().concurrent_writers)
        continue;  // The transaction of tableq is the only writer from
                   // the start.
      SCOPED_TRACE("ours");
      tableq::transaction own = db().begin();
      for (const std::string& each : setup) tableq::session_of(own) << each;
      meanwhile();
      look(own);
    }
  }
  [[nodiscard]] std::vector<std::vector<std::string>> setups() {
    std::vector<std::vector<std::string>> out{here().conflict_setup()};
    std::vector<std::string> stricter = out.front();
    const std::string level = "REPEATABLE READ";
    if (const auto at = stricter.front().find(level); at != std::string::npos) {
      stricter.front().replace(at, level.size(), "SERIALIZABLE");
      out.push_back(stricter);
    }
    return out;
  }
  /// The call is refused, because only another transaction has the answer.
  void expect_conflict(const std::function<void()>& call) {
    const tableq::error refused = thrown_by(call);
    EXPECT_EQ(refused.code(), tableq::errc::conflict) << refused.what();
    EXPECT_EQ(refused.advice(), tableq::advice::transaction) << refused.what();
    EXPECT_NE(refused.operation(), "") << refused.what();
  }

  struct way {
    const char* name;
    std::function<std::vector<settle_result>(tableq::claim_queue&, tableq::transaction&,
                                             const std::vector<tableq::receipt>&)>
        run;
  };
  static std::vector<way> ways() {
    return {{"complete",
             [](auto& of, auto& tx, const auto& all) { return of.in(tx).complete_batch(all); }},
            {"fail",
             [](auto& of, auto& tx, const auto& all) {
               std::vector<tableq::failure> failures;
               for (const auto& each : all) failures.push_back({.receipt = each, .error = "why"});
               return of.in(tx).fail_batch(failures);
             }},
            {"release",
             [](auto& of, auto& tx, const auto& all) { return of.in(tx).release_batch(all); }},
            {"extend",
             [](auto& of, auto& tx, const auto& all) { return of.in(tx).extend_batch(all, 1h); }}};
  }
  static tableq::receipt leased(tableq::claim_queue& from) {
    from.enqueue("work", {.group = from.name() == "groups" ? std::optional("g") : std::nullopt});
    return from.take(1).at(0).receipt;
  }
};
TABLEQ_ON_BACKENDS(old_snapshot, shared_backends);

TEST_P(old_snapshot, reports_no_lease_as_lost_that_is_younger) {
  for (const char* name : {"jobs", "groups", "kept"}) {
    auto jobs = db().claim(name).outside();
    for (const way& each : ways()) {
      SCOPED_TRACE(std::string(name) + " " + each.name);
      tableq::receipt young;
      after([&] { young = leased(jobs); },
            [&](tableq::transaction& tx) {
              expect_conflict([&] { static_cast<void>(each.run(jobs, tx, {young})); });
              EXPECT_EQ(jobs.complete(young), settle_result::applied) << "the lease was alive";
            });
    }
  }
}

TEST_P(old_snapshot, refuses_a_batch_of_which_it_cannot_see_one) {
  auto jobs = db().claim("jobs").outside();
  for (const way& each : ways()) {
    SCOPED_TRACE(each.name);
    tableq::receipt old = leased(jobs);
    tableq::receipt young;
    after([&] { young = leased(jobs); },
          [&](tableq::transaction& tx) {
            expect_conflict([&] { static_cast<void>(each.run(jobs, tx, {old, young})); });
            EXPECT_EQ(jobs.complete(young), settle_result::applied);
          });
    EXPECT_EQ(jobs.complete(old), settle_result::applied) << "nothing of the batch was done";
  }
}

TEST_P(old_snapshot, reports_a_lease_as_lost_that_certainly_is) {
  auto jobs = db().claim("jobs").outside();
  for (const way& each : ways()) {
    SCOPED_TRACE(each.name);
    const tableq::receipt settled_before = leased(jobs);
    ASSERT_EQ(jobs.complete(settled_before), settle_result::applied);
    tableq::receipt made_up = settled_before;
    made_up.id.value += 1'000'000;
    const tableq::receipt open = leased(jobs);
    tableq::receipt of_another_take = open;
    --of_another_take.fence;
    after([] {},
          [&](tableq::transaction& tx) {
            const std::vector<settle_result> lost(3, settle_result::lease_lost);
            EXPECT_EQ(each.run(jobs, tx, {settled_before, made_up, of_another_take}), lost);
          });
    ASSERT_EQ(jobs.complete(open), settle_result::applied);
  }
}

TEST_P(old_snapshot, reports_a_lease_as_lost_that_came_and_went_since) {
  if (!can().concurrent_writers) GTEST_SKIP() << "any write of others is a conflict here";
  auto jobs = db().claim("jobs").outside();
  for (const way& each : ways()) {
    SCOPED_TRACE(each.name);
    tableq::receipt gone;
    after(
        [&] {
          gone = leased(jobs);
          EXPECT_EQ(jobs.complete(gone), settle_result::applied);
        },
        [&](tableq::transaction& tx) {
          EXPECT_EQ(each.run(jobs, tx, {gone}), std::vector{settle_result::lease_lost});
        });
  }
}

TEST_P(old_snapshot, settles_what_it_sees_and_what_it_has_added) {
  auto jobs = db().claim("jobs").outside();
  const auto old = jobs.enqueue("old").id;
  after([] {},
        [&](tableq::transaction& tx) {
          const auto added = jobs.in(tx).enqueue("added").id;
          const auto taken = jobs.in(tx).take(2);
          ASSERT_EQ(taken.size(), 2U);
          EXPECT_EQ(taken[0].receipt.id, old);
          EXPECT_EQ(taken[1].receipt.id, added);
          for (const auto& each : taken) {
            EXPECT_EQ(jobs.in(tx).complete(each.receipt), settle_result::applied);
          }
        });
}

TEST_P(old_snapshot, calls_no_message_absent_that_is_younger) {
  auto jobs = db().claim("jobs").outside();
  tableq::message_id young;
  after([&] { young = jobs.enqueue("young").id; },
        [&](tableq::transaction& tx) {
          expect_conflict([&] { jobs.in(tx).cancel(young); });
          EXPECT_EQ(jobs.cancel(young), change_result::applied);
        });
  after([&] { young = jobs.enqueue("young").id; },
        [&](tableq::transaction& tx) {
          expect_conflict([&] { jobs.in(tx).set_priority(young, 7); });
          EXPECT_EQ(jobs.cancel(young), change_result::applied);
        });
}

TEST_P(old_snapshot, calls_a_message_absent_that_certainly_is) {
  auto jobs = db().claim("jobs").outside();
  const auto gone = jobs.enqueue("gone").id;
  ASSERT_EQ(jobs.cancel(gone), change_result::applied);
  after([] {},
        [&](tableq::transaction& tx) {
          EXPECT_EQ(jobs.in(tx).cancel(gone), change_result::not_found);
          EXPECT_EQ(jobs.in(tx).set_priority(gone, 7), change_result::not_found);
        });
}

TEST_P(old_snapshot, adds_no_second_message_with_a_key) {
  auto jobs = db().claim("jobs").outside();
  for (const auto policy : {tableq::on_duplicate::keep_first, tableq::on_duplicate::reject,
                            tableq::on_duplicate::replace, tableq::on_duplicate::postpone}) {
    tableq::message_id young;
    after(
        [&] { young = jobs.enqueue("young", {.key = "k"}).id; },
        [&](tableq::transaction& tx) {
          expect_conflict([&] {
            static_cast<void>(jobs.in(tx).enqueue("second", {.key = "k", .on_duplicate = policy}));
          });
          EXPECT_EQ(jobs.get(young)->payload, "young");
          EXPECT_EQ(jobs.cancel(young), change_result::applied);
        });
  }
}

TEST_P(old_snapshot, answers_looks_by_what_it_sees) {
  auto jobs = db().claim("jobs").outside();
  tableq::message_id young;
  after([&] { young = jobs.enqueue("young", {.key = "k"}).id; },
        [&](tableq::transaction& tx) {
          EXPECT_FALSE(jobs.in(tx).get(young));
          EXPECT_FALSE(jobs.in(tx).find("k"));
          EXPECT_TRUE(jobs.get(young));
          EXPECT_EQ(jobs.cancel(young), change_result::applied);
        });
}

}  // namespace
