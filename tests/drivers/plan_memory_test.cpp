#include <gtest/gtest.h>

#include "drivers/plan_memory.hpp"

namespace {

using tableq::core::statement;
using tableq::drivers::hints;
using tableq::drivers::plan_memory;
using tableq::drivers::planned_statement;

constexpr plan_memory::time_point first_time{};
constexpr planned_statement some_statement{.tables = 1, .identity = 7, .which = statement{3}};

TEST(plan_memory, keeps_to_a_queue_and_a_statement) {
  plan_memory memory;
  memory.had_no_plan(some_statement, hints::order, first_time);
  EXPECT_EQ(memory.of(some_statement, first_time), hints::order);
  EXPECT_EQ(memory.of({.tables = 2, .identity = 7, .which = some_statement.which}, first_time),
            hints::all);
  EXPECT_EQ(memory.of({.tables = 1, .identity = 8, .which = some_statement.which}, first_time),
            hints::all);
  EXPECT_EQ(memory.of({.tables = 1, .identity = 7, .which = statement{4}}, first_time), hints::all);
}

TEST(plan_memory, gives_hints_back_after_an_hour) {
  plan_memory memory;
  memory.had_no_plan(some_statement, hints::none, first_time);
  memory.had_no_plan(some_statement, hints::order, first_time);
  const auto later = first_time + plan_memory::remembered;
  EXPECT_EQ(memory.of(some_statement, later - plan_memory::time_point::duration(1)), hints::none);
  EXPECT_EQ(memory.of(some_statement, later), hints::all);
  memory.had_no_plan(some_statement, hints::order, later);
  EXPECT_EQ(memory.of(some_statement, later), hints::order);
}

TEST(plan_memory, is_bounded) {
  plan_memory memory;
  memory.had_no_plan(some_statement, hints::none, first_time);
  for (std::size_t i = 1; i <= plan_memory::most; ++i) {
    memory.had_no_plan({.tables = 1 + i, .identity = 7, .which = some_statement.which}, hints::none,
                       first_time);
  }
  EXPECT_EQ(memory.of(some_statement, first_time), hints::all);
}

}  // namespace
