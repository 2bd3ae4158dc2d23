#include <tableq/libpq.hpp>
#include <tableq/odbc.hpp>
#include <tableq/sqlite.hpp>

#include "core/seam/any_session.hpp"

namespace tableq::inline v0 {

enlistment enlist(const database& db, pg_conn* connection) {
  return core::enlist(db, {.client = "libpq", .handle = connection}, false);
}
enlistment enlist(const database& db, pg_conn* connection, autocommit_t /*each_operation*/) {
  return core::enlist(db, {.client = "libpq", .handle = connection}, true);
}
pg_conn* libpq_session_of(transaction& tx) {
  return static_cast<pg_conn*>(core::handle_in(tx, "libpq", "libpq_session_of"));
}

enlistment enlist(const database& db, sqlite3* connection) {
  return core::enlist(db, {.client = "sqlite", .handle = connection}, false);
}
enlistment enlist(const database& db, sqlite3* connection, autocommit_t /*each_operation*/) {
  return core::enlist(db, {.client = "sqlite", .handle = connection}, true);
}
sqlite3* sqlite_session_of(transaction& tx) {
  return static_cast<sqlite3*>(core::handle_in(tx, "sqlite", "sqlite_session_of"));
}

enlistment enlist_odbc(const database& db, void* connection) {
  return core::enlist(db, {.client = "odbc", .handle = connection}, false);
}
enlistment enlist_odbc(const database& db, void* connection, autocommit_t /*each_operation*/) {
  return core::enlist(db, {.client = "odbc", .handle = connection}, true);
}
void* odbc_session_of(transaction& tx) {
  return core::handle_in(tx, "odbc", "odbc_session_of");
}

}  // namespace tableq::inline v0
