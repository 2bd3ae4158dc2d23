#pragma once

/// @file
/// For applications that use SOCI: work inside your own session, or use tableq's. Of SOCI only the
/// macros of its version are included; the application includes what it needs. The application and
/// tableq use one SOCI: two versions lay out a session differently.

#include <tableq/database.hpp>
#include <tableq/enlistment.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>

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

/// Joins the transaction that is open on the caller's session: see `enlistment`. Through ODBC begin
/// it with `soci::transaction` or `session.begin()`: the driver does not report a plain BEGIN, and
/// tableq refuses the session as one without a transaction.
///
/// @param db the database of the queues; the session must be connected to the same one with the
///   same backend. If the client library cannot confirm that (always through ODBC; on PostgreSQL
///   when host, port or database are written differently), a query in the session does, and if its
///   result differs, a second query in a session of tableq.
/// @throws error errc::invalid_argument when the session is closed, of another backend or database,
///   in no transaction or a failed one, or of a client encoding other than UTF-8 (libpq). A
///   database in memory has only tableq's session.
TABLEQ_EXPORT enlistment enlist(const database& db, soci::session& session,
                                const enlist_options& options = {});

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
/// @throws error errc::invalid_argument when the transaction has ended, or is the caller's by a
///   client library's own handle.
TABLEQ_EXPORT soci::session& session_of(transaction& tx);

}  // namespace tableq::inline v0
