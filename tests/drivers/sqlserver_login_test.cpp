#include <chrono>
#include <semaphore>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "drivers/sqlserver_fixture.hpp"
#include "drivers/tls_end.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::error;

/// Failures to open a session.
class sqlserver_login : public on_scripted_sqlserver {
 protected:
  /// Expects a failed connection, with `word` and without the password.
  static error refusal_of(const std::string& address, std::string_view word) {
    const error failed =
        thrown_by([&] { (void)tableq::database::open(address, {.retry_for = 0ms}); });
    EXPECT_EQ(to_string(failed.code()), "connection_failed") << failed.what();
    EXPECT_FALSE(contains(failed.what(), canary_password)) << failed.what();
    EXPECT_TRUE(contains(failed.what(), word)) << failed.what();
    return failed;
  }
  /// The option of an address, in the form of this way.
  [[nodiscard]] std::string option(const char* encrypt) const {
    if (!GetParam().by_odbc) return std::string("&encrypt=") + encrypt;
    const bool yes = encrypt == std::string_view("yes");
    if (GetParam().microsoft()) return std::string("Encrypt=") + encrypt + ";";
    return yes ? "Encryption=require;" : "Encryption=off;";
  }
  /// The first value of a key counts; that of the server's own string is left out.
  [[nodiscard]] std::string address_with(const tds_server& server, const char* encrypt) const {
    std::string out = address_at(server, option(encrypt));
    for (const char* usual : {";Encrypt=no", ";Encryption=off"}) {
      if (out.ends_with(usual)) out.resize(out.size() - std::string_view(usual).size());
    }
    return out;
  }
  [[nodiscard]] std::string at_port(const std::string& port) const {
    return replaced(address(), std::to_string(server_.port()), port);
  }
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_login, all_ways, name_of_way);

TEST_P(sqlserver_login, that_is_refused_is_told_at_once_and_not_repeated) {
  for (const int number : {18456, 18470, 911, 4060, 31337}) {  // no rule covers the last
    script_.always("login", tds_answer().error(
                                number, "No, " + std::string(canary_password) + " is not it.", 14));
    const std::string told = "(number " + std::to_string(number) + ")";
    EXPECT_EQ(names_of(sent_by([&] { EXPECT_EQ(refusal_of(address(), told).native(), number); })),
              "login");
  }
  script_.always("login", tds_answer().error(40613, "not available", 14));
  if (!GetParam().by_odbc) {  // which has no dialect before the login
    EXPECT_CODE(busy, (void)open(0ms)) << "a failover";
  }
  script_.always("login", tds_answer());
  script_.always("setup", tds_answer().error(52016, "too old for canary"));
  const error old = thrown_by([&] { (void)open(0ms); });
  EXPECT_EQ(to_string(old.code()), "unsupported");
  EXPECT_TRUE(contains(old.what(), "SQL Server 2016")) << old.what();
}

TEST_P(sqlserver_login, that_is_refused_later_does_not_end_a_worker) {
  auto db = open(0ms);
  std::counting_semaphore<> handled(0);
  std::counting_semaphore<> troubles(0);
  tableq::worker work(db.claim("claim"),
                      [&](const tableq::delivery&) {
                        handled.release();
                        return tableq::handled::completed();
                      },
                      {.observe = [&](const tableq::worker_event& each) {
                        if (each.what == tableq::worker_event::kind::trouble) troubles.release();
                      }});
  const auto handles_one = [&] {
    script_.once("claim.take",
                 with_columns(delivery_columns)
                     .row({1, 5, 1, 0, 1000, 1000, 31000, nullptr, nullptr, 0, nullptr, "p", 0}));
    return handled.try_acquire_for(tds_server::patience);
  };
  ASSERT_TRUE(handles_one());
  // As while a database of Azure gets other resources.
  for (const int number : {18456, 4060, 40613}) {
    script_.always("login", tds_answer().error(number, "Not now.", 14));
    while (troubles.try_acquire()) {
    }
    server_.cut_all();
    // The lost session, a refused login, and what the next call hears.
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(troubles.try_acquire_for(tds_server::patience));
    script_.always("login", tds_answer());
    ASSERT_TRUE(handles_one()) << number;
  }
}

#if defined(__GLIBC__)
TEST_P(sqlserver_login, that_is_refused_again_and_again_keeps_no_memory) {
  script_.always("login", tds_answer().error(4060, "No.", 14));
  const auto after = [&](int times) {
    for (int i = 0; i < times; ++i) static_cast<void>(refusal_of(address(), ""));
    return ::mallinfo2().uordblks;
  };
  const std::size_t before = after(5);
  EXPECT_LT(after(50), before + 1'000'000) << "SOCI alone keeps 2 to 4 MB";
}
#endif

TEST_P(sqlserver_login, that_ends_or_hangs_has_failed_in_time) {
  for (const char* step : {"login", "setup"}) {
    script_.once(step, tds_answer().cut());
    static_cast<void>(refusal_of(address(), ""));
  }
  if (GetParam().by_odbc) return;  // an address without a time-out
  script_.always("login", tds_answer().wait());
  const auto begun = std::chrono::steady_clock::now();
  (void)refusal_of(address("&login_timeout=1s"), "the login in time");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
}

TEST_P(sqlserver_login, at_a_wrong_port_or_an_unknown_host_says_so) {
  // A connection string has its time-out from the driver manager.
  const std::string limit =
      GetParam().by_odbc ? "DMConnAttr={SQL_ATTR_LOGIN_TIMEOUT=1};" : "&login_timeout=1s";
  const std::string port = std::to_string(server_.port());
  const error wrong = refusal_of(replaced(address(limit), port, "1"), "nothing answers at");
  EXPECT_EQ(to_string(wrong.advice()), "session");
  EXPECT_EQ(contains(wrong.what(), "login_timeout"), GetParam().microsoft() && !GetParam().by_odbc)
      << "only where it is an option and has run out: " << wrong.what();
  (void)refusal_of(replaced(address(limit), "127.0.0.1", "no-such-host.invalid"),
                   "the host's name is unknown");
}

TEST_P(sqlserver_login, without_encryption_where_it_is_demanded_names_the_option) {
  (void)refusal_of(address_with(server_, "yes"), "encrypt=no");
  EXPECT_TRUE(server_.requests().empty()) << "no password crosses the wire";
}

TEST_P(sqlserver_login, that_ends_in_the_handshake_of_tls_has_failed) {
  tds_server closing({.encryption = 3});
  for (const char* encrypt : {"yes", "no"}) (void)refusal_of(address_with(closing, encrypt), "");
  EXPECT_TRUE(closing.requests().empty());
}

TEST_P(sqlserver_login, to_a_certificate_that_nobody_signed_names_it_and_the_option) {
  const tls_end end(server_.port());
  const auto behind = [&](std::string address) {
    return replaced(std::move(address), std::to_string(server_.port()), end.port());
  };
  const std::string strict = behind(address_with(server_, "yes"));
  if (GetParam().microsoft()) {  // FreeTDS checks no certificate
    const error failed = refusal_of(strict, "certificate");
    EXPECT_EQ(to_string(failed.advice()), "never");
    EXPECT_TRUE(contains(failed.what(), "trust_server_certificate=yes")) << failed.what();
    EXPECT_TRUE(server_.requests().empty());
  }
  const std::string trusting =
      !GetParam().microsoft() ? strict
      : GetParam().by_odbc    ? replaced(strict, "odbc://", "odbc://TrustServerCertificate=yes;")
                              : strict + "&trust_server_certificate=yes";
  auto db = tableq::database::open(trusting, {.retry_for = 0ms});
  db.fifo("fifo").enqueue("encrypted");
  EXPECT_EQ(read_call(server_.requests().back()).items.at(0).at("payload"), tds_value("encrypted"));
}

TEST_P(sqlserver_login, with_mars_that_the_server_does_not_have_is_refused_in_time) {
  if (!GetParam().by_odbc || !GetParam().microsoft()) return;  // no such option
  (void)refusal_of(address("MARS_Connection=yes;"), "");
}

TEST_P(sqlserver_login, through_a_driver_that_is_not_installed_names_those_that_are) {
  const std::string named = GetParam().by_odbc
                                ? "Driver={" + std::string(GetParam().driver) + "}"
                                : "driver=" + percent_encoded(std::string(GetParam().driver));
  const std::string wrong = replaced(address(), named, named.substr(0, 7) + "Nonesuch");
  const error failed = thrown_by([&] { (void)tableq::database::open(wrong, {.retry_for = 0ms}); });
  EXPECT_EQ(to_string(failed.code()), "invalid_argument") << failed.what();
  EXPECT_TRUE(contains(failed.what(), "FreeTDS")) << failed.what();
}

}  // namespace
