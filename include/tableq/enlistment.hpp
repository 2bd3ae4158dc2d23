#pragma once

#include <utility>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/transaction.hpp>

namespace tableq::inline v0 {

/// The caller's own transaction: `orders.in(tableq::enlist(db, session)).enqueue("x")`. `enlist`
/// makes it: tableq/soci.hpp has one for sessions of SOCI, tableq/libpq.hpp, tableq/sqlite.hpp and
/// tableq/odbc.hpp for the handles of these libraries.
///
/// tableq never commits the transaction, rolls it back or repeats it; after an error the caller
/// should roll back. An operation of several statements runs in a savepoint, so that it changes
/// nothing if it fails, even if the caller commits. Exception: a take may leave messages leased
/// that it did not return. They come back when the lease ends. Each operation of the enlistment
/// needs an open transaction, not necessarily the first one. On SQL Server the savepoint was never
/// executed on a server.
///
/// tableq leaves no setting in the session, and no prepared statement but those of
/// enlist_options::keep_statements. `strict` queues hold their lock until the caller's transaction
/// ends.
///
/// Borrows the session, which must outlive it; owns nothing in the database. Handles made by `in`
/// are valid while it exists.
///
/// @par Thread safety
/// Distinct objects: safe, on distinct sessions. Shared objects: unsafe. Two enlistments of one
/// session do not detect use by two threads. At its other calls of tableq, the thread that used an
/// enlistment last asks the client library, not the server, whether the session is in a
/// transaction. If a session moves on to another thread, destroy its enlistment before.
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

/// For `enlist`.
struct enlist_options {
  /// The session needs no transaction. Each operation then commits by itself; if it has several
  /// statements, tableq begins and ends a transaction on the session. ODBC drivers do not report a
  /// plain BEGIN, and tableq's transaction would commit it: do not use both.
  bool autocommit = false;
  /// The statements that add messages stay prepared in the session until the enlistment ends. Make
  /// one enlistment for each of your connections, in a transaction or not, and keep it beside:
  /// adding a message then costs the database no parsing and no planning (docs/performance.md).
  /// Destroy the enlistment before you close the connection, best outside of a transaction: on
  /// PostgreSQL, statements of one that ends in a transaction stay until the connection closes.
  /// After DISCARD ALL or DEALLOCATE ALL the next operation in a transaction fails with
  /// advice::transaction, and the repeated transaction prepares them anew. Not kept behind a pooler
  /// in transaction mode that the database's address names. Do not use it on a connection through
  /// another such pooler.
  bool keep_statements = false;
};
inline constexpr enlist_options autocommit{.autocommit = true};

}  // namespace tableq::inline v0
