#include <gtest/gtest.h>
#include <soci/soci.h>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class address : public on_each_backend {
 protected:
  /// The error of opening a bad address; empty if the database has no such address.
  std::optional<tableq::error> refusal(bad_address which) {
    const auto url = here().bad_url(which);
    if (!url) return {};
    return thrown_by([&] { static_cast<void>(tableq::database::open(*url)); });
  }
};
TABLEQ_ON_BACKENDS(address, shared_backends);

TEST_P(address, every_form_reaches_the_same_place) {
  db().fifo("mail").enqueue("passed on");
  for (const std::string& form : here().other_forms()) {
    SCOPED_TRACE(form);
    tableq::fifo_queue mail = tableq::database::open(form).fifo("mail");
    const auto found = mail.dequeue();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->payload, "passed on");
    mail.enqueue(found->payload);
  }
  EXPECT_EQ(db().fifo("mail").stats().waiting, 1U);
}

TEST_P(address, settings_reach_the_session) {
  for (const address_check& each : here().session_checks()) {
    SCOPED_TRACE(each.url + " " + each.sql);
    auto opened = tableq::database::open(each.url);
    tableq::transaction tx = opened.begin();
    std::string answer;
    tableq::session_of(tx) << each.sql, soci::into(answer);
    EXPECT_EQ(answer, each.answer);
  }
}

TEST_P(address, an_unknown_key_is_refused_and_named) {
  if (!can().checks_keys) GTEST_SKIP() << "the driver of this database reads the keys";
  for (const char* key : {"colour", "busy_timeot", "synchronus", "shcema", "sslmod", ""}) {
    SCOPED_TRACE(key);
    const tableq::error refused =
        thrown_by([&] { static_cast<void>(tableq::database::open(here().url_with(key, "1s"))); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    EXPECT_TRUE(contains(refused.what(), key)) << refused.what();
  }
}

TEST_P(address, a_bad_value_is_refused_with_its_key) {
  for (const auto& [key, value] : here().bad_settings()) {
    SCOPED_TRACE(key + "=" + value);
    const tableq::error refused = thrown_by([&, &k = key, &v = value] {
      static_cast<void>(tableq::database::open(here().url_with(k, v)));
    });
    EXPECT_TRUE(refused.code() == tableq::errc::invalid_argument ||
                refused.code() == tableq::errc::connection_failed)
        << refused.what();
    EXPECT_TRUE(contains(refused.what(), key)) << refused.what();
  }
}

TEST_P(address, an_option_that_spoils_payloads_is_refused_in_an_enlisted_session_too) {
  const auto session = here().refused_session();
  if (session == nullptr) GTEST_SKIP() << "this client library has no such option";
  const tableq::error refused =
      thrown_by([&] { static_cast<void>(tableq::enlist(db(), *session, tableq::autocommit)); });
  EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
  EXPECT_TRUE(contains(refused.what(), "ByteaAsLongVarBinary=1")) << refused.what();
}

TEST_P(address, a_wrong_password_is_told_but_not_shown) {
  const auto refused = refusal(bad_address::wrong_password);
  if (!refused) GTEST_SKIP() << "this database, or this server, asks for no password";
  EXPECT_EQ(refused->code(), tableq::errc::connection_failed) << refused->what();
  EXPECT_FALSE(contains(refused->what(), "canary")) << refused->what();
  // By that the next logins wait: drivers/transport/login_pauses.hpp.
  EXPECT_TRUE(refused->advice() == tableq::advice::never || refused->sqlstate().starts_with("28"))
      << refused->sqlstate() << ' ' << refused->what();
}

TEST_P(address, a_bad_one_is_told_by_its_code) {
  using enum bad_address;
  using tableq::errc;
  const std::vector<std::pair<bad_address, errc>> all = {
      {unreachable_host, errc::connection_failed},  {missing_database, errc::connection_failed},
      {missing_directory, errc::connection_failed}, {directory_as_file, errc::connection_failed},
      {foreign_file, errc::not_a_database},         {empty, errc::invalid_argument}};
  for (const auto& [which, code] : all) {
    const auto refused = refusal(which);
    if (!refused) continue;  // No database has all of them.
    EXPECT_EQ(refused->code(), code) << refused->what();
    if (which != missing_directory || can().second_way) continue;  // The driver has its own text.
    EXPECT_TRUE(contains(refused->what(), "nowhere does not exist")) << refused->what();
  }
}

TEST_P(address, a_password_is_in_no_message) {
  for (const bad_address which : {bad_address::unreachable_host, bad_address::wrong_password}) {
    const auto url = here().bad_url(which);
    if (!url) continue;
    for (const char* more : {"", "&colour=blue", "&%zz", "?=", " "}) {
      try {
        static_cast<void>(tableq::database::open(*url + more));
        ADD_FAILURE() << "opened " << *url << more;
      } catch (const tableq::error& refused) {
        EXPECT_FALSE(contains(refused.what(), "canary")) << refused.what();
      }
    }
  }
}

TEST_P(address, a_read_only_place_refuses_writes_and_says_so) {
  db().fifo("mail").enqueue("stays");
  clear_database();
  const int verdict = here().run_read_only([](const std::string& url) {
    try {
      auto limited = tableq::database::open(url);
      limited.fifo("mail").enqueue("refused");
    } catch (const tableq::error& refused) {
      if (refused.code() == tableq::errc::read_only) return 0;
      std::fprintf(stderr, "%s\n", refused.what());
      return 2;
    }
    return 1;
  });
  EXPECT_EQ(verdict, 0);
  EXPECT_EQ(db().fifo("mail").stats().waiting, 1U);
}

TEST_P(address, opening_creates_no_table) {
  EXPECT_TRUE(db().queues().empty());
  EXPECT_THROW(here().sql("SELECT count(*) FROM tableq_queues"), std::runtime_error);
}

TEST_P(address, open_options_out_of_range_are_refused) {
  using std::chrono::milliseconds;
  EXPECT_CODE(invalid_argument, static_cast<void>(open({.max_sessions = 0})));
  EXPECT_CODE(invalid_argument, static_cast<void>(open({.session_timeout = milliseconds{0}})));
  EXPECT_CODE(invalid_argument, static_cast<void>(open({.session_timeout = milliseconds{-1}})));
  EXPECT_CODE(invalid_argument, static_cast<void>(open({.retry_for = milliseconds{-1}})));
}

TEST(address_without_database, the_name_of_a_file_is_refused_for_its_missing_scheme) {
  const tableq::error refused =
      thrown_by([] { static_cast<void>(tableq::database::open("jobs.db")); });
  EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
  EXPECT_TRUE(contains(refused.what(), "begins with no scheme")) << refused.what();
}

TEST(address_without_database, an_unknown_scheme_is_refused_with_the_known_ones) {
  for (const char* scheme : {"nosuch", "queue", "http", "n osuch"}) {
    SCOPED_TRACE(scheme);
    const tableq::error refused = thrown_by(
        [&] { static_cast<void>(tableq::database::open(std::string(scheme) + "://somewhere")); });
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
    EXPECT_TRUE(contains(refused.what(), "this build knows")) << refused.what();
    for (const std::string& known : tableq::dialects()) {
      EXPECT_TRUE(contains(refused.what(), known + "://")) << refused.what();
    }
    EXPECT_FALSE(contains(refused.what(), "Write")) << refused.what();
  }
  for (const std::string& known : tableq::dialects()) {
    const tableq::error refused =
        thrown_by([&] { (void)tableq::database::open("jdbc:" + known + "://somewhere"); });
    EXPECT_TRUE(contains(refused.what(), "Write " + known + "://")) << refused.what();
  }
}

TEST(address_without_database, what_is_no_address_is_refused) {
  std::vector<std::string> bad = {"", "queues.db", "/tmp/queues.db", "://"};
  for (const std::string& known : tableq::dialects()) {
    bad.push_back(known);
    bad.push_back(known + ":");
    bad.push_back(known + ":/somewhere");
    bad.push_back(known + std::string("://a\0b", 6));
  }
  for (const std::string& each : bad) {
    SCOPED_TRACE(each);
    EXPECT_CODE(invalid_argument, static_cast<void>(tableq::database::open(each)));
  }
}

}  // namespace
