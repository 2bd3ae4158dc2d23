#include "drivers/transport/odbc_address.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/input/connection_string.hpp"
#include "drivers/transport/odbc_drivers.hpp"
#include "drivers/transport/odbc_records.hpp"
#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq::drivers::odbc;
namespace odbc = tableq::drivers::odbc;
using tableq_test::contains;
using tableq_test::thrown_by;

const std::vector<std::string> hard{"",
                                    ";",
                                    "{",
                                    "}",
                                    "}}",
                                    "};",
                                    "{a}",
                                    "{a;b}",
                                    "a}b",
                                    "a};Driver=x;b={",
                                    " a",
                                    "a ",
                                    "a=b",
                                    "=",
                                    "\"a\"",
                                    "'",
                                    "a,b",
                                    "[a]",
                                    "Driver=x;PWD=",
                                    "a\\",
                                    "{{",
                                    "}}};",
                                    ";;;",
                                    "a b",
                                    "*?!@()",
                                    "DSN=x;UID=y"};

TEST(odbc_values, come_back_as_they_were) {
  for (const std::string& value : hard) {
    builder text;
    text.add("A", "1").add("PWD", odbc::quoted(value)).add("B", "2");
    const auto all = parse(text.text());
    ASSERT_EQ(all.size(), 3U) << text.text();
    EXPECT_EQ(all[1].value, value);
    EXPECT_EQ(all[1].written, odbc::quoted(value));
    EXPECT_EQ(all[2].value, "2") << text.text();
  }
}

TEST(odbc_address, of_each_session_is_another_for_the_driver_manager) {
  for (const std::string given : {"Driver=x;PWD={a;b}", ";DSN=y;UID=z;", "Driver=x;PWD={open"}) {
    const std::string one = unshared(given);
    EXPECT_NE(one, unshared(given));
    const auto before = parse(given);
    const auto after = parse(one);
    ASSERT_EQ(after.size(), before.size() + 1) << one;
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(after[i + 1].key, before[i].key);
      EXPECT_EQ(after[i + 1].written, before[i].written);
    }
  }
}

TEST(odbc_values, have_a_form_without_doubled_braces_or_none) {
  EXPECT_EQ(quoted_without_doubling(""), "");
  EXPECT_EQ(quoted_without_doubling("a;{b"), "{a;{b}");
  EXPECT_EQ(quoted_without_doubling("{b"), "{{b}");
  EXPECT_EQ(quoted_without_doubling("a}b{ "), "a}b{ ");
  EXPECT_EQ(quoted_without_doubling("a}}"), "a}}");
  for (const char* none : {"};", ";}", "{}", "{a}b", "a;b}c"}) {
    EXPECT_FALSE(quoted_without_doubling(none)) << none;
  }
}

TEST(odbc_connection_strings, are_read_as_driver_managers_do) {
  const auto all = parse(";; dsn = x ;Pwd={a;b}}c} ;EMPTY=;last={never closed; a=b");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].key, "DSN");
  EXPECT_EQ(all[0].value, " x ");
  EXPECT_EQ(all[1].key, "PWD");
  EXPECT_EQ(all[1].value, "a;b}c");
  EXPECT_EQ(all[1].written, "{a;b}}c}");
  EXPECT_EQ(all[2].value, "");
  EXPECT_EQ(all[3].key, "LAST");
  EXPECT_EQ(all[3].value, "never closed; a=b");
  for (const char* none : {"", ";", "   ", "word", ";word;"}) EXPECT_TRUE(parse(none).empty());
}

TEST(odbc_connection_strings, of_microsofts_driver_turn_its_recovery_off) {
  for (const char* plain : {"Driver={ODBC Driver 18 for SQL Server};Server=h",
                            "Server=h;driver=ODBC Driver 17 for SQL Server",
                            "Driver=/opt/lib/libmsodbcsql-18.6.so.2.1;Server=h"}) {
    EXPECT_EQ(with_needs(plain), std::string("ConnectRetryCount=0;") + plain);
  }
  for (const char* as_given :
       {"Driver=FreeTDS;Server=h", "DSN=x", "Driver=PostgreSQL Unicode",
        "Driver={ODBC Driver 18 for SQL Server};connectretrycount=5;Server=h"}) {
    EXPECT_EQ(with_needs(as_given), as_given);
  }
}

TEST(odbc_drivers, have_their_ways_by_the_names_of_their_libraries) {
  for (const char* name : {"libmsodbcsql-18.3.so.2.1", "MSODBCSQL18.DLL", "sqlncli11.dll"}) {
    EXPECT_TRUE(ways_of(name).unlimited && ways_of(name).attention.count() > 0) << name;
  }
  for (const char* name : {"libtdsodbc.so", "psqlodbcw.so", "sqlite3odbc.so", ""}) {
    EXPECT_FALSE(ways_of(name).unlimited || ways_of(name).recovers) << name;
  }
  for (const std::size_t length : {0U, 1U, 8001U}) {
    EXPECT_EQ(type_of_bytes(true, length).size, 0U);  // SQL_SS_LENGTH_UNLIMITED
    EXPECT_EQ(type_of_bytes(false, length).size, std::max<std::size_t>(length, 1));
  }
  EXPECT_EQ(type_of_text(true, 4001).size, 0U);
  EXPECT_EQ(type_of_text(false, 4001).type, SQL_WLONGVARCHAR);
}

TEST(odbc_secrets, are_taken_out_of_a_sentence_wherever_they_stand) {
  EXPECT_EQ(without_secrets("login with s3cret, s3cret!", "UID=u;PWD=s3cret"),
            "login with ***, ***!");
  EXPECT_EQ(without_secrets("s3cret", "uid=u; Password = s3cret "), "***");
  EXPECT_EQ(without_secrets("s3cret", "uid=u; Password =s3cret"), "***");
  for (const char* key : {"PWD", "pwd", "Password", "PASSWD", "OldPassword", "SSLKEYPASSWORD",
                          "KeystoreSecret", "AccessToken", "PassPhrase", "PRIV_KEY_FILE_PWD"}) {
    EXPECT_EQ(without_secrets("is s3cret", std::string("A=b;") + key + "=s3cret;C=d"), "is ***")
        << key;
  }
  EXPECT_EQ(without_secrets("no user user1 at host", "UID=user1;PWD=s3cret;Server=host"),
            "no user user1 at host");
}

TEST(odbc_secrets, are_hidden_in_every_form_that_a_driver_may_show) {
  const std::string text = "UID=u;PWD={se;cr}}3t x};";
  EXPECT_EQ(without_secrets("bad: " + text, text), "bad: UID=u;PWD=***;");
  EXPECT_EQ(without_secrets("bad: se;cr}3t x", text), "bad: ***");
  EXPECT_EQ(without_secrets("bad: se;cr}}3t x", text), "bad: ***");
  EXPECT_EQ(without_secrets("bad: cr}3t x", text), "bad: ***");
  for (const std::string& value : hard) {
    const std::string secret = "1can" + value + "ary1";
    const std::string connect = builder().add("UID", "u").add("PWD", odbc::quoted(secret)).text();
    for (const std::string& said : {"<" + secret + ">", "<" + connect + ">"}) {
      const std::string told = without_secrets(said, connect);
      EXPECT_FALSE(contains(told, "1can")) << told;
      EXPECT_FALSE(contains(told, "ary1")) << told;
    }
  }
}

TEST(odbc_secrets, that_overlap_leave_no_piece) {
  EXPECT_EQ(without_secrets("<1a1a1a1>", "PWD=1a1a1"), "<***>");
  EXPECT_EQ(without_secrets("<12345678>", "PWD=12345;Token=45678"), "<***>");
}

TEST(odbc_secrets, that_stars_would_betray_take_the_sentence_with_them) {
  for (const char* weak : {"a", "in", "abc", "1", "login", "password", "PassWord", "***"}) {
    const std::string said = std::string("login failed, password ") + weak + " in abc1";
    const std::string told = without_secrets(said, std::string("UID=u;PWD=") + weak);
    EXPECT_TRUE(contains(told, "withheld")) << told;
    EXPECT_FALSE(contains(told, "abc1")) << told;
  }
  EXPECT_EQ(without_secrets("login failed", "UID=u;PWD=z"), "login failed");
  EXPECT_EQ(without_secrets("login failed", "UID=u;PWD="), "login failed");
  EXPECT_EQ(without_secrets("login failed", ""), "login failed");
  EXPECT_EQ(without_secrets("", "PWD=z"), "");
}

TEST(odbc_connection_strings, that_are_wrong_are_told_by_what_is_missing) {
  struct wrong {
    const char* connect;
    const char* sqlstate;
    const char* told;
  };
  for (const wrong& each : {
           wrong{"UID=u;PWD=canary", "IM002", "begin it with Driver=NAME"},
           {"DSN=;UID=u", "IM002", "begin it with Driver=NAME"},
           {"DSN=canary;UID=u", "IM002", "no data source"},
           {"Driver=canary;Server=h", "01000", "no ODBC driver has the name"},
           {"Driver=FreeTDS;UID=u", "08S01", "add Server=host;Port=1433"},
           {"Driver={ODBC Driver 18 for SQL Server};Host=h", "08001", "add Server=host,1433"},
           // Nothing is missing: the reason is another.
           {"Driver=FreeTDS;Servername=h", "08001", ""},
           {"DSN=x", "08001", ""},
           {"Driver=SQLite3", "01000", ""},
           {"Driver=/canary.so;Server=h", "01000", ""},
       }) {
    const std::string told = mistake_in(each.connect, {.sqlstate = each.sqlstate});
    EXPECT_TRUE(contains(told, each.told) && told.empty() == (*each.told == 0))
        << each.connect << ": " << told;
    EXPECT_FALSE(contains(told, "canary")) << told;
  }
  const std::string value = "Invalid value specified for connection string attribute 'Encrypt'";
  EXPECT_EQ(mistake_in("Encrypt=maybe", {.sqlstate = "08001", .sentence = value}), value);
}

TEST(odbc_connection_strings, that_reach_nothing_hear_of_what_their_driver_and_address_have) {
  const std::string microsoft = "Driver={ODBC Driver 18 for SQL Server};Server=h";
  const auto told = [](int number, const std::string& connect, bool limited) {
    return explained({.number = number, .sentence = "Error Locating Server/Instance Specified"},
                     connect, limited)
        .details()
        .sentence;
  };
  EXPECT_TRUE(contains(told(10061, microsoft, true), "until login_timeout is over"));
  for (const std::string& other : {told(10061, microsoft, false), told(20009, "Server=h", true)}) {
    EXPECT_TRUE(contains(other, "nothing answers at the host")) << other;
    EXPECT_FALSE(contains(other, "login")) << other;
  }
  EXPECT_TRUE(contains(told(10061, microsoft + ";Port=1", true), "as in Server=host,1433"));
  EXPECT_TRUE(contains(told(11001, microsoft + ":1433", true), "as in Server=host,1433"));
  EXPECT_FALSE(contains(told(11001, "Server=tcp:h", true), "as in"));
  for (const int number : {-1, 20009}) {
    const std::string instance = told(number, "Server=h\\one", true);
    EXPECT_TRUE(contains(instance, "SQL Server Browser")) << instance;
    EXPECT_FALSE(contains(instance, "certificate")) << instance;
  }
  for (const int number : {458752, 20002}) {
    EXPECT_TRUE(contains(told(number, "Server=h;Trusted_Connection=yes", true), "kinit"));
  }
}

std::string raw(const std::string& url) {
  return raw_connection_string(tableq::core::parse_connection_string(url));
}

TEST(addresses_of_odbc, are_handed_on_as_they_are) {
  EXPECT_EQ(raw("odbc://Driver=PostgreSQL Unicode;Database=app"),
            "Driver=PostgreSQL Unicode;Database=app");
  EXPECT_EQ(raw("ODBC://DSN=x;PWD={a%zz?b://&;c}"), "DSN=x;PWD={a%zz?b://&;c}");
}

TEST(addresses_of_odbc, that_are_no_connection_string_are_refused_with_an_example) {
  for (const char* bad : {"odbc://", "odbc://canary", "odbc://canary;", "odbc://canary=\n",
                          "odbc://a=b;PWD=canary\x7f", "odbc://a=\tcanary"}) {
    const tableq::error refused = thrown_by([&] { static_cast<void>(raw(bad)); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << bad;
    EXPECT_EQ(refused.advice(), tableq::advice::never) << bad;
    EXPECT_EQ(refused.backend(), "odbc") << bad;
    EXPECT_EQ(refused.operation(), "connect") << bad;
    EXPECT_TRUE(contains(refused.what(), "odbc://Driver=")) << refused.what();
    EXPECT_FALSE(contains(refused.what(), "canary")) << refused.what();
  }
}

}  // namespace
