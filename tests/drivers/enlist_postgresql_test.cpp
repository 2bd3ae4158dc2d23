#include <gtest/gtest.h>
#include <soci/soci.h>

#include <functional>
#include <string>

#include <tableq/soci.hpp>

#include "support/backends.hpp"
#include "support/fixture.hpp"
#include "support/postgresql_address.hpp"
#include "support/postgresql_client.hpp"
#include "support/soci_sessions.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class enlisted_postgresql : public on_each_backend {
 protected:
  /// A session with a database of the server, by another address than tableq's.
  static std::unique_ptr<soci::session> session_with(const std::string& database) {
    settings own = postgresql_client(server_address()).settings();
    settings kept;
    for (const char* key : {"host", "port", "user", "password"}) {
      if (own.count(key) != 0) kept[key] = own[key];
    }
    kept["dbname"] = database;
    if (kept["host"] == "127.0.0.1") kept["host"] = "localhost";
    return soci_postgresql_session(as_libpq_string(kept));
  }
};
INSTANTIATE_TEST_SUITE_P(, enlisted_postgresql, testing::Values(&postgresql_backend()),
                         backend_name);

TEST_P(enlisted_postgresql, of_another_database_of_the_server_is_refused) {
  auto mail = db().fifo("mail");
  const auto session = session_with("template1");
  soci::transaction mine(*session);
  const tableq::error refused =
      thrown_by([&] { static_cast<void>(tableq::enlist(db(), *session)); });
  EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
  EXPECT_TRUE(contains(refused.what(), "another database")) << refused.what();
  int alive = 0;
  *session << "SELECT 1", soci::into(alive);
  EXPECT_EQ(alive, 1) << "the caller's transaction goes on";
}

TEST_P(enlisted_postgresql, by_another_name_of_the_server_is_found_out) {
  auto mail = db().fifo("mail");
  std::string database;
  {
    auto tx = db().begin();
    tableq::session_of(tx) << "SELECT current_database()", soci::into(database);
  }
  const auto session = session_with(database);
  for (int i = 0; i < 2; ++i) {
    soci::transaction mine(*session);
    mail.in(tableq::enlist(db(), *session)).enqueue("stored");
    mine.commit();
  }
  EXPECT_EQ(mail.stats().waiting, 2U);
}

TEST_P(enlisted_postgresql, in_a_failed_transaction_is_refused) {
  auto mail = db().fifo("mail");
  const auto session = here().session();
  soci::transaction mine(*session);
  EXPECT_THROW(*session << "SELECT 1 / 0", soci::soci_error);
  for (const std::function<void()>& call :
       {std::function<void()>([&] { static_cast<void>(tableq::enlist(db(), *session)); }),
        std::function<void()>(
            [&] { static_cast<void>(tableq::enlist(db(), *session, tableq::autocommit)); })}) {
    const tableq::error refused = thrown_by(call);
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    EXPECT_TRUE(contains(refused.what(), "has failed")) << refused.what();
  }
}

}  // namespace
