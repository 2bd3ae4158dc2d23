#include <gtest/gtest.h>

#include <soci/soci.h>

#include <tableq/soci.hpp>

#include "hostile/workload.hpp"
#include "support/called.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// Another role has functions and operators in a schema that tableq's sessions search, which fit
/// the arguments of tableq's statements better than the built-in ones.
class overloads : public on_each_backend {};
TABLEQ_ON_BACKENDS(overloads, shared_backends);

TEST_P(overloads, of_what_the_statements_call_are_not_called) {
  if (!here().overload(called_in(tableq::find_dialect(db().backend())))) {
    GTEST_SKIP() << "this database has no such functions";
  }
  auto mine = open();
  work_with(mine);
  mine.transact([&](tableq::transaction& tx) { work_within(mine, tx); });
  const auto session = here().session();
  soci::transaction of_caller(*session);
  tableq::enlistment joined = tableq::enlist(mine, *session);
  work_within(mine, static_cast<tableq::transaction&>(joined));
  of_caller.commit();

  auto turns = mine.claim("turns", {.groups = tableq::group_options{.by_turns = true}});
  turns.enqueue("x", {.group = "g"});
  turns.set_limits({.capacity = 10, .rate = 1000.0, .concurrency = 5});
  EXPECT_EQ(turns.complete(turns.take(1).at(0).receipt), tableq::settle_result::applied);

  here().sql(
      "CREATE TABLE letters (code VARCHAR(20) NOT NULL PRIMARY KEY, step VARCHAR(20) NOT NULL "
      "DEFAULT 'new', due TIMESTAMP, until TIMESTAMP(3), fence BIGINT NOT NULL DEFAULT 0)");
  auto letters =
      mine.table("letters", {.key = {"code"},
                             .waiting = tableq::states("step", {.waiting = "new", .taken = "busy"}),
                             .lease_until = "until",
                             .fence = "fence",
                             .due_at = "due"});
  here().sql("INSERT INTO letters (code, due) VALUES ('a', NULL), ('b', '2024-01-31 12:00:00')");
  const auto taken = letters.take(2);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(letters.release(taken[0].receipt), tableq::settle_result::applied);
  EXPECT_EQ(letters.complete(taken[1].receipt), tableq::settle_result::applied);
  EXPECT_EQ(letters.stats().ready, 1U);

  for (const tableq::finding& each : mine.inspect()) {
    EXPECT_NE(each.severity, tableq::finding::level::problem) << each.what;
  }
  static_cast<void>(mine.migrate({.to = 1}));
  static_cast<void>(mine.migrate());
}

}  // namespace
