#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::error;
using tableq_test::names_of;
using tableq_test::tds_answer;
using tableq_test::thrown_by;

class sqlserver_advice : public tableq_test::on_each_address {};
INSTANTIATE_TEST_SUITE_P(, sqlserver_advice, testing::Bool(), tableq_test::address_name);

TEST_P(sqlserver_advice, what_advises_another_session_is_repeated_on_one) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  script_.once("fifo.enqueue", tds_answer().error(40613, "not available", 17));
  EXPECT_EQ(names_of(sent_by([&] { fifo.enqueue("p"); })), "fifo.enqueue login setup fifo.enqueue");
}

TEST_P(sqlserver_advice, an_idle_loss_is_told_in_words_of_ones_own) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  server_.cut_all();
  ASSERT_TRUE(server_.left_alone());
  const std::string said = thrown_by([&] { fifo.enqueue("p"); }).what();
  EXPECT_NE(said.find("the connection to the server broke, or"), std::string::npos) << said;
}

class sqlserver_login_advice : public tableq_test::on_scripted_sqlserver {};

TEST_F(sqlserver_login_advice, a_failover_at_login_is_told_as_one) {
  script_.always("login", tds_answer().error(40613, "not available", 14));
  const error failed = thrown_by([&] { (void)open(0ms); });
  EXPECT_EQ(to_string(failed.code()), "busy");
  EXPECT_NE(std::string(failed.what()).find("accepts no requests now"), std::string::npos)
      << failed.what();
}

}  // namespace
