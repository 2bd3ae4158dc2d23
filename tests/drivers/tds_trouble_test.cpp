#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "drivers/tds_fixture.hpp"

namespace {

using tableq_test::answering;
using tableq_test::bigint_parameter;
using tableq_test::error_of;
using tableq_test::odbc_outcome;
using tableq_test::table;
using tableq_test::tds_answer;
using tableq_test::tds_client;
using tableq_test::tds_gate;
using tableq_test::tds_kind;
using tableq_test::tds_request;
using tableq_test::tds_server;
using tableq_test::tds_type;
using tableq_test::two_rows;

TEST(tds_server_in_trouble, cuts_connections_where_it_is_told_to) {
  const std::vector<std::pair<tds_answer, std::size_t>> cases = {
      {tds_answer().cut(), 0},
      {two_rows().cut(), 2},
      {two_rows().cut_in_row({9, "nine"}, 11), 2},
      {tds_answer(two_rows()).cut_after_bytes(0), 0},
  };
  for (const auto& [answer, rows] : cases) {
    const tds_server server = answering(answer);
    tds_client client(server.connection_string());
    const odbc_outcome outcome = client.run("SELECT");
    EXPECT_NE(error_of(outcome), 0);
    EXPECT_EQ(outcome.results.empty() ? 0 : outcome.results[0].size(), rows);
    EXPECT_TRUE(client.dead());
    EXPECT_TRUE(server.left_alone());
  }
}

TEST(tds_server_in_trouble, leaves_an_error_after_any_number_of_bytes) {
  std::atomic<std::size_t> bytes = 0;
  const tds_server server(
      [&](const tds_request&) { return two_rows().cut_after_bytes(bytes.load()); });
  bool whole = false;
  for (; !whole && bytes < 1000; ++bytes) {
    tds_client client(server.connection_string());
    const odbc_outcome outcome = client.run("SELECT ?", {bigint_parameter(1)});
    whole = outcome.errors.empty();
    const std::vector<table> complete{{{"7", "seven"}, {"8", "eight"}}};
    EXPECT_TRUE(!whole || outcome.results == complete);
  }
  EXPECT_TRUE(whole);
  EXPECT_GT(bytes, 100U);
}

TEST(tds_server_in_trouble, holds_an_answer_until_its_gate_opens) {
  tds_gate before;
  tds_gate within;
  const tds_server server = answering(
      tds_answer().wait(before).columns({{"id", tds_type::bigint}}).row({1}).wait(within).row({2}));
  tds_client client(server.connection_string());
  auto outcome = std::async(std::launch::async, [&] { return client.run("SELECT"); });
  EXPECT_TRUE(before.reached());
  EXPECT_FALSE(within.reached(std::chrono::milliseconds(0)));
  before.open();
  EXPECT_TRUE(within.reached());
  within.open();
  EXPECT_EQ(outcome.get().results, (std::vector<table>{{{"1"}, {"2"}}}));
}

TEST(tds_server_in_trouble, acknowledges_a_time_out_and_goes_on) {
  const tds_gate never;
  const tds_server server([&](const tds_request& asked) {
    tds_answer rows = two_rows();
    return asked.text == "no rows"     ? tds_answer().wait(never)
           : asked.text == "some rows" ? rows.wait(never)
                                       : rows;
  });
  tds_client client(server.connection_string());
  client.set_query_timeout(1);
  for (const char* text : {"no rows", "some rows"}) {
    const std::size_t mark = server.mark();
    const odbc_outcome slow = client.run(text);
    ASSERT_FALSE(slow.errors.empty());
    EXPECT_EQ(slow.errors[0].state, "HYT00");
    const auto came = server.requests_since(mark);
    ASSERT_EQ(came.size(), 2U);
    EXPECT_EQ(came[1].kind, tds_kind::attention);
    EXPECT_EQ(client.run("quick").results.size(), 1U);
  }
}

TEST(tds_server_in_trouble, serves_several_clients_at_once) {
  tds_gate gate;
  const tds_server server([&](const tds_request& asked) {
    tds_answer out;
    if (asked.text == "slow") out.wait(gate);
    return out.columns({{"id", tds_type::bigint}})
        .row({static_cast<std::int64_t>(asked.connection)});
  });
  tds_client first(server.connection_string());
  tds_client second(server.connection_string());
  EXPECT_EQ(server.open_connections(), 2U);
  auto slow = std::async(std::launch::async, [&] { return first.run("slow"); });
  EXPECT_TRUE(gate.reached());
  EXPECT_EQ(second.run("quick").results, (std::vector<table>{{{"2"}}}));
  gate.open();
  EXPECT_EQ(slow.get().results, (std::vector<table>{{{"1"}}}));
}

TEST(tds_server_in_trouble, ends_in_spite_of_clients_that_stay) {
  tds_gate never;
  std::optional<tds_server> server(std::in_place,
                                   [&](const tds_request&) { return tds_answer().wait(never); });
  tds_client idle(server->connection_string());
  tds_client waiting(server->connection_string());
  auto outcome = std::async(std::launch::async, [&] { return waiting.run("slow"); });
  EXPECT_TRUE(never.reached());
  server.reset();
  EXPECT_NE(error_of(outcome.get()), 0);
  EXPECT_NE(idle.run("SELECT").errors.size(), 0U);
}

TEST(tds_server_in_trouble, goes_down_and_comes_back) {
  tds_server server = answering(two_rows());
  tds_client before(server.connection_string());
  server.cut_all();
  EXPECT_TRUE(server.left_alone());
  EXPECT_FALSE(before.run("SELECT").errors.empty());
  tds_client after(server.connection_string());
  EXPECT_TRUE(after.run("SELECT").errors.empty());
}

}  // namespace
