#include <gtest/gtest.h>

#include <map>

#include "drivers/sqlserver_fixture.hpp"
#include "support/tds_client.hpp"

namespace {

using tableq_test::tds_answer;
using tableq_test::tds_client;
using tableq_test::tds_request;

/// The tester itself, through a plain client.
class scripted_tds : public tableq_test::on_scripted_sqlserver {};
INSTANTIATE_TEST_SUITE_P(, scripted_tds, tableq_test::both_drivers, tableq_test::name_of_way);

TEST_P(scripted_tds, records_what_comes_and_sends_what_a_test_gives_it) {
  const tableq_test::tds_server server([](const tds_request& asked) {
    return asked.text == "SELECT 1" ? message() : tds_answer().error(208, "none");
  });
  tds_client client(server.connection_string(GetParam().driver));
  const auto got = client.run("SELECT 1");
  EXPECT_EQ(got.results.at(0).at(0).at(3), "seven");
  EXPECT_EQ(client.run("SELECT 2").errors.at(0).native, 208);
  const std::string payload(9000, 'x');
  (void)client.run("SELECT ?", {tableq_test::binary_parameter(payload)});
  const auto last = server.requests().back();
  EXPECT_EQ(last.text, "SELECT @P1");
  EXPECT_TRUE(last.parameters.at(0).value == tableq_test::tds_value(payload));
}

}  // namespace
