#include <tableq/libpq.hpp>
#include <tableq/odbc.hpp>
#include <tableq/sqlite.hpp>
#include <tableq/tableq.hpp>

#include "handles.hpp"

using namespace tableq_c;

int tq_transaction_begin(tq_database* db, tq_transaction** tx, tq_error** error) {
  return making(tx, error,
                [&] { return std::make_unique<tq_transaction>(checked(db).db.begin()); });
}
int tq_transaction_commit(tq_transaction* tx, tq_error** error) {
  return calling(error, [&] { checked(tx).tx().commit(); });
}
int tq_transaction_rollback(tq_transaction* tx, tq_error** error) {
  return calling(error, [&] { checked(tx).tx().rollback(); });
}
int tq_transaction_active(const tq_transaction* tx) {
  // Only `tx()` needs the handle unshared; `active` changes nothing.
  auto* const known = const_cast<tq_transaction*>(usable(tx));
  return static_cast<int>(known != nullptr && known->tx().active());
}
void tq_transaction_free(tq_transaction* tx) {
  end(tx);
}

namespace tableq_c {
namespace {

/// @param enlist `(const database&, autocommit_t...)`.
template <class Enlist>
int enlisting(tq_database* db, int autocommit, tq_transaction** tx, tq_error** error,
              Enlist enlist) {
  return making(tx, error, [&] {
    const tableq::database& database = checked(db).db;
    return std::make_unique<tq_transaction>(autocommit != 0 ? enlist(database, tableq::autocommit)
                                                            : enlist(database));
  });
}

/// The connection of a transaction, or null.
template <class Ask>
auto session_of(tq_transaction* tx, Ask ask) noexcept -> decltype(ask(tx->tx())) {
  try {
    tq_transaction* const known = usable(tx);
    return known == nullptr ? nullptr : ask(known->tx());
  } catch (...) {  // It has ended: the caller gets NULL.
    return nullptr;
  }
}

}  // namespace
}  // namespace tableq_c

int tq_enlist_libpq(tq_database* db, struct pg_conn* connection, int autocommit,
                    tq_transaction** tx, tq_error** error) {
  return enlisting(db, autocommit, tx, error, [&](const tableq::database& to, auto... each) {
    return tableq::enlist(to, connection, each...);
  });
}
int tq_enlist_sqlite(tq_database* db, struct sqlite3* connection, int autocommit,
                     tq_transaction** tx, tq_error** error) {
  return enlisting(db, autocommit, tx, error, [&](const tableq::database& to, auto... each) {
    return tableq::enlist(to, connection, each...);
  });
}
int tq_enlist_odbc(tq_database* db, void* connection, int autocommit, tq_transaction** tx,
                   tq_error** error) {
  return enlisting(db, autocommit, tx, error, [&](const tableq::database& to, auto... each) {
    return tableq::enlist_odbc(to, connection, each...);
  });
}

struct pg_conn* tq_transaction_libpq(tq_transaction* tx) {
  return session_of(tx, [](tableq::transaction& own) { return tableq::libpq_session_of(own); });
}
struct sqlite3* tq_transaction_sqlite(tq_transaction* tx) {
  return session_of(tx, [](tableq::transaction& own) { return tableq::sqlite_session_of(own); });
}
void* tq_transaction_odbc(tq_transaction* tx) {
  return session_of(tx, [](tableq::transaction& own) { return tableq::odbc_session_of(own); });
}
