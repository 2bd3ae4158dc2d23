#include <optional>
#include <thread>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::advice;
using tableq::errc;
using tableq::error;
using tableq_test::canary_password;
using tableq_test::names_of;
using tableq_test::odbc_address;
using tableq_test::sqlserver_address;
using tableq_test::tds_answer;
using tableq_test::tds_server;
using tableq_test::thrown_by;

error refusal_of(const std::string& address) {
  const error failed =
      thrown_by([&] { (void)tableq::database::open(address, {.retry_for = 0ms}); });
  const std::string said = failed.what();
  EXPECT_EQ(said.find(canary_password), std::string::npos) << said;
  return failed;
}

bool says(const error& failed, std::string_view part) {
  return std::string_view(failed.what()).find(part) != std::string_view::npos;
}

/// Failures to open a session.
class sqlserver_login : public tableq_test::on_each_address {};
INSTANTIATE_TEST_SUITE_P(, sqlserver_login, testing::Bool(), tableq_test::address_name);

/// Only if the address names the dialect, which is then known before the first session.
class sqlserver_login_by_uri : public tableq_test::on_scripted_sqlserver {};

TEST_P(sqlserver_login, hands_user_password_and_database_on) {
  (void)open(0ms);
  const auto came = server_.requests();
  ASSERT_FALSE(came.empty());
  EXPECT_EQ(came[0].login.user, "tester");
  EXPECT_EQ(came[0].login.password, canary_password);
  EXPECT_EQ(came[0].login.database, "app");
}

TEST_P(sqlserver_login, that_is_refused_is_told_at_once_and_not_repeated) {
  for (const int number : {18456, 18452, 18470, 18486, 18487, 18488}) {
    script_.always("login", tds_answer().error(number, "Login failed for 'tester'.", 14));
    const auto came = sent_by([&] {
      const error failed =
          thrown_by([&] { (void)tableq::database::open(address(), {.retry_for = 10s}); });
      EXPECT_EQ(to_string(failed.code()), "connection_failed") << number;
      EXPECT_EQ(failed.operation(), "connect");
      EXPECT_EQ(failed.native(), number);
    });
    EXPECT_EQ(names_of(came), "login") << number;
  }
}

TEST_P(sqlserver_login, that_is_refused_does_not_show_the_password_that_the_server_quotes) {
  for (const int number : {18456, 50123}) {
    const std::string words = "No, " + std::string(canary_password) + " is not it.";
    script_.always("login", tds_answer().error(number, words, 14));
    EXPECT_EQ(to_string(refusal_of(address()).code()), "connection_failed");
  }
}

TEST_F(sqlserver_login_by_uri, that_is_refused_is_told_in_words_of_ones_own) {
  for (const int number : {18456, 18452, 18470, 18486, 18487, 18488}) {
    script_.always("login", tds_answer().error(number, "Login failed for 'user-canary'.", 14));
    const error failed = refusal_of(address());
    EXPECT_EQ(to_string(failed.advice()), "never") << number;
    EXPECT_FALSE(says(failed, "canary")) << failed.what();
    EXPECT_TRUE(says(failed, "login")) << failed.what();
  }
}

TEST_P(sqlserver_login, to_a_database_that_does_not_exist_is_refused) {
  script_.always("login", tds_answer()
                              .error(4060, "Cannot open database \"app\".", 11)
                              .error(18456, "Login failed.", 14));
  const error failed = refusal_of(address());
  EXPECT_EQ(to_string(failed.code()), "connection_failed");
  EXPECT_TRUE(failed.native() == 4060 || failed.native() == 18456) << failed.native();
}

TEST_P(sqlserver_login, where_nobody_listens_tells_what_to_check) {
  std::optional<tds_server> closed(std::in_place);
  const std::string there = GetParam() ? odbc_address(*closed) : sqlserver_address(*closed);
  closed.reset();
  const error failed = refusal_of(there);
  EXPECT_EQ(to_string(failed.code()), "connection_failed");
  EXPECT_EQ(to_string(failed.advice()), "session");
  EXPECT_TRUE(says(failed, "firewall, encryption")) << failed.what();
}

TEST_P(sqlserver_login, that_the_server_cuts_short_has_failed) {
  script_.always("login", tds_answer().cut());
  EXPECT_EQ(to_string(refusal_of(address()).code()), "connection_failed");
}

TEST_F(sqlserver_login_by_uri, that_the_server_does_not_answer_ends_after_the_addresss_time) {
  const tableq_test::tds_gate never;
  script_.always("login", tds_answer().wait(never));
  const error failed = refusal_of(sqlserver_address(server_, "&login_timeout=1s"));
  EXPECT_EQ(to_string(failed.code()), "connection_failed");
  EXPECT_TRUE(says(failed, "the login")) << failed.what();
  EXPECT_EQ(to_string(failed.advice()), "session");
}

TEST_P(sqlserver_login, whose_settings_the_server_cuts_short_has_failed) {
  script_.always("setup", tds_answer().cut());
  const error failed = refusal_of(address());
  EXPECT_EQ(to_string(failed.code()), "connection_failed");
  EXPECT_EQ(to_string(failed.advice()), "session");
}

TEST_P(sqlserver_login, to_a_server_or_database_too_old_says_what_is_needed) {
  for (const auto& [number, needed] :
       {std::pair{52016, "SQL Server 2016"}, std::pair{52130, "compatibility level 130"}}) {
    script_.always("setup", tds_answer().error(number, "too old for canary"));
    std::optional<error> failed;
    const auto came = sent_by([&] { failed = refusal_of(address()); });
    EXPECT_TRUE(names_of(came).ends_with("login setup")) << names_of(came);
    EXPECT_EQ(to_string(failed->code()), "unsupported");
    EXPECT_EQ(to_string(failed->advice()), "never");
    EXPECT_EQ(failed->native(), number);
    EXPECT_TRUE(says(*failed, needed) && !says(*failed, "canary")) << failed->what();
  }
}

TEST_P(sqlserver_login, through_a_driver_that_is_not_installed_names_those_that_are) {
  std::string there = address();
  const std::string named = GetParam() ? "Driver=FreeTDS" : "driver=FreeTDS";
  there.replace(there.find(named), named.size(), named.substr(0, 7) + "Nonesuch");
  std::optional<error> failed;
  EXPECT_TRUE(sent_by([&] { failed = refusal_of(there); }).empty());
  EXPECT_EQ(to_string(failed->code()), "connection_failed");
  EXPECT_EQ(to_string(failed->advice()), "never");
  EXPECT_TRUE(says(*failed, "FreeTDS")) << failed->what();
}

TEST_P(sqlserver_login, that_fails_later_is_told_and_the_password_is_not) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  script_.once("fifo.peek", tds_answer().cut());
  EXPECT_CODE(connection_lost, (void)fifo.peek());
  script_.once("login", tds_answer().error(18456, "Login failed for 'user-canary'.", 14));
  const error failed = thrown_by([&] { fifo.enqueue("p"); });
  EXPECT_EQ(to_string(failed.code()), "connection_failed");
  EXPECT_EQ(to_string(failed.advice()), "never");
  EXPECT_EQ(failed.native(), 18456);
  EXPECT_FALSE(says(failed, "canary")) << failed.what();
  // In the pause before the next login, calls send nothing and get the refusal.
  const auto came = sent_by([&] {
    for (bool stored = false; !stored; std::this_thread::yield()) {
      try {
        fifo.enqueue("p");
        stored = true;
      } catch (const error& again) {
        EXPECT_EQ(again.native(), 18456);
      }
    }
  });
  EXPECT_EQ(names_of(came), "login setup fifo.enqueue");
}

TEST_P(sqlserver_login, that_a_failover_refuses_is_tried_again_later) {
  auto db = open(10s);
  auto fifo = db.fifo("fifo");
  script_.once("fifo.peek", tds_answer().cut());
  for (int i = 0; i < 2; ++i) {
    script_.once("login", tds_answer().error(40613, "Database 'app' is not available.", 14));
  }
  EXPECT_EQ(names_of(sent_by([&] { EXPECT_TRUE(fifo.peek().empty()); })),
            "fifo.peek login login login setup fifo.peek");
}

}  // namespace
