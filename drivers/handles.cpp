#include <tableq/libpq.hpp>
#include <tableq/odbc.hpp>
#include <tableq/sqlite.hpp>

#include "core/seam/any_session.hpp"

namespace tableq::inline v0 {

enlistment enlist(const database& db, pg_conn* connection, const enlist_options& options) {
  return core::enlist(db, {.client = "libpq", .handle = connection}, options);
}
pg_conn* libpq_session_of(transaction& tx) {
  return static_cast<pg_conn*>(core::handle_in(tx, "libpq", "libpq_session_of"));
}

enlistment enlist(const database& db, sqlite3* connection, const enlist_options& options) {
  return core::enlist(db, {.client = "sqlite", .handle = connection}, options);
}
sqlite3* sqlite_session_of(transaction& tx) {
  return static_cast<sqlite3*>(core::handle_in(tx, "sqlite", "sqlite_session_of"));
}

enlistment enlist_odbc(const database& db, void* connection, const enlist_options& options) {
  return core::enlist(db, {.client = "odbc", .handle = connection}, options);
}
void* odbc_session_of(transaction& tx) {
  return core::handle_in(tx, "odbc", "odbc_session_of");
}

}  // namespace tableq::inline v0
