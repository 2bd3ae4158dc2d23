#include <gtest/gtest.h>

#include <stdexcept>

#include "support/sqlserver_client.hpp"
#include "support/sqlserver_plan.hpp"
#include "support/text.hpp"

namespace {

using tableq_test::contains;
using tableq_test::sqlserver_address;
using tableq_test::sqlserver_complaint;

TEST(plain_sqlserver_addresses, come_apart_and_together_again) {
  const std::string whole =
      "sqlserver://sa:p%40s%2fs@host%5cone:1444/app?driver=FreeTDS&encrypt=no";
  sqlserver_address at(whole);
  EXPECT_EQ(at.user, "sa");
  EXPECT_EQ(at.password, "p@s/s");
  EXPECT_EQ(at.database, "app");
  EXPECT_EQ(at.settings.at("driver"), "FreeTDS");
  EXPECT_EQ(at.url(), whole);
  at.database = "other";
  at.settings["application_name"] = "a b&c";
  EXPECT_EQ(at.url("mssql"),
            "mssql://sa:p%40s%2fs@host%5cone:1444/other"
            "?application_name=a%20b%26c&driver=FreeTDS&encrypt=no");
  EXPECT_EQ(sqlserver_address("mssql://host").url(), "sqlserver://host");
  EXPECT_THROW(sqlserver_address("postgresql://host/app"), std::runtime_error);
}

TEST(plain_sqlserver_addresses, are_read_by_the_dialect) {
  const std::string connect =
      sqlserver_address("sqlserver://sa:p%3bs@host:1444/app?driver=FreeTDS").connection_string();
  for (const char* part : {"Driver=FreeTDS;", "Server=host;", "Port=1444;", "Database=app;"}) {
    EXPECT_TRUE(contains(connect, part)) << part;
  }
}

TEST(sqlserver_parameters, stand_where_they_are_named) {
  const std::string text =
      "UPDATE q SET x = N'it''s :not' FROM (VALUES {items: (:item, CAST(:id AS bigint))}) AS v";
  const tableq_test::parameters with = {{"id", "7"}};
  EXPECT_EQ(tableq_test::with_literals(text, with),
            "UPDATE q SET x = N'it''s :not' FROM (VALUES  (1, CAST(7 AS bigint))) AS v");
  EXPECT_EQ(tableq_test::with_variables(text, with),
            "DECLARE @p_id bigint = 7;\nDECLARE @p_item bigint = 1;\n"
            "UPDATE q SET x = N'it''s :not' FROM (VALUES  (@p_item, CAST(@p_id AS bigint))) AS v");
  EXPECT_EQ(tableq_test::as_prepared(text, with),
            "EXEC sp_executesql N'UPDATE q SET x = N''it''''s :not'' FROM (VALUES  (@p_item, "
            "CAST(@p_id AS bigint))) AS v', N'@p_id bigint, @p_item bigint', @p_id = 7, "
            "@p_item = 1");
  EXPECT_EQ(tableq_test::as_prepared("SELECT 1", {}), "EXEC sp_executesql N'SELECT 1'");
  EXPECT_THROW(tableq_test::with_literals("SELECT :unknown", with), std::out_of_range);
}

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
