#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fault/stage.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using tableq::kind;

/// The names of all statements for queues, without the endings of their cheaper forms.
std::set<std::string> statement_names(const std::string& dialect) {
  std::set<std::string> out;
  for (const kind each : {kind::heap, kind::fifo, kind::lifo, kind::pending, kind::claim}) {
    for (const auto& [name, text] : tableq::statements(dialect, each, "mail"))
      out.insert(name.substr(0, name.find('.', name.find('.') + 1)));
  }
  return out;
}

/// Statements of a worker's heartbeats, of waiting reads and of enlisted or old transactions, whose
/// number of calls is not the same each time. And those of a migration, which tests/upgrade cuts at
/// every call, of moves, which tests/move does, and of schedules, batches and limits of groups,
/// which schedule_test.cpp, batch_test.cpp and group_limit_test.cpp do.
const std::set<std::string> beyond_scenarios{
    "catalog.migrator",  "catalog.set_layout", "catalog.set_options",   "floors.remove",
    "claim.heartbeat",   "claim.lost",         "claim.next_due",        "pending.next_due",
    "claim.unseen",      "limits.ask",         "session.identity",      "queue.hidden",
    "claim.restore",     "schedules.due",      "schedules.fire",        "schedules.list",
    "schedules.remove",  "schedules.insert",   "claim.advance_limited", "claim.hold",
    "claim.next_groups", "claim.tokens",       "group.apply",           "group.forget",
    "group.insert",      "group.late",         "group.others",          "group.remove",
    "group.remove_all",  "group.start"};

class a_fault_in_every_statement : public on_each_backend {};
TABLEQ_ON_BACKENDS(a_fault_in_every_statement, distinct_backends);

TEST_P(a_fault_in_every_statement, is_played_by_a_scenario) {
  if (!can().cheap_sessions) GTEST_SKIP() << "one database tells enough";
  tableq::testing::faults recorder;
  actor player(recorder.open(here().quick_url(), {.clock = clock.source()}));
  const tableq::timestamp began = clock.now();
  std::set<std::string> missing = statement_names(GetParam()->name());
  for (const std::string& each : beyond_scenarios) missing.erase(each);
  std::erase_if(missing, [](const std::string& name) {
    // A list or get with fewer columns makes the calls of one with all.
    return name.starts_with("batch.") || name.ends_with("_outline") || name.ends_with("_seen");
  });
  for (const auto& list :
       {destructive_scenarios(), claim_scenarios(), settling_scenarios(), looking_scenarios(),
        database_scenarios(), transaction_scenarios(), table_scenarios()}) {
    for (const scenario& each : list) {
      std::string sql;
      for (const std::string& used : player.used()) sql += "DELETE FROM \"" + used + "\";";
      if (!sql.empty()) here().sql(sql);
      player.forget();
      clock.set(began);
      notes left{.here = &here(), .clock = &clock};
      each.prepare(player, left);
      recorder.start_over();
      static_cast<void>(each.act(player, left));
      for (const auto& call : recorder.history()) missing.erase(call.name);
    }
  }
  EXPECT_EQ(missing, std::set<std::string>());
}

}  // namespace
