#include "support/tds_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "drivers/tds_fixture.hpp"
#include "support/tds_bytes.hpp"
#include "support/tds_parse.hpp"

namespace {

using tableq_test::answering;
using tableq_test::bigint_parameter;
using tableq_test::binary_parameter;
using tableq_test::error_of;
using tableq_test::fields;
using tableq_test::odbc_failure;
using tableq_test::odbc_outcome;
using tableq_test::odbc_parameter;
using tableq_test::table;
using tableq_test::tds_answer;
using tableq_test::tds_change;
using tableq_test::tds_client;
using tableq_test::tds_kind;
using tableq_test::tds_packet;
using tableq_test::tds_request;
using tableq_test::tds_server;
using tableq_test::tds_type;
using tableq_test::tds_value;
using tableq_test::tds_writer;
using tableq_test::two_rows;

constexpr std::size_t ten_megabytes = 10'000'000;

/// Every byte value, over and over.
std::string all_bytes(std::size_t size = 256) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>((i + i / 256U) & 255U);
  return out;
}

odbc_parameter text_parameter(SQLSMALLINT type, SQLULEN size, std::string text) {
  return {.c_type = SQL_C_CHAR, .sql_type = type, .size = size, .bytes = std::move(text)};
}

/// The native numbers of a refused login, sorted.
std::vector<std::int32_t> login_refusal(const tds_server& server) {
  std::vector<std::int32_t> out;
  try {
    const tds_client client(server.connection_string());
  } catch (const odbc_failure& failed) {
    for (const auto& each : failed.records) out.push_back(each.native);
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(tds_server, is_taken_for_the_product_that_it_plays) {
  const tds_server server;
  const tds_client client(server.connection_string());
  EXPECT_EQ(client.information(SQL_DBMS_NAME), "Microsoft SQL Server");
  EXPECT_EQ(client.information(SQL_DBMS_VER).substr(0, 5), "15.00");
}

TEST(tds_server, is_told_who_comes_and_nothing_else) {
  const tds_server server;
  const tds_client client(server.connection_string() + ";APP=tests");
  const auto came = server.requests();
  ASSERT_EQ(came.size(), 1U);
  EXPECT_EQ(came[0].kind, tds_kind::login);
  EXPECT_EQ(came[0].login.user, "tester");
  EXPECT_EQ(came[0].login.password, "secret");
  EXPECT_EQ(came[0].login.database, "app");
  EXPECT_EQ(came[0].login.application, "tests");
}

TEST(tds_server, gets_a_statement_with_parameters_in_one_round_trip) {
  const tds_server server;
  tds_client client(server.connection_string());
  const std::size_t mark = server.mark();
  client.run("INSERT INTO q VALUES (?, CAST(? AS varbinary(max)))",
             {bigint_parameter(-5), binary_parameter("abc")});
  const auto came = server.requests_since(mark);
  ASSERT_EQ(came.size(), 1U);
  EXPECT_EQ(came[0].kind, tds_kind::call);
  EXPECT_EQ(came[0].procedure, "sp_executesql");
  EXPECT_EQ(came[0].text, "INSERT INTO q VALUES (@P1, CAST(@P2 AS varbinary(max)))");
  EXPECT_EQ(came[0].declaration, "@P1 BIGINT,@P2 VARBINARY(MAX)");
  ASSERT_EQ(came[0].parameters.size(), 2U);
  EXPECT_EQ(came[0].parameters[0].type, "bigint");
  EXPECT_EQ(came[0].parameters[0].value, tds_value(-5));
  EXPECT_EQ(came[0].parameters[1].type, "varbinary(max)");
  EXPECT_EQ(came[0].parameters[1].value, tds_value("abc"));
}

TEST(tds_server, gets_parameters_unchanged) {
  const tds_server server;
  tds_client client(server.connection_string());
  const std::string text = "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80";
  const std::vector<std::pair<odbc_parameter, tds_value>> cases = {
      {bigint_parameter(INT64_MIN), INT64_MIN},
      {bigint_parameter(INT64_MAX), INT64_MAX},
      {bigint_parameter({}), nullptr},
      {binary_parameter({}), nullptr},
      {binary_parameter(""), ""},
      {binary_parameter(all_bytes()), all_bytes()},
      {binary_parameter(all_bytes(8000)), all_bytes(8000)},
      {binary_parameter(all_bytes(8001)), all_bytes(8001)},
      {binary_parameter(all_bytes(ten_megabytes)), all_bytes(ten_megabytes)},
      {{.sql_type = SQL_BINARY, .size = 16, .bytes = all_bytes(16)}, all_bytes(16)},
      {text_parameter(SQL_WVARCHAR, 4000, text), text},
      {text_parameter(SQL_WLONGVARCHAR, 9000, text), text},
  };
  for (const auto& [given, expected] : cases) {
    client.run("SELECT ?", {given});
    const tds_request came = server.requests().back();
    ASSERT_EQ(came.parameters.size(), 1U);
    EXPECT_TRUE(came.parameters[0].value == expected) << came.declaration;
  }
}

TEST(tds_server, puts_chunks_and_calls_of_one_message_together) {
  using namespace std::string_view_literals;
  tds_writer sent;
  sent.number(std::uint32_t{4});
  for (const bool last : {false, true}) {
    sent.long_text("store").number(std::uint16_t{0}).short_text("@p").number(std::uint8_t{0});
    sent.bytes("\xA5\xFF\xFF\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv);
    for (const std::string_view chunk : {"ab"sv, "c"sv, ""sv}) {
      sent.number(static_cast<std::uint32_t>(chunk.size())).bytes(chunk);
    }
    if (!last) sent.number(std::uint8_t{0xFF});
  }
  const tds_request came = tableq_test::parse({tds_packet::call, sent.all()});
  EXPECT_EQ(came.procedure, "store");
  EXPECT_EQ(came.parameters.at(0).name, "@p");
  EXPECT_EQ(came.parameters.at(0).value, tds_value("abc"));
  ASSERT_EQ(came.further.size(), 1U);
  EXPECT_EQ(came.further[0].parameters.at(0).value, tds_value("abc"));
}

TEST(tds_server, knows_the_statement_behind_a_prepared_one) {
  tds_server server = answering(two_rows());
  tds_client client(server.connection_string());
  const std::size_t mark = server.mark();
  const auto outcome = client.prepare_and_run("SELECT ?", {bigint_parameter(1)}, 2);
  const auto came = server.requests_since(mark);
  ASSERT_EQ(came.size(), 2U);
  EXPECT_EQ(came[0].procedure, "sp_prepexec");
  EXPECT_EQ(came[1].procedure, "sp_execute");
  EXPECT_EQ(came[1].text, "SELECT @P1");
  EXPECT_EQ(came[1].parameters.at(0).value, tds_value(1));
  EXPECT_EQ(outcome.results.size(), 2U);
}

TEST(tds_server, sends_rows_of_every_type) {
  const tds_server server = answering(
      tds_answer()
          .columns({{"i", tds_type::integer},
                    {"b", tds_type::bigint},
                    {"n", tds_type::nvarchar, 20},
                    {"v", tds_type::varbinary, 256},
                    {"m", tds_type::nvarchar_max},
                    {"p", tds_type::varbinary_max}})
          .row({-1, INT64_MAX, "caf\xC3\xA9", all_bytes(), "\xF0\x9F\x98\x80", all_bytes()})
          .row({nullptr, nullptr, nullptr, nullptr, nullptr, nullptr})
          .row({0, 0, "", "", "", ""}));
  tds_client client(server.connection_string());
  for (const auto& with : {std::vector<odbc_parameter>{}, {bigint_parameter(1)}}) {
    const odbc_outcome outcome = client.run(with.empty() ? "SELECT" : "SELECT ?", with);
    ASSERT_EQ(outcome.results.size(), 1U);
    const table& got = outcome.results[0];
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0], (fields{"-1", "9223372036854775807", "caf\xC3\xA9", all_bytes(),
                              "\xF0\x9F\x98\x80", all_bytes()}));
    EXPECT_EQ(got[1], fields(6));
    EXPECT_EQ(got[2], (fields{"0", "0", "", "", "", ""}));
    EXPECT_TRUE(outcome.errors.empty());
  }
}

TEST(tds_server, sends_large_values) {
  const std::string large = all_bytes(ten_megabytes);
  const tds_server server =
      answering(tds_answer().columns({{"p", tds_type::varbinary_max}}).row({large}).row({"x"}));
  tds_client client(server.connection_string());
  const odbc_outcome outcome = client.run("SELECT");
  ASSERT_EQ(outcome.results.size(), 1U);
  ASSERT_EQ(outcome.results[0].size(), 2U);
  EXPECT_TRUE(outcome.results[0][0][0] == large);
  EXPECT_EQ(outcome.results[0][1][0], "x");
}

TEST(tds_server, sends_several_results_with_their_counts_and_messages) {
  const tds_server server = answering(tds_answer()
                                          .info(50001, "to begin with")
                                          .affected(3)
                                          .columns({{"id", tds_type::bigint}})
                                          .row({7})
                                          .columns({{"id", tds_type::bigint}}));
  tds_client client(server.connection_string());
  const odbc_outcome outcome = client.run("SELECT");
  EXPECT_EQ(outcome.results, (std::vector<table>{{}, {{"7"}}, {}}));
  EXPECT_EQ(outcome.counts, (std::vector<std::int64_t>{3, 1, 0}));
  ASSERT_EQ(outcome.notes.size(), 1U);
  EXPECT_EQ(outcome.notes[0].native, 50001);
}

TEST(tds_server, sends_rows_and_then_an_error_that_is_seen_after_the_rows) {
  tds_answer answer = two_rows();
  const tds_server server = answering(answer.error(1205, "deadlock", 13, 51));
  tds_client client(server.connection_string());
  for (const auto& with : {std::vector<odbc_parameter>{}, {bigint_parameter(1)}}) {
    const odbc_outcome outcome = client.run(with.empty() ? "SELECT" : "SELECT ?", with);
    ASSERT_EQ(outcome.results.size(), 1U);
    EXPECT_EQ(outcome.results[0], (table{{"7", "seven"}, {"8", "eight"}}));
    EXPECT_EQ(error_of(outcome), 1205);
  }
}

TEST(tds_server, sends_an_error_alone_and_goes_on) {
  const tds_server server([](const tds_request& asked) {
    return asked.text == "bad" ? tds_answer().error(208, "no such table") : two_rows();
  });
  tds_client client(server.connection_string());
  EXPECT_EQ(error_of(client.run("bad")), 208);
  EXPECT_EQ(client.run("good").results.size(), 1U);
}

TEST(tds_server, refuses_logins) {
  const tds_server wrong({.login = [](const tds_request&) {
    return tds_answer().error(18456, "Login failed for user 'tester'.", 14);
  }});
  EXPECT_EQ(login_refusal(wrong), (std::vector<std::int32_t>{0, 18456}));
  const tds_server missing({.login = [](const tds_request& asked) {
    return tds_answer()
        .error(4060, "Cannot open database \"" + asked.login.database + "\".", 11)
        .error(18456, "Login failed.", 14);
  }});
  EXPECT_EQ(login_refusal(missing), (std::vector<std::int32_t>{0, 4060, 18456}));
  EXPECT_TRUE(missing.left_alone());
}

TEST(tds_server, begins_and_ends_transactions) {
  const tds_server server;
  tds_client client(server.connection_string());
  client.set_autocommit(false);
  client.run("UPDATE");
  EXPECT_EQ(server.requests().back().transaction, 1U);
  EXPECT_TRUE(client.end_transaction(true).empty());
  client.set_autocommit(true);
  client.run("UPDATE");
  EXPECT_EQ(server.requests().back().transaction, 0U);
}

TEST(tds_server, takes_a_transaction_away_when_told_to) {
  const tds_server server =
      answering(tds_answer().error(1205, "deadlock", 13).transaction(tds_change::rolled_back));
  tds_client client(server.connection_string());
  client.set_autocommit(false);
  EXPECT_EQ(error_of(client.run("UPDATE")), 1205);
  const auto ended = client.end_transaction(false);
  ASSERT_FALSE(ended.empty());
  EXPECT_EQ(ended[0].native, 3903);
}

TEST(tds_server, answers_session_set_up_by_itself) {
  const tds_server server = answering(tds_answer().error(50001, "asked"));
  tds_client client(server.connection_string());
  EXPECT_EQ(error_of(client.run("SET NOCOUNT ON; set xact_abort on;\n SET LOCK_TIMEOUT 50")), 0);
  EXPECT_EQ(error_of(client.run("SET NOCOUNT ON; DELETE FROM q")), 50001);
  EXPECT_EQ(error_of(client.run("SETTLE")), 50001);
}

TEST(tds_server, tells_what_is_wrong_with_a_script) {
  const tds_server server([](const tds_request& asked) {
    tds_answer out;
    out.columns({{"id", tds_type::bigint}, {"note", tds_type::nvarchar, 3}});
    return asked.text == "type" ? out.row({"seven", ""}) : out.row({7, "long"});
  });
  tds_client client(server.connection_string());
  EXPECT_EQ(error_of(client.run("type")), 50000);
  EXPECT_EQ(error_of(client.run("size")), 50000);
}

}  // namespace
