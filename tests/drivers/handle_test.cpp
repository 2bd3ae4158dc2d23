#include <gtest/gtest.h>
#include <soci/soci.h>

#include <array>
#include <string>
#include <utility>

#include <tableq/libpq.hpp>
#include <tableq/odbc.hpp>
#include <tableq/soci.hpp>
#include <tableq/sqlite.hpp>

#include "support/fixture.hpp"
#include "support/soci_sessions.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class session_handle : public on_each_backend {
 protected:
  /// The handles of a transaction, by the names that SOCI gives the libraries.
  static std::array<std::pair<std::string, const void*>, 3> handles(tableq::transaction& tx) {
    return {{{"postgresql", tableq::libpq_session_of(tx)},
             {"sqlite3", tableq::sqlite_session_of(tx)},
             {"odbc", tableq::odbc_session_of(tx)}}};
  }
};
TABLEQ_ON_BACKENDS(session_handle, all_backends);

TEST_P(session_handle, is_that_of_the_databases_client_library) {
  auto tx = db().begin();
  const std::string through = tableq::session_of(tx).get_backend_name();
  for (const auto& [library, handle] : handles(tx)) {
    EXPECT_EQ(handle != nullptr, library == through) << library;
  }
  tx.rollback();
  EXPECT_CODE(invalid_argument, static_cast<void>(tableq::libpq_session_of(tx)));
}

TEST_P(session_handle, that_is_null_is_refused) {
  EXPECT_CODE(invalid_argument,
              static_cast<void>(tableq::enlist(db(), static_cast<pg_conn*>(nullptr))));
  EXPECT_CODE(invalid_argument,
              static_cast<void>(tableq::enlist(db(), static_cast<sqlite3*>(nullptr))));
  EXPECT_CODE(invalid_argument, static_cast<void>(tableq::enlist_odbc(db(), nullptr)));
}

TEST_P(session_handle, of_another_client_library_is_refused_without_a_look_at_it) {
  auto tx = db().begin();
  const std::string through = tableq::session_of(tx).get_backend_name();
  int nothing = 0;
  void* const any = &nothing;
  const auto refused = [&](const std::string& library, const auto& enlist) {
    SCOPED_TRACE(library);
    if (library == through) return;
    EXPECT_CODE(invalid_argument, static_cast<void>(enlist()));
  };
  refused("postgresql", [&] { return tableq::enlist(db(), static_cast<pg_conn*>(any)); });
  refused("sqlite3", [&] { return tableq::enlist(db(), static_cast<sqlite3*>(any)); });
  refused("odbc", [&] { return tableq::enlist_odbc(db(), any); });
}

class enlisted_handle : public on_each_backend {};
TABLEQ_ON_BACKENDS(enlisted_handle, enlisting_backends);

TEST_P(enlisted_handle, is_the_callers) {
  const auto session = here().session();
  soci::transaction mine(*session);
  tableq::enlistment joined = enlist(db(), *session);
  auto& tx = static_cast<tableq::transaction&>(joined);
  const std::string through = session->get_backend_name();
  if (through == "postgresql") {
    EXPECT_EQ(tableq::libpq_session_of(tx), postgresql_handle(*session));
  } else if (through == "sqlite3") {
    EXPECT_EQ(tableq::sqlite_session_of(tx), sqlite_handle(*session));
  } else {
    EXPECT_EQ(tableq::odbc_session_of(tx), odbc_handle(*session));
  }
}

}  // namespace
