// Sessions of the application over tableq.h: see facade.cpp.

#include <functional>
#include <memory>
#include <string>

#include <tableq/libpq.hpp>
#include <tableq/odbc.hpp>
#include <tableq/soci.hpp>
#include <tableq/sqlite.hpp>
#include <tableq/tableq.hpp>

#include "facade.hpp"
#include "support/soci_sessions.hpp"

namespace tableq::inline v0 {

using namespace tableq_facade;  // NOLINT(google-build-using-namespace): only this file
using core::access;

namespace {

enlistment joined(const std::function<int(tq_transaction**, tq_error**)>& enlist) {
  tq_transaction* tx = nullptr;
  done([&](tq_error** e) { return enlist(&tx, e); });
  return access::join(access::made(std::make_shared<c_transaction>(tx)));
}

int flags(const enlist_options& options) {
  return (options.autocommit ? TQ_ENLIST_AUTOCOMMIT : 0) |
         (options.keep_statements ? TQ_ENLIST_KEEP_STATEMENTS : 0);
}

}  // namespace

enlistment enlist(const database& db, sqlite3* connection, const enlist_options& options) {
  return joined([&](tq_transaction** tx, tq_error** e) {
    return tq_enlist_sqlite(access::of(db).get(false), connection, flags(options), tx, e);
  });
}
enlistment enlist(const database& db, pg_conn* connection, const enlist_options& options) {
  return joined([&](tq_transaction** tx, tq_error** e) {
    return tq_enlist_libpq(access::of(db).get(false), connection, flags(options), tx, e);
  });
}
enlistment enlist_odbc(const database& db, void* connection, const enlist_options& options) {
  return joined([&](tq_transaction** tx, tq_error** e) {
    return tq_enlist_odbc(access::of(db).get(false), connection, flags(options), tx, e);
  });
}
pg_conn* libpq_session_of(transaction& tx) {
  return tq_transaction_libpq(access::of(tx));
}
sqlite3* sqlite_session_of(transaction& tx) {
  return tq_transaction_sqlite(access::of(tx));
}
void* odbc_session_of(transaction& tx) {
  return tq_transaction_odbc(access::of(tx));
}
namespace {

/// A session of SOCI by the handle below it.
template <class... Mode>
enlistment enlist_handle(const database& db, soci::session& session, Mode... mode) {
  const bool open = session.get_backend() != nullptr;
  const std::string through = open ? session.get_backend_name() : std::string();
#if defined(TABLEQ_WITH_POSTGRESQL)
  if (through == "postgresql") {
    return enlist(db, static_cast<pg_conn*>(tableq_test::postgresql_handle(session)), mode...);
  }
#endif
#if defined(TABLEQ_WITH_SQLITE)
  if (through == "sqlite3") {
    return enlist(db, static_cast<sqlite3*>(tableq_test::sqlite_handle(session)), mode...);
  }
#endif
#if defined(TABLEQ_WITH_ODBC)
  if (through == "odbc") return enlist_odbc(db, tableq_test::odbc_handle(session), mode...);
#endif
  return enlist_odbc(db, nullptr, mode...);
}

}  // namespace

enlistment enlist(const database& db, soci::session& session, const enlist_options& options) {
  return enlist_handle(db, session, options);
}
void open_session(const database& /*db*/, soci::session& /*session*/) {
  refuse("SOCI is C++");
}
soci::session& session_of(transaction& /*tx*/) {
  refuse("SOCI is C++");
}

}  // namespace tableq::inline v0
