#pragma once

/// @file
/// For applications that use ODBC: work inside your own connection, or use tableq's. No header of
/// ODBC is included. The connection must come from the driver manager that tableq is linked with.

#include <tableq/tableq.hpp>

namespace tableq::inline v0 {

/// Joins the transaction that is open on the caller's connection: see `enlistment`.
/// @param connection an SQLHDBC. ODBC's headers make it a `void*`, so this function has a name of
///   its own. Begin the transaction by SQL_ATTR_AUTOCOMMIT, and end it by SQLEndTran: drivers do
///   not report a plain BEGIN, and tableq refuses the connection as one without a transaction.
/// @throws error errc::invalid_argument when the connection is null, to another database, through
///   another client library than the database's, or in no transaction.
TABLEQ_EXPORT enlistment enlist_odbc(const database& db, void* connection,
                                     const enlist_options& options = {});

/// The connection of a transaction: as `session_of` in tableq/soci.hpp. Null if the database's
/// sessions have another client library.
/// @throws error errc::invalid_argument when the transaction has ended.
TABLEQ_EXPORT void* odbc_session_of(transaction& tx);

}  // namespace tableq::inline v0
