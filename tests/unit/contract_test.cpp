#include <gtest/gtest.h>

#include <set>

#include "core/seam/contract.hpp"

namespace {

using namespace tableq::core;  // NOLINT(google-build-using-namespace): what is tested

TEST(contracts, have_names_of_their_own) {
  std::set<std::string_view> names;
  for (const contract& each : contracts()) EXPECT_TRUE(names.insert(each.name).second) << each.name;
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

}  // namespace
