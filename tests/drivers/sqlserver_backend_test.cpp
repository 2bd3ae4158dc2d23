#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "drivers/tds_fixture.hpp"
#include "support/backends.hpp"
#include "support/sqlserver_client.hpp"
#include "support/sqlserver_plan.hpp"
#include "support/text.hpp"

namespace {

using tableq_test::answering;
using tableq_test::contains;
using tableq_test::row;
using tableq_test::rows;
using tableq_test::sqlserver_address;
using tableq_test::sqlserver_client;
using tableq_test::sqlserver_complaint;
using tableq_test::tds_answer;
using tableq_test::tds_kind;
using tableq_test::tds_request;
using tableq_test::tds_server;
using tableq_test::tds_type;
using tableq_test::two_rows;

tds_answer one(const std::string& value) {
  return tds_answer().columns({{"v", tds_type::nvarchar_max}}).row({value});
}

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

TEST(plain_sqlserver_client, returns_the_rows_of_the_last_result_that_has_any) {
  tds_server server = answering(two_rows().affected(3));
  sqlserver_client client(server.connection_string());
  EXPECT_EQ(client.run("anything"), (rows{row{"7", "seven"}, row{"8", "eight"}}));
}

TEST(plain_sqlserver_client, tells_a_failure_among_the_rows) {
  tds_server server = answering(two_rows().error(1205, "a deadlock"));
  sqlserver_client client(server.connection_string());
  try {
    client.run("anything");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& failure) {
    EXPECT_TRUE(contains(failure.what(), "1205")) << failure.what();
  }
}

TEST(plain_sqlserver_client, asks_for_plans_and_stops_asking) {
  tds_server server([](const tds_request& asked) {
    return contains(asked.text, "FROM mail") ? one("<RelOp/>") : tds_answer();
  });
  sqlserver_client client(server.connection_string());
  const std::size_t mark = server.mark();
  EXPECT_EQ(client.plans("SELECT 1 FROM mail"), "<RelOp/>\n");
  const auto asked = server.requests_since(mark);
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[0].text, "SET SHOWPLAN_XML ON");
  EXPECT_EQ(asked[1].text, "SELECT 1 FROM mail");
  EXPECT_EQ(asked[2].text, "SET SHOWPLAN_XML OFF");
}

TEST(plain_sqlserver_client, stops_asking_for_plans_after_a_failure_too) {
  tds_server server([](const tds_request& asked) {
    return contains(asked.text, "nowhere") ? tds_answer().error(208, "missing") : tds_answer();
  });
  sqlserver_client client(server.connection_string());
  EXPECT_THROW(static_cast<void>(client.plans("SELECT 1 FROM nowhere")), std::runtime_error);
  EXPECT_EQ(server.requests().back().text, "SET SHOWPLAN_XML OFF");
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

class sqlserver_place : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("TABLEQ_TEST_SQLSERVER"); }
  static std::unique_ptr<tableq_test::place> on(const tds_server& server) {
    const std::string at = "sqlserver://sa:Secret.1@127.0.0.1:" + std::to_string(server.port()) +
                           "/given?driver=FreeTDS";
    ::setenv("TABLEQ_TEST_SQLSERVER", at.c_str(), 1);
    return tableq_test::sqlserver_backend().fresh();
  }
  /// The index of the first message with `part`.
  static std::size_t place_of(const tds_server& server, const std::string& part) {
    const auto all = server.requests();
    std::size_t at = 0;
    while (at < all.size() && !contains(all[at].text, part)) ++at;
    EXPECT_LT(at, all.size()) << part;
    return at;
  }
  /// Confirms every query, and reports no locks.
  tds_server server_{[](const tds_request& asked) {
    if (contains(asked.text, "open_transaction_count")) return tds_answer();
    if (contains(asked.text, "AS present")) {
      return tds_answer()
          .columns({{"present", tds_type::bigint},
                    {"schema", tds_type::nvarchar, 128},
                    {"sharded", tds_type::bigint},
                    {"narrow", tds_type::bigint}})
          .row({0, "dbo", 0, 0});
    }
    return asked.text.rfind("SELECT", 0) == 0 ? one("1") : tds_answer();
  }};
};

TEST_F(sqlserver_place, inserts_ids_of_its_own_where_the_table_numbers_itself) {
  EXPECT_EQ(on(server_)->insert_with_id("mail", "payload", "-7, 0x00"),
            "SET IDENTITY_INSERT [mail] ON; INSERT INTO [mail] (id, payload) VALUES (-7, 0x00); "
            "SET IDENTITY_INSERT [mail] OFF");
}

TEST_F(sqlserver_place, is_a_database_that_is_dropped_after_it) {
  std::string name;
  {
    const auto here = on(server_);
    name = sqlserver_address(here->url()).database;
    EXPECT_EQ(sqlserver_address(here->url()).settings.at("application_name"), name);
    EXPECT_EQ(here->sql("SELECT 1").at(0).at(0), "1");
    EXPECT_EQ(here->held(), std::nullopt);
    const auto verdict = [&](const std::string& url) { return url == here->url() ? 7 : 8; };
    EXPECT_EQ(here->run_read_only(verdict), 7);
    EXPECT_TRUE(here->url_without_ddl_rights());
  }
  EXPECT_LT(place_of(server_, "CREATE DATABASE " + name),
            place_of(server_, "ALTER DATABASE " + name + " SET READ_COMMITTED_SNAPSHOT O"));
  EXPECT_LT(place_of(server_, "SET READ_ONLY"), place_of(server_, "SET READ_WRITE"));
  EXPECT_LT(place_of(server_, name + " SET SINGLE_USER"),
            place_of(server_, "DROP DATABASE " + name));
  EXPECT_LT(place_of(server_, "DROP DATABASE " + name), place_of(server_, "DROP LOGIN " + name));
  std::size_t of_its_own = 0;
  for (const tds_request& each : server_.requests()) {
    if (each.kind != tds_kind::login) continue;
    EXPECT_EQ(each.login.password, "Secret.1");
    if (each.login.database == name) {
      ++of_its_own;
    } else {
      EXPECT_EQ(each.login.database, "given");
    }
  }
  EXPECT_GE(of_its_own, 1U);
}

TEST_F(sqlserver_place, tells_what_sessions_hold) {
  tds_server holding([](const tds_request&) { return one("1"); });
  EXPECT_EQ(on(holding)->held(), "1 ");
}

TEST_F(sqlserver_place, is_not_had_by_a_login_that_sees_no_sessions) {
  tds_server blind([](const tds_request&) { return one("0"); });
  EXPECT_THROW(static_cast<void>(on(blind)), std::runtime_error);
}

TEST_F(sqlserver_place, that_cannot_be_set_up_is_dropped) {
  tds_server strange([](const tds_request& asked) {
    if (contains(asked.text, "SET RECOVERY")) return tds_answer().error(5058, "refused");
    return asked.text.rfind("SELECT", 0) == 0 ? one("1") : tds_answer();
  });
  EXPECT_THROW(static_cast<void>(on(strange)), std::runtime_error);
  EXPECT_LT(place_of(strange, "CREATE DATABASE"), place_of(strange, "DROP DATABASE"));
}

TEST_F(sqlserver_place, adds_many_rows_in_parts_that_lock_the_table_once) {
  on(server_)->insert_many("mail", "payload", "0x78", 250'000);
  std::vector<std::string> parts;
  for (const tds_request& each : server_.requests()) {
    if (contains(each.text, "INSERT INTO")) parts.push_back(each.text);
  }
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_TRUE(contains(parts[0], "[mail] WITH (TABLOCK) (payload)")) << parts[0];
  EXPECT_TRUE(contains(parts[0], "part.n + 0 ") && contains(parts[0], "TOP (100000)")) << parts[0];
  EXPECT_TRUE(contains(parts[2], "part.n + 200000 ") && contains(parts[2], "TOP (50000)"))
      << parts[2];
}

TEST_F(sqlserver_place, opens_sessions_of_tableq_by_its_address) {
  const auto here = on(server_);
  const std::size_t before = server_.requests().size();
  static_cast<void>(tableq::database::open(here->url()));
  bool seen = false;
  for (const tds_request& each : server_.requests_since(before)) {
    seen = seen || (each.kind == tds_kind::login &&
                    each.login.database == sqlserver_address(here->url()).database);
  }
  EXPECT_TRUE(seen);
}

}  // namespace
