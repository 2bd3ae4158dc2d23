#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/seam/statement.hpp"

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

TEST(contracts, of_the_destructive_kinds_are_found_by_kind_and_operation) {
  using enum destructive_operation;
  EXPECT_EQ(contract_of(statement_for(kind::heap, enqueue)).name, "heap.enqueue");
  EXPECT_EQ(contract_of(statement_for(kind::fifo, dequeue)).name, "fifo.dequeue");
  EXPECT_EQ(contract_of(statement_for(kind::lifo, peek)).name, "lifo.peek");
  EXPECT_EQ(contract_of(statement_for(kind::pending, purge)).name, "pending.purge");
  EXPECT_EQ(contract_of(statement_for(kind::pending, stats)).name, "pending.stats");
}

}  // namespace
