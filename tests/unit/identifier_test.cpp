#include "core/input/identifier.hpp"

#include <gtest/gtest.h>

namespace {

using tableq::core::names_for;

TEST(table_names, carry_prefix_and_schema) {
  const auto names = names_for({.table_prefix = "x_", .schema_name = "app"}, "mail");
  EXPECT_EQ(names.schema, "app");
  EXPECT_EQ(names.table, "x_mail");
  EXPECT_EQ(names.prefix, "x_");
}

TEST(table_names, have_one_slot_for_each_place) {
  const auto one = names_for({}, "mail");
  EXPECT_EQ(one.slot, names_for({}, "mail").slot);
  EXPECT_NE(one.slot, names_for({}, "letters").slot);
  EXPECT_NE(one.slot, names_for({.table_prefix = "x_"}, "mail").slot);
  EXPECT_NE(one.slot, names_for({.schema_name = "app"}, "mail").slot);
}

}  // namespace
