#pragma once

/// @file
/// For applications that use SOCI: work inside your own session, or use tableq's. Of SOCI only the
/// macros of its version are included; the application includes what it needs. The application and
/// tableq use one SOCI: two versions lay out a session differently.

#include <utility>

#include <tableq/database.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/transaction.hpp>

#if __has_include(<soci/version.h>)
#include <soci/version.h>
#endif

#if defined(TABLEQ_SOCI_VERSION) && defined(SOCI_VERSION)
static_assert(SOCI_VERSION / 100 == TABLEQ_SOCI_VERSION / 100,
              "tableq was built with another version of SOCI than <soci/soci.h> here: use one SOCI "
              "for both (docs/drivers.md, One SOCI)");
#endif

namespace soci {
class session;
}

namespace tableq::inline v0 {

/// The caller's own transaction: `orders.in(tableq::enlist(db, session)).enqueue("x")`.
///
/// Borrows the session, which must outlive it; owns nothing in the database. Handles made by `in`
/// are valid while it exists.
///
/// @par Thread safety
/// Distinct objects: safe, on distinct sessions. Shared objects: unsafe. Two enlistments of one
/// session do not detect use by two threads.
class TABLEQ_EXPORT enlistment {
 public:
  /// For your own functions with a transaction parameter. Its commit and rollback are refused: the
  /// session's owner ends the transaction.
  explicit operator transaction&() noexcept { return joined_; }

 private:
  friend class core::access;
  explicit enlistment(transaction joined) noexcept : joined_(std::move(joined)) {}

  transaction joined_;
};

/// For `enlist`: the session needs no transaction. Each operation then commits by itself; if it has
/// several statements, tableq begins and ends a transaction on the session. ODBC drivers do not
/// report a plain BEGIN, and tableq's transaction would commit it: do not use both.
struct autocommit_t {
  explicit autocommit_t() = default;
};
inline constexpr autocommit_t autocommit{};

/// Joins the transaction that is open on the caller's session. tableq never commits it, rolls it
/// back or repeats it; after an error the caller should roll back. An operation of several
/// statements runs in a savepoint, so that it changes nothing if it fails, even if the caller
/// commits. Exception: a take may leave messages leased that it did not return. They come back when
/// the lease ends. Each operation of the enlistment needs an open transaction, not necessarily the
/// first one. Through ODBC begin it with `soci::transaction` or `session.begin()`: the driver does
/// not report a plain BEGIN, and tableq refuses the session as one without a transaction. On SQL
/// Server the savepoint was never executed on a server.
///
/// tableq leaves no prepared statement and no setting in the session. `strict` queues hold their
/// lock until the caller's transaction ends.
///
/// @param db the database of the queues; the session must be connected to the same one with the
///   same backend. If the client library cannot confirm that (always through ODBC; on PostgreSQL
///   when host, port or database are written differently), a query in the session does, and if its
///   result differs, a second query in a session of tableq.
/// @throws error errc::invalid_argument when the session is closed, of another backend or database,
///   in no transaction or a failed one, or of a client encoding other than UTF-8 (libpq). A
///   database in memory has only tableq's session.
TABLEQ_EXPORT enlistment enlist(const database& db, soci::session& session);
/// The same for a session that needs no transaction.
TABLEQ_EXPORT enlistment enlist(const database& db, soci::session& session,
                                autocommit_t each_operation);

/// Connects the caller's session to the database, with tableq's address. On SQLite the session
/// waits for locks as long as tableq's sessions do; on PostgreSQL its client encoding is UTF-8; all
/// other settings are the client library's. The caller closes it.
/// @param session a closed session.
/// @throws error errc::invalid_argument when it is open; errc::unsupported for a database in
///   memory, which only tableq's session can use (docs/testing.md); errc::connection_failed.
TABLEQ_EXPORT void open_session(const database& db, soci::session& session);

/// The session of a transaction, for the application's own statements in it. Valid while the
/// transaction is active. Do not begin, commit, roll back, close or reconnect it. It has the
/// settings of all tableq sessions (docs/drivers.md): on PostgreSQL, plans that use indexes. After
/// a COMMIT or ROLLBACK statement in it the transaction refuses every operation and its commit with
/// errc::invalid_argument, so that nothing is stored outside a transaction. tableq cannot detect it
/// when a BEGIN follows, or through ODBC, whose drivers do not report such statements, except on
/// SQL Server. There most errors of the application's statements end the transaction, also when the
/// application catches them: from session_of on tableq asks the server before each operation.
/// @throws error errc::invalid_argument when the transaction has ended.
TABLEQ_EXPORT soci::session& session_of(transaction& tx);

}  // namespace tableq::inline v0
