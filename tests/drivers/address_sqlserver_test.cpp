#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "core/input/connection_string.hpp"
#include "drivers/dialects.hpp"
#include "drivers/transport/odbc_address.hpp"
#include "drivers/transport/odbc_tds.hpp"
#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::drivers::odbc::tds_address;
using tableq_test::contains;
using tableq_test::percent_encoded;
using tableq_test::thrown_by;

using names = std::vector<std::string>;
const names freetds{"PostgreSQL Unicode", "FreeTDS", "SQLite3"};
const names microsoft{"FreeTDS", "ODBC Driver 17 for SQL Server", "ODBC Driver 18 for SQL Server"};

tds_address odbc_address_of(const std::string& url, const names& installed) {
  return tableq::drivers::odbc::resolve_tds(tableq::core::parse_connection_string(url), "sqlserver",
                                            installed);
}

std::string connect(const std::string& url, const names& installed) {
  return odbc_address_of(url, installed).connect;
}

/// A driver manager's reading of the connection string.
std::map<std::string, std::string> odbc_settings_of(const std::string& url,
                                                    const names& installed) {
  std::map<std::string, std::string> out;
  for (const auto& one : tableq::drivers::odbc::parse(connect(url, installed))) {
    EXPECT_TRUE(out.emplace(one.key, one.value).second) << one.key;
  }
  return out;
}

/// Expects a refusal in the dialect's name, with `word` and without `canary`.
void expect_address_refused(const std::string& url, const std::string& word,
                            const names& installed = microsoft) {
  const tableq::error refused = thrown_by([&] { static_cast<void>(connect(url, installed)); });
  EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << url;
  EXPECT_EQ(refused.advice(), tableq::advice::never) << url;
  EXPECT_EQ(refused.operation(), "connect") << url;
  EXPECT_TRUE(contains(refused.what(), word)) << url << ": " << refused.what();
  EXPECT_FALSE(contains(refused.what(), "canary")) << refused.what();
  EXPECT_FALSE(contains(refused.what(), "nary")) << refused.what();
}

TEST(addresses_of_sqlserver, are_written_for_each_driver) {
  const std::string by_freetds =
      "Driver=FreeTDS;Server=host;Port=1444;Database=app;UID=user;PWD=secret;"
      "TDS_Version=7.4;ClientCharset=UTF-8;";
  const std::string in_time = "DMConnAttr={SQL_ATTR_LOGIN_TIMEOUT=15};";
  const std::string by_microsoft = "Driver={ODBC Driver 18 for SQL Server};Server=tcp:host,";
  const std::string url = "sqlserver://user:secret@host:1444/app";
  EXPECT_EQ(connect(url, freetds), by_freetds + in_time);
  EXPECT_EQ(
      connect(url + "?application_name=a%20b&encrypt=yes&trust_server_certificate=yes", freetds),
      by_freetds + "Encryption=require;APP={a b};" + in_time);
  EXPECT_EQ(connect("mssql://user:secret@host:1444/app", microsoft),
            by_microsoft + "1444;Database=app;UID=user;PWD=secret;");
  EXPECT_EQ(connect("sqlserver://user:secret@host/app?application_name=a%20b&encrypt=strict"
                    "&trust_server_certificate=no",
                    microsoft),
            by_microsoft +
                "1433;Database=app;UID=user;PWD=secret;Encrypt=strict;TrustServerCertificate=no;"
                "APP={a b};");
  EXPECT_EQ(connect("sqlserver://host/app?authentication=windows", microsoft),
            by_microsoft + "1433;Database=app;Trusted_Connection=yes;");
}

TEST(addresses_of_sqlserver, have_the_parts_that_each_driver_wants) {
  struct wanted {
    const char* url;
    const char* of_freetds;
    const char* of_microsoft;
  };
  for (const wanted& each : {
           // The login is encrypted even where the rest is not.
           wanted{"u@h?encrypt=no", "Encryption=request;", "Encrypt=no;"},
           {"u@[::1]:5/d", ";Server=::1;Port=5;", ";Server=tcp:::1,5;"},
           {"u@[fe80::1%25eth0]/d", ";Server=fe80::1%eth0;Port=1433;", "tcp:fe80::1%eth0,1433;"},
           {"u@h/d?instance=sql_1", ";Server=h\\sql_1;Database=d;",
            ";Server=tcp:h\\sql_1;Database=d;"},
           {"u@h%5Csql_1/d", ";Server=h\\sql_1;Database=d;", ";Server=tcp:h\\sql_1;Database=d;"},
           {"u@h\\sql_1/d", ";Server=h\\sql_1;Database=d;", ";Server=tcp:h\\sql_1;Database=d;"},
           {"host/app?authentication=windows", ";Trusted_Connection=yes;",
            "Trusted_Connection=yes;"},
       }) {
    const std::string url = std::string("sqlserver://") + each.url;
    EXPECT_TRUE(contains(connect(url, freetds), each.of_freetds)) << url;
    EXPECT_TRUE(contains(connect(url, microsoft), each.of_microsoft)) << url;
  }
}

TEST(addresses_of_sqlserver, decode_each_part_by_itself) {
  const auto all = odbc_settings_of(
      "sqlserver://a%40b:p%40s%3A%2F%3Fx%2541%25@h/d%2Fb?application_name=x%26y%3D", microsoft);
  EXPECT_EQ(all.at("UID"), "a@b");
  EXPECT_EQ(all.at("PWD"), "p@s:/?x%41%");
  EXPECT_EQ(all.at("SERVER"), "tcp:h,1433");
  EXPECT_EQ(all.at("DATABASE"), "d/b");
  EXPECT_EQ(all.at("APP"), "x&y=");
  EXPECT_EQ(odbc_settings_of("sqlserver://u:a:b@h", microsoft).at("PWD"), "a:b");
}

TEST(addresses_of_sqlserver, have_time_outs_unless_told) {
  EXPECT_EQ(odbc_address_of("sqlserver://u@h", freetds).statement_timeout, 30s);
  EXPECT_EQ(odbc_address_of("sqlserver://u@h?statement_timeout=2m", freetds).statement_timeout,
            2min);
  const auto limit = [](const std::string& url, const std::vector<std::string>& drivers) {
    const auto all = odbc_settings_of(url, drivers);
    const auto found = all.find("DMCONNATTR");
    return found == all.end() ? std::string("the driver's") : found->second;
  };
  EXPECT_EQ(limit("sqlserver://u@h", freetds), "SQL_ATTR_LOGIN_TIMEOUT=15");
  EXPECT_EQ(limit("sqlserver://u@h", microsoft), "the driver's");
  for (const auto& driver : {freetds, microsoft}) {
    EXPECT_EQ(limit("sqlserver://u@h?login_timeout=1500ms", driver), "SQL_ATTR_LOGIN_TIMEOUT=2");
    EXPECT_EQ(limit("sqlserver://u@h?login_timeout=1h", driver), "SQL_ATTR_LOGIN_TIMEOUT=3600");
  }
}

TEST(addresses_of_sqlserver, that_are_wrong_are_refused_by_the_reason_without_being_quoted) {
  const std::multimap<std::string, names> wrong{
      {"`colour`", {"u:canary@h/app?colour=canary"}},
      {"`connect_timeout`", {"u:canary@h/app?encrypt=yes&connect_timeout=5s"}},
      {"`Driver`", {"u:canary@h/app?Driver=canary"}},
      {"`failover_partner`", {"u@h?failover_partner=canary"}},
      {"`password` stands before the question mark: sqlserver://user:password@host",
       {"u@h?password=canary", "h/app?encrypt=yes&password=canary&user=canary"}},
      {"`PWD` stands before", {"u@h?PWD=canary"}},
      {"`encrypt` is given twice", {"u:canary@h/app?encrypt=yes&encrypt=no"}},
      {"encrypt is one of", {"u@h?encrypt=canary"}},
      {"trust_server_certificate", {"u@h?trust_server_certificate=canary"}},
      {"always checks", {"u@h?encrypt=strict&trust_server_certificate=yes"}},
      {"no host", {"", "/canary", "u:canary@/app", "u:canary@:1433/app"}},
      {"no user", {"host/app", "@host/app", ":canary@host/app"}},
      {"leave name and password",
       {"canary@host/app?authentication=windows", ":canary@host/app?authentication=windows"}},
      {"authentication takes windows", {"u@host/app?authentication=canary"}},
      {"either a port or an instance", {"u@h:1/d?instance=canary"}},
      {"twice", {"u@h%5Ccanary/d?instance=canary"}},
      {"no instance", {"u@h%5C/d"}},
      {"without a name", {"u@h/d?instance="}},
      {"instance",
       {"u@h/d?instance=canary,1", "u@h/d?instance=canary;a=b", "u@h/d?instance=canary%5Cb",
        "u@h/d?instance=canary%7D", "u@h/d?instance=canary%0A", "u@h/d?instance=canary%20"}},
      {"cannot be read",
       {"u:canary@nary@h/app",
        "u:ca/nary@h/app",
        "u:1/nary@h/app",
        "h:canary/app",
        "u@h:0/app",
        "u@h:65536/app",
        "u@h:1x/app",
        "u@h:/app",
        "u@ca;nary/app",
        "u@canary%3BPWD%3Dx/app",
        "u@canary,5/app",
        "u@h/canary/more",
        "u:1?nary=1@h/app",
        "u@canary%2C5/app",
        "u@canary h/app",
        "u@[::1/d",
        "u@[]/d",
        "u@[::1]x5/d",
        "u@::1/d",
        "u@[::1]:/d"}},
      {"hexadecimal", {"u:canary%zz@h/app", "u:canary%00@h/app"}},
      {"password holds characters other than ASCII", {"u:canary%C3%A9@h/d"}},
      {"other than ASCII", {"u@h/canary%C3%A9"}}};
  for (const auto& [reason, those] : wrong) {
    for (const std::string& each : those) expect_address_refused("sqlserver://" + each, reason);
  }
  for (const std::string key : {"statement_timeout", "login_timeout"}) {
    for (const char* bad : {"0s", "999ms", "25h", "canary", ""}) {
      const std::string url = "sqlserver://u@h?" + key + "=" + bad;
      const tableq::error refused = thrown_by([&] { static_cast<void>(connect(url, freetds)); });
      EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << url;
      EXPECT_EQ(refused.operation(), "connect") << url;
      EXPECT_EQ(refused.backend(), "sqlserver") << url;
      EXPECT_TRUE(contains(refused.what(), key)) << refused.what();
    }
  }
  for (const char* part : {"canary%0A", "canary%1F", "canary%7F"}) {
    for (const auto& [url, reason] : std::map<std::string, std::string>{
             {"sqlserver://u:*@h/d", "password must not hold control"},
             {"sqlserver://*@h/d", "name must not hold control"},
             {"sqlserver://u@h/*", "name must not hold control"},
             {"sqlserver://u@h/d?application_name=*", "control characters"}}) {
      expect_address_refused(tableq_test::replaced(url, "*", part), reason);
    }
  }
  const std::string longest(128, 'x');
  EXPECT_TRUE(contains(connect("sqlserver://u:" + longest + "@h", freetds), longest));
  for (const char* part : {"sqlserver://*@h/d", "sqlserver://u:*@h/d", "sqlserver://u@h/*",
                           "sqlserver://u@h/d?application_name=*"}) {
    expect_address_refused(tableq_test::replaced(part, "*", longest + "x"), "128");
  }
}

TEST(addresses_of_sqlserver, take_the_newest_of_microsofts_drivers_then_freetds) {
  const auto chosen = [](const names& installed) {
    return odbc_settings_of("sqlserver://u@h", installed).at("DRIVER");
  };
  EXPECT_EQ(chosen({"ODBC Driver 9 for SQL Server", "ODBC Driver 18 for SQL Server",
                    "ODBC Driver 17 for SQL Server", "FreeTDS"}),
            "ODBC Driver 18 for SQL Server");
  EXPECT_EQ(chosen({"SQL Server", "FreeTDS", "SQLite3"}), "FreeTDS");
  EXPECT_EQ(chosen({"SQLite3", "SQL Server Native Client 11.0"}), "SQL Server Native Client 11.0");
  // Or the one that the address names.
  EXPECT_TRUE(connect("sqlserver://u@h?driver=FreeTDS", microsoft).starts_with("Driver=FreeTDS;"));
  EXPECT_EQ(
      odbc_settings_of("sqlserver://u@h?driver=odbc%20driver%2017%20for%20SQL%20server", microsoft)
          .at("DRIVER"),
      "ODBC Driver 17 for SQL Server");
  expect_address_refused("sqlserver://u@h?driver=SQLite3", "not for SQL Server", freetds);
}

TEST(addresses_of_sqlserver, say_which_drivers_were_looked_for_when_none_serves) {
  const names others{"SQLite3", "PostgreSQL Unicode"};
  const std::string usual = "ODBC Driver 18 for SQL Server, ODBC Driver 17 for SQL Server, FreeTDS";
  for (const std::string driver : {"nix", "/canary.so"}) {
    const std::string url = "sqlserver://u:canary@h?driver=" + driver;
    expect_address_refused(url, usual + "; installed of these: none; install", others);
    expect_address_refused(url, usual + "; installed of these: FreeTDS", freetds);
  }
  const tableq::error none = thrown_by([&] { (void)connect("sqlserver://u:canary@h", others); });
  EXPECT_EQ(none.code(), tableq::errc::connection_failed);
  EXPECT_EQ(none.advice(), tableq::advice::never);
  for (const std::string& part : {usual, std::string("tdsodbc"), std::string("msodbcsql18")}) {
    EXPECT_TRUE(contains(none.what(), part)) << none.what();
  }
  EXPECT_FALSE(contains(none.what(), "PostgreSQL")) << none.what();
}

TEST(addresses_of_sqlserver, are_refused_where_the_driver_cannot_do_what_is_asked) {
  expect_address_refused("sqlserver://u@h?encrypt=strict", "encrypt=strict", freetds);
  expect_address_refused("sqlserver://u@h?trust_server_certificate=no", "does not check", freetds);
  expect_address_refused("sqlserver://u@h?encrypt=strict", "18",
                         {"ODBC Driver 17 for SQL Server", "SQLite3"});
}

TEST(addresses_of_sqlserver, keep_every_password_in_one_piece) {
  for (const std::string& hard :
       {std::string("a;b"), std::string(";"), std::string("="), std::string("{"), std::string("{a"),
        std::string(" a "), std::string("\"a'b"), std::string(";Driver=x"), std::string("PWD=x;"),
        std::string("@:/?%&#"), std::string("a}"), std::string("}}"), std::string("a}b=c"),
        std::string(" }a "), std::string("***")}) {
    for (const auto& installed : {freetds, microsoft}) {
      const auto all =
          odbc_settings_of("sqlserver://u:" + percent_encoded(hard) + "@h/d", installed);
      EXPECT_EQ(all.at("PWD"), hard);
      EXPECT_EQ(all.at("UID"), "u") << hard;
      EXPECT_EQ(all.size(), installed == freetds ? 9U : 5U) << hard;
    }
  }
}

TEST(addresses_of_sqlserver, with_a_password_that_freetds_cannot_be_told_are_refused) {
  for (const char* hard : {"canary};x", "canary;}", "{canary}", "};Driver=canary;a={"}) {
    const std::string url = "sqlserver://u:" + percent_encoded(hard) + "@h/d";
    expect_address_refused(url, "the password holds }", freetds);
    EXPECT_EQ(odbc_settings_of(url, microsoft).at("PWD"), hard);
    expect_address_refused("sqlserver://u@h/" + percent_encoded(hard), "the database holds }",
                           freetds);
  }
}

#if defined(TABLEQ_WITH_SQLSERVER)
TEST(addresses_of_sqlserver, belong_to_the_dialect) {
  const tableq::dialect definition = tableq::drivers::make_sqlserver_dialect();
  EXPECT_EQ(definition.schemes, (names{"sqlserver", "mssql"}));
  const auto wrong = tableq::core::parse_connection_string("sqlserver://u:canary@h?colour=canary");
  const tableq::error refused =
      thrown_by([&] { static_cast<void>(definition.resolve(definition, wrong)); });
  EXPECT_EQ(refused.backend(), "sqlserver");
  EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
}
#endif

}  // namespace
