#pragma once

/// @file
/// For applications that use SQLite: work inside your own connection, or use tableq's. No header of
/// SQLite is included. The connection must come from the SQLite that tableq is linked with: two
/// copies of it in one program break each other's locks on a file.

#include <tableq/tableq.hpp>

struct sqlite3;

namespace tableq::inline v0 {

/// Joins the transaction that is open on the caller's connection: see `enlistment`.
/// @param connection waits for locks as its owner has set it (sqlite3_busy_timeout). Begin its
///   transaction with BEGIN IMMEDIATE: a plain BEGIN locks at the first change.
/// @throws error errc::invalid_argument when the connection is null, to another database, through
///   another client library than the database's, or in no transaction.
TABLEQ_EXPORT enlistment enlist(const database& db, sqlite3* connection,
                                const enlist_options& options = {});

/// The connection of a transaction: as `session_of` in tableq/soci.hpp. Null if the database's
/// sessions have another client library.
/// @throws error errc::invalid_argument when the transaction has ended.
TABLEQ_EXPORT sqlite3* sqlite_session_of(transaction& tx);

}  // namespace tableq::inline v0
