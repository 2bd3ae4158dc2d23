#include <gtest/gtest.h>

#include "support/sqlserver_plan.hpp"

namespace {

using tableq_test::sqlserver_complaint;

/// One step of a plan around others.
std::string step(const std::string& name, const std::string& inner, const std::string& more = "") {
  return "<RelOp NodeId=\"1\" PhysicalOp=\"" + name + "\" LogicalOp=\"a > b\"><X>" + more + inner +
         "</X></RelOp>";
}
std::string scan(bool ordered, const std::string& more = "") {
  return step("Clustered Index Scan", "",
              std::string("<IndexScan Ordered=\"") + (ordered ? "true" : "false") + "\">" + more +
                  "</IndexScan>");
}
std::string seek() {
  return step("Index Seek", "", "<IndexScan Ordered=\"true\"></IndexScan>");
}
std::string constant() {
  return step("Constant Scan", "");
}

TEST(plans_of_sqlserver, are_good_that_stop_at_a_top) {
  for (const std::string& good :
       {step("Top", scan(true)), step("Clustered Index Delete", step("Top", scan(true))),
        step("Sort", step("Top", seek())), step("Table Spool", step("Top", seek())), seek(),
        step("Sort", step("Nested Loops", constant() + seek())),
        step("Index Update", step("Sort", step("Nested Loops", step("Top", seek()) + seek())))}) {
    EXPECT_EQ(sqlserver_complaint(good), std::nullopt) << good;
  }
}

TEST(plans_of_sqlserver, are_bad_that_read_or_gather_everything) {
  const std::string predicate = "<Predicate></Predicate>";
  for (const std::string& bad :
       {std::string(), std::string("no plan at all"), scan(true), step("Top", scan(false)),
        step("Top", scan(true, predicate)), step("Top", step("Table Scan", "")),
        step("Top", step("Sort", seek())), step("Hash Match", seek()), step("Index Spool", seek()),
        step("Sort", step("Nested Loops", seek() + seek())),
        step("Top", seek()) + step("Sort", step("Filter", seek())),
        step("Nested Loops", constant() + scan(true))}) {
    EXPECT_NE(sqlserver_complaint(bad), std::nullopt) << bad;
  }
}

}  // namespace
