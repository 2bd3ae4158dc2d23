#pragma once

/// @file
/// For applications that use libpq: work inside your own connection, or use tableq's. No header of
/// libpq is included. The connection must come from the libpq that tableq is linked with: two
/// copies of it in one program cannot share a connection.

#include <tableq/tableq.hpp>

// PGconn of <libpq-fe.h>.
struct pg_conn;

namespace tableq::inline v0 {

/// Joins the transaction that is open on the caller's connection: see `enlistment`.
/// @param connection in blocking or nonblocking mode. Before each operation read all results of
///   your own statements, and leave pipeline mode: tableq refuses to throw them away.
/// @throws error errc::invalid_argument when the connection is null, lost, to another database,
///   through another client library than the database's, in no transaction or a failed one, or of a
///   client encoding other than UTF-8; from operations also when a statement, a COPY or pipeline
///   mode is under way.
TABLEQ_EXPORT enlistment enlist(const database& db, pg_conn* connection,
                                const enlist_options& options = {});

/// The connection of a transaction: as `session_of` in tableq/soci.hpp. Null if the database's
/// sessions have another client library.
/// @throws error errc::invalid_argument when the transaction has ended.
TABLEQ_EXPORT pg_conn* libpq_session_of(transaction& tx);

}  // namespace tableq::inline v0
