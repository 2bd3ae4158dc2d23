#include <gtest/gtest.h>

#include "locks/known.hpp"
#include "locks/operations.hpp"
#include "locks/search.hpp"

namespace {

using namespace tableq_test::locks;  // NOLINT(google-build-using-namespace): the tests' own
                                     // vocabulary
using tableq_test::chosen_seed;
using tableq_test::chosen_steps;
using tableq_test::random_source;

std::set<std::string> names_of(const std::vector<known_finding>& known) {
  std::set<std::string> out;
  for (const known_finding& each : known) out.insert(each.what);
  return out;
}

void expect_known(const search& done, const std::vector<known_finding>& known) {
  const std::set<std::string> names = names_of(known);
  for (const auto& [what, how] : done.found()) {
    EXPECT_TRUE(names.contains(what)) << what << "\n  by " << how;
  }
}

void search_pairs(search& in, const std::vector<transaction>& all, const conditions_of_run& is,
                  std::size_t switches) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i; j < all.size(); ++j) in.all({all[i], all[j]}, is, switches);
  }
}

std::vector<conditions_of_run> all_conditions(order strict = order::none) {
  std::vector<conditions_of_run> out;
  for (const bool versions : {false, true}) {
    for (const bool row_by_row : {false, true}) {
      out.push_back({.versions = versions, .row_by_row = row_by_row, .strict = strict});
    }
  }
  return out;
}

TEST(lock_model, runs_each_statement_alone_and_finds_nothing) {
  const values given = {{"of_state", 4}, {"key", 20},  {"group_key", 1}, {"due_at", now},
                        {"state", 5},    {"guard", 1}, {"queue", 2}};
  for (const auto& [name, data] : statements()) {
    const transaction alone{name, {{name, given, {{{"id", 3}, {"fence", 1000}, {"key", 20}}}}}};
    for (conditions_of_run is : all_conditions()) {
      is.by_turns = name.ends_with(".turns");
      const outcome got = run(statements(), is, {alone}, {.turns = {0}});
      EXPECT_EQ(got.findings, std::set<std::string>()) << name;
    }
  }
}

TEST(lock_model, finds_in_pairs_of_operations_what_is_known_and_nothing_else) {
  search in(statements());
  for (const conditions_of_run& is : all_conditions()) {
    search_pairs(in, claim_operations(), is, 1);
    in.all({operation("enqueue two keys"), operation("enqueue two keys turned")}, is, 2);
  }
  expect_known(in, known_of_claim());
  for (const known_finding& each : known_of_claim()) {
    EXPECT_TRUE(in.found().contains(each.what)) << "no longer found: " << each.what;
  }
  EXPECT_GT(in.runs(), 100'000U);
}

TEST(lock_model, finds_nothing_else_where_groups_take_turns) {
  search in(statements());
  for (conditions_of_run is : all_conditions()) {
    is.by_turns = true;
    search_pairs(in, claim_operations(), is, 1);
  }
  expect_known(in, known_of_claim());
}

TEST(lock_model, finds_nothing_in_pairs_on_destructive_queues) {
  search in(statements());
  for (const conditions_of_run& is : all_conditions()) {
    search_pairs(in, plain_operations(), is, 2);
    search_pairs(in, pending_operations(), is, 2);
  }
  expect_known(in, {});
}

TEST(lock_model, finds_nothing_in_strict_queues) {
  search in(statements());
  for (const order of : {order::first_in_first_out, order::last_in_first_out}) {
    const auto all = strict_operations(of);
    for (const conditions_of_run& is : all_conditions(of)) {
      search_pairs(in, all, is, 2);
      in.all({all[0], all[0], all[2]}, is, 2);
    }
  }
  expect_known(in, {});
}

TEST(lock_model, finds_nothing_else_in_three_operations_by_chance) {
  const std::uint64_t seed = chosen_seed();
  SCOPED_TRACE("TABLEQ_TEST_SEED=" + std::to_string(seed));
  random_source chance(seed);
  search in(statements());
  const auto& all = claim_operations();
  const auto any = [&] { return all[chance.below(all.size())]; };
  for (std::uint64_t rest = chosen_steps(20'000); rest > 0; --rest) {
    in.one({any(), any(), any()}, {.versions = chance.one_in(2), .row_by_row = chance.one_in(2)},
           chance);
  }
  expect_known(in, known_of_claim());
}

TEST(lock_model, keeps_the_limit_of_leases) {
  search in(statements());
  const std::vector<transaction> all = {operation("take with limits"), operation("complete"),
                                        operation("complete and take with limits")};
  for (conditions_of_run is : all_conditions()) {
    is.concurrency = 4;
    search_pairs(in, all, is, 2);
  }
  expect_known(in, known_of_claim());
}

}  // namespace
