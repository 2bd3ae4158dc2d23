#pragma once

/// @file
/// For applications that speak SOCI themselves: work inside one's own session, or use tableq's.
/// No header of SOCI is included; the application includes what it needs.

#include <utility>

#include <tableq/database.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/transaction.hpp>

namespace soci {
class session;
}

namespace tableq::inline v0 {

/// Stands for the caller's own unit of work: `orders.in(tableq::enlist(db, session)).enqueue("x")`.
///
/// Borrows the session, which must outlive it; owns nothing in the database. Handles that `in` has
/// made are of use as long as it lives.
///
/// @par Thread safety
/// Distinct objects: safe, on distinct sessions. Shared objects: unsafe. Two enlistments of one
/// session do not notice that two threads use it.
class TABLEQ_EXPORT enlistment {
 public:
  /// For one's own functions that take a transaction. Its commit and rollback are refused: the
  /// session's owner ends it.
  explicit operator transaction&() noexcept { return joined_; }

 private:
  friend class core::access;
  explicit enlistment(transaction joined) noexcept : joined_(std::move(joined)) {}

  transaction joined_;
};

/// For `enlist`: the session may be in no transaction. Then each operation commits by itself; for
/// one of several statements tableq begins and ends a transaction on the session. Through ODBC a
/// plain BEGIN is not seen, and such a transaction of tableq's would commit it: do not use both.
struct autocommit_t {
  explicit autocommit_t() = default;
};
inline constexpr autocommit_t autocommit{};

/// Joins the transaction that is open on the caller's session. tableq never commits it, rolls it
/// back or repeats it; an error leaves it to the caller, who should roll back. Should the caller
/// commit, the failed operation has changed nothing: one of several statements runs in a savepoint.
/// Each operation of the enlistment needs an open transaction, which may be a later one than
/// the first. Through ODBC begin it with `soci::transaction` or `session.begin()`: the driver does
/// not tell of a plain BEGIN, and such a session is refused as one without a transaction.
///
/// Nothing stays behind in the session: no prepared statement, no setting. `strict` queues hold
/// their lock until the caller's transaction ends.
///
/// @param db the database whose queues will be used; the session must be connected to the same one
///   with the same backend. Where the client library cannot tell (always through ODBC; on
///   PostgreSQL when host, port or database are written differently), a query in the session finds
///   out, and where that differs another one in a session of tableq's.
/// @throws error errc::invalid_argument when the session is closed, of another backend or database,
///   in no transaction or a failed one, or of a client encoding other than UTF-8 (libpq). A
///   database in memory has no session but tableq's.
TABLEQ_EXPORT enlistment enlist(const database& db, soci::session& session);
/// The same for a session that may be in no transaction.
TABLEQ_EXPORT enlistment enlist(const database& db, soci::session& session,
                                autocommit_t each_operation);

/// Connects the caller's session to the database, by the address that tableq was given. On SQLite
/// the session waits for locks as long as tableq's do; on PostgreSQL its client encoding is UTF-8;
/// all else is as the client library has it. Close it as any other.
/// @param session a closed one.
/// @throws error errc::invalid_argument when it is open; errc::unsupported for a database in
///   memory, which no other session can reach (docs/testing.md); errc::connection_failed.
TABLEQ_EXPORT void open_session(const database& db, soci::session& session);

/// The session behind a transaction, for the application's own statements in it. Valid while the
/// transaction is active. Do not begin, commit, roll back, close or reconnect it. Settings that
/// tableq makes in its sessions hold for it too (docs/drivers.md): on PostgreSQL, plans that follow
/// indexes. After a COMMIT or ROLLBACK in it the transaction refuses every operation and its commit
/// with errc::invalid_argument, so that nothing is stored by itself; through ODBC, where the driver
/// does not tell of such a statement, that goes unnoticed.
/// @throws error errc::invalid_argument when the transaction has ended.
TABLEQ_EXPORT soci::session& session_of(transaction& tx);

}  // namespace tableq::inline v0
