#include <libpq-fe.h>

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "core/input/connection_string.hpp"
#include "drivers/dialects.hpp"
#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using tableq_test::contains;
using tableq_test::thrown_by;

tableq::endpoint endpoint_of(const std::string& url) {
  const tableq::dialect definition = tableq::drivers::make_postgresql_dialect();
  return definition.resolve(definition, tableq::core::parse_connection_string(url));
}

/// libpq's reading of the address that SOCI gets.
std::map<std::string, std::string> libpq_settings_of(const std::string& url) {
  struct closer {
    void operator()(PQconninfoOption* all) const noexcept { PQconninfoFree(all); }
  };
  std::map<std::string, std::string> out;
  const std::unique_ptr<PQconninfoOption, closer> all(
      PQconninfoParse(endpoint_of(url).connect.c_str(), nullptr));
  EXPECT_TRUE(all) << url;
  for (const auto* each = all.get(); each != nullptr && each->keyword != nullptr; ++each) {
    if (each->val != nullptr) out[each->keyword] = each->val;
  }
  out.erase("connect_timeout");
  out.erase("fallback_application_name");
  return out;
}

using settings = std::map<std::string, std::string>;

TEST(addresses_of_postgresql, are_libpq_uris) {
  EXPECT_EQ(libpq_settings_of("postgresql://"), settings());
  EXPECT_EQ(libpq_settings_of("postgres://user@host:5433/app"),
            (settings{{"user", "user"}, {"host", "host"}, {"port", "5433"}, {"dbname", "app"}}));
  EXPECT_EQ(libpq_settings_of("PostgreSQL://host"), (settings{{"host", "host"}}));
  EXPECT_EQ(libpq_settings_of("postgresql://user:p%40s%20s%3D%25@[::1]/a%2Fb?sslmode=require"),
            (settings{{"user", "user"},
                      {"password", "p@s s=%"},
                      {"host", "::1"},
                      {"dbname", "a/b"},
                      {"sslmode", "require"}}));
  EXPECT_EQ(libpq_settings_of("postgresql:///app?host=/var/run/postgresql"),
            (settings{{"host", "/var/run/postgresql"}, {"dbname", "app"}}));
  EXPECT_EQ(libpq_settings_of("postgresql://host/app?ssl=true"),
            (settings{{"host", "host"}, {"dbname", "app"}, {"sslmode", "require"}}));
}

TEST(addresses_of_postgresql, with_several_servers_leave_one_that_is_gone_for_the_one_that_writes) {
  const auto has = [](const std::string& rest, const std::string& setting) {
    return contains(endpoint_of("postgresql://user@" + rest).connect, "&" + setting + "&");
  };
  for (const char* given : {"a,b/app", "a:5432,a:5433/app", "/app?hostaddr=127.0.0.1,127.0.0.2"}) {
    for (const char* setting :
         {"connect_timeout=3", "tcp_user_timeout=4000", "keepalives_idle=2",
          "keepalives_interval=1", "keepalives_count=2", "target_session_attrs=read-write"}) {
      EXPECT_TRUE(has(given, setting)) << given << " " << setting;
      EXPECT_FALSE(has("a/app", setting)) << setting;
    }
  }
  EXPECT_TRUE(has("a/app", "connect_timeout=10"));
  EXPECT_TRUE(has("a,b/app?connect_timeout=7", "connect_timeout=7"));
  EXPECT_TRUE(has("a,b/app?tcp_user_timeout=60000", "tcp_user_timeout=60000"));
  EXPECT_FALSE(has("a,b/app?tcp_user_timeout=60000", "tcp_user_timeout=4000"));
  EXPECT_TRUE(has("a,b/app?target_session_attrs=any", "target_session_attrs=any"));
  EXPECT_FALSE(has("a,b/app?target_session_attrs=any", "target_session_attrs=read-write"));
}

TEST(addresses_of_postgresql, may_tell_of_a_pooler) {
  for (const char* url : {"postgresql://user@host/app?pooling=transaction",
                          "postgresql://user@host/app?pooling=transaction&client_encoding=LATIN1",
                          "postgresql://user@host/app?client_encoding=LATIN1&pooling=%74ransaction",
                          "postgresql://user=user pooling=transaction host=host dbname=app",
                          "postgresql://user=user host=host dbname=app pooling = 'transaction'"}) {
    SCOPED_TRACE(url);
    EXPECT_TRUE(endpoint_of(url).pooled);
    EXPECT_EQ(
        libpq_settings_of(url),
        (settings{
            {"user", "user"}, {"host", "host"}, {"dbname", "app"}, {"client_encoding", "UTF8"}}));
  }
  EXPECT_FALSE(endpoint_of("postgresql://user@host/app?pooling=session").pooled);
  EXPECT_EQ(libpq_settings_of("postgresql://host/?pooling=session"), (settings{{"host", "host"}}));
  EXPECT_FALSE(endpoint_of("postgresql://user@host/app").pooled);
  for (const char* bad : {"postgresql://host/?pooling=canary",
                          "postgresql://host/?pooling=", "postgresql://host=h pooling=canary"}) {
    const tableq::error refused = thrown_by([&] { static_cast<void>(endpoint_of(bad)); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << bad;
    EXPECT_TRUE(contains(refused.what(), "pooling takes session or transaction")) << refused.what();
    EXPECT_FALSE(contains(refused.what(), "canary")) << refused.what();
  }
}

TEST(addresses_of_postgresql, may_name_several_hosts) {
  EXPECT_EQ(
      libpq_settings_of("postgresql://user@h1:1,h2:2,[::1]:3/app?target_session_attrs=read-write"),
      (settings{{"user", "user"},
                {"host", "h1,h2,::1"},
                {"port", "1,2,3"},
                {"dbname", "app"},
                {"tcp_user_timeout", "4000"},
                {"keepalives_idle", "2"},
                {"keepalives_interval", "1"},
                {"keepalives_count", "2"},
                {"target_session_attrs", "read-write"}}));
}

TEST(addresses_of_postgresql, may_have_the_form_that_soci_documents) {
  EXPECT_EQ(libpq_settings_of("postgresql://host=h dbname=app"),
            (settings{{"host", "h"}, {"dbname", "app"}}));
  EXPECT_EQ(libpq_settings_of("postgresql:// dbname = 'my app'  password='it\\'s=?%\\\\'"),
            (settings{{"dbname", "my app"}, {"password", "it's=?%\\"}}));
  EXPECT_EQ(libpq_settings_of("postgresql://user=a password=b\\ c options='-c x=1 -c y=2'"),
            (settings{{"user", "a"}, {"password", "b c"}, {"options", "-c x=1 -c y=2"}}));
}

TEST(addresses_of_postgresql, reach_soci_in_one_piece) {
  // SOCI splits the text at `=` and at blanks.
  const std::string connect = endpoint_of("postgresql://host=h password='a b=c'").connect;
  EXPECT_FALSE(contains(connect, " ")) << connect;
  EXPECT_TRUE(contains(connect, "=")) << connect;
}

TEST(addresses_of_postgresql, give_up_on_a_silent_host_after_ten_seconds) {
  EXPECT_TRUE(contains(endpoint_of("postgresql://host").connect, "connect_timeout=10"));
  EXPECT_TRUE(contains(endpoint_of("postgresql://dbname=a").connect, "connect_timeout=10"));
  const std::string chosen = endpoint_of("postgresql://host?connect_timeout=3").connect;
  EXPECT_TRUE(contains(chosen, "connect_timeout=3"));
  EXPECT_FALSE(contains(chosen, "connect_timeout=10"));
}

TEST(addresses_of_postgresql, name_the_application_unless_it_has_a_name) {
  EXPECT_TRUE(
      contains(endpoint_of("postgresql://host").connect, "fallback_application_name=tableq"));
}

TEST(addresses_of_postgresql, with_an_unknown_key_are_refused_by_its_name) {
  for (const char* bad :
       {"postgresql://host/app?colour=canary", "postgresql://host=h colour=canary",
        "postgresql://colour=canary", "postgresql://host='a b' colour = canary"}) {
    const tableq::error refused = thrown_by([&] { static_cast<void>(endpoint_of(bad)); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << bad;
    EXPECT_TRUE(contains(refused.what(), "colour")) << refused.what();
    EXPECT_FALSE(contains(refused.what(), "canary")) << refused.what();
  }
}

TEST(addresses_of_postgresql, that_cannot_be_read_are_refused_without_being_quoted) {
  for (const char* bad :
       {"postgresql://user:canary%zz@host/app", "postgresql://user:canary%@host",
        "postgresql://user:ca/nary@host/app", "postgresql://user:ca@nary@host/app",
        "postgresql://host:canary/app", "postgresql://[canary", "postgresql://host=canary port",
        "postgresql://password='canary", "postgresql://password=canary = b"}) {
    const tableq::error refused = thrown_by([&] { static_cast<void>(endpoint_of(bad)); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << bad;
    EXPECT_FALSE(contains(refused.what(), "canary")) << refused.what();
    EXPECT_FALSE(contains(refused.what(), "nary")) << refused.what();
  }
}

}  // namespace
