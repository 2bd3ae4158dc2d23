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

/// @param enlist `(const database&, const enlist_options&)`.
template <class Enlist>
int enlisting(tq_database* db, int flags, tq_transaction** tx, tq_error** error, Enlist enlist) {
  return making(tx, error, [&] {
    const tableq::database& database = checked(db).db;
    constexpr int known = TQ_ENLIST_AUTOCOMMIT | TQ_ENLIST_KEEP_STATEMENTS;
    if (flags < 0 || flags > known) refuse("the flags of an enlistment are TQ_ENLIST_ constants");
    return std::make_unique<tq_transaction>(enlist(
        database,
        tableq::enlist_options{.autocommit = (flags & TQ_ENLIST_AUTOCOMMIT) != 0,
                               .keep_statements = (flags & TQ_ENLIST_KEEP_STATEMENTS) != 0}));
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

int tq_enlist_libpq(tq_database* db, struct pg_conn* connection, int flags, tq_transaction** tx,
                    tq_error** error) {
  return enlisting(db, flags, tx, error, [&](const tableq::database& to, const auto& options) {
    return tableq::enlist(to, connection, options);
  });
}
int tq_enlist_sqlite(tq_database* db, struct sqlite3* connection, int flags, tq_transaction** tx,
                     tq_error** error) {
  return enlisting(db, flags, tx, error, [&](const tableq::database& to, const auto& options) {
    return tableq::enlist(to, connection, options);
  });
}
int tq_enlist_odbc(tq_database* db, void* connection, int flags, tq_transaction** tx,
                   tq_error** error) {
  return enlisting(db, flags, tx, error, [&](const tableq::database& to, const auto& options) {
    return tableq::enlist_odbc(to, connection, options);
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
