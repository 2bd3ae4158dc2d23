#include "core/input/identifier.hpp"

#include <gtest/gtest.h>

#include "support/expect.hpp"

namespace {

using tableq::core::check_places;
using tableq::core::check_queue_name;
using tableq::core::names_for;

TEST(queue_names, of_40_small_letters_digits_and_signs_are_good) {
  for (const std::string& good :
       {std::string("a"), std::string("_"), std::string("mail"), std::string("a.b-c_9"),
        std::string("select"), std::string(40, 'x')}) {
    EXPECT_NO_THROW(check_queue_name(good)) << good;
  }
}

TEST(queue_names, of_any_other_form_are_refused) {
  for (const std::string& bad :
       {std::string(),        std::string(41, 'x'), std::string("Mail"), std::string("9mail"),
        std::string("-mail"), std::string(".mail"), std::string("a b"),  std::string("a\"b"),
        std::string("a'b"),   std::string("a;b"),   std::string("a\nb"), std::string("a\0b", 3),
        std::string("a/b"),   std::string("a\\b"),  std::string("a]b"),  std::string("a`b"),
        std::string("a$b"),   std::string("a:b"),   std::string("a{b"),  std::string("\xC3\xA4")}) {
    EXPECT_CODE(invalid_argument, check_queue_name(bad)) << bad;
  }
}

TEST(queue_names, that_are_reserved_are_refused) {
  for (const char* bad : {"tableq", "tableq_queues", "tableq_x"}) {
    EXPECT_CODE(invalid_argument, check_queue_name(bad)) << bad;
  }
}

TEST(prefixes, have_16_small_letters_digits_and_underscores) {
  EXPECT_NO_THROW(check_places({.table_prefix = "app_1_"}, true));
  EXPECT_NO_THROW(check_places({.table_prefix = std::string(16, 'x')}, true));
  for (const std::string& bad : {std::string(17, 'x'), std::string("App"), std::string("1app"),
                                 std::string("a-b"), std::string("a.b"), std::string("a\"b")}) {
    EXPECT_CODE(invalid_argument, check_places({.table_prefix = bad}, true)) << bad;
  }
}

TEST(schema_names, have_the_form_of_queue_names) {
  EXPECT_NO_THROW(check_places({.schema_name = "app"}, true));
  for (const std::string& bad :
       {std::string("App"), std::string("a\"b"), std::string("a b"), std::string(41, 'x')}) {
    EXPECT_CODE(invalid_argument, check_places({.schema_name = bad}, true)) << bad;
  }
}

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
