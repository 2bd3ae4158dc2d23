#include <gtest/gtest.h>

#include <set>

#include "core/seam/contract.hpp"
#include "core/seam/statements.hpp"

namespace {

using tableq::kind;
using namespace tableq::core;  // NOLINT(google-build-using-namespace): what is tested

TEST(contracts, have_names_of_their_own) {
  std::set<std::string_view> names;
  for (const contract& each : contracts()) EXPECT_TRUE(names.insert(each.name).second) << each.name;
}

TEST(contracts, are_found_by_their_statement) {
  for (const contract& each : contracts()) EXPECT_EQ(contract_of(each.id).name, each.name);
}

TEST(contracts, name_each_parameter_and_column_once) {
  for (const contract& each : contracts()) {
    std::set<std::string_view> parameters;
    for (const auto& fields : {each.shared, each.items}) {
      for (const field& one : fields) EXPECT_TRUE(parameters.insert(one.name).second) << each.name;
    }
    std::set<std::string_view> columns{"item"};
    for (const field& one : each.columns) EXPECT_TRUE(columns.insert(one.name).second) << each.name;
  }
}

TEST(contracts, know_what_core_must_know_beside_the_names) {
  const contract& take = contract_of(statement::claim_take);
  EXPECT_EQ(take.shared[take.max_at].name, "max");
  EXPECT_EQ(take.shared[take.token_at].name, "token");
  EXPECT_TRUE(take.changes_messages && take.counts_messages && !take.settles());
  EXPECT_TRUE(contract_of(statement::claim_fail).settles());
  EXPECT_FALSE(contract_of(statement::limits_set).changes_messages);
}

TEST(typed_statements, carry_values_in_the_order_of_their_contracts) {
  const fail_item one{.id = {7}, .fence = 8, .error = "why", .dice = -5, .final = 1};
  const std::vector<value> values = values_of(std::span(&one, 1));
  ASSERT_EQ(values.size(), contract_of(statement::claim_fail).items.size());
  EXPECT_EQ(values[0].number, 7);
  EXPECT_EQ(values[2].data, "why");
  EXPECT_EQ(values[3].is, value::shape::null);
  EXPECT_EQ(values[4].number, -5);
}

TEST(typed_statements, give_rows_with_their_items) {
  row_set rows(3);
  rows.add(cell(std::int64_t{1}));
  rows.add(cell(std::int64_t{40}));
  rows.add(cell(std::int64_t{4}));
  const auto read = rows_of<state_row, fail_item>(std::move(rows));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].item, 1U);
  EXPECT_EQ(read[0].id.value, 40);
  EXPECT_EQ(read[0].state, tableq::message_state::dead);
}

}  // namespace
