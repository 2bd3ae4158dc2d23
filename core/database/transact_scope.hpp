#pragma once

namespace tableq::inline v0::core {

class database_state;
class transaction_state;

/// While an object lives, this thread runs a function in a transaction of the database. Operations
/// beside the transaction are then refused, unless the caller asked for them, also if another
/// thread has used the transaction last.
///
/// @par Thread safety
/// Objects end in the thread that made them, in reverse order.
class transact_scope {
 public:
  /// @param ends_itself the function must not end it.
  transact_scope(const database_state& database, const transaction_state& ends_itself) noexcept;
  transact_scope(const transact_scope&) = delete;
  transact_scope& operator=(const transact_scope&) = delete;
  ~transact_scope();

  /// Whether this thread runs a function in a transaction of the database. Elsewhere it costs the
  /// load of a thread-local pointer.
  [[nodiscard]] static bool covers(const database_state& database) noexcept;
  /// Whether this thread runs a function in this transaction.
  [[nodiscard]] static bool runs_in(const transaction_state& transaction) noexcept;

 private:
  const database_state* database_;
  const transaction_state* transaction_;
  const transact_scope* outer_;
};

/// The kinds of work beside a transaction.
enum class beside {
  operation,    ///< Work that is possible in the transaction.
  change,       ///< A change that is never done in a transaction.
  read_only,    ///< A plain read that is never done in a transaction.
  of_database,  ///< A change of the database object itself.
  begin,        ///< Another transaction of begin: refused in the function of a transaction only.
};

/// Whether this thread runs a function in a transaction of the database, or is the one that used an
/// open transaction of it last.
[[nodiscard]] bool in_transaction(const database_state& database) noexcept;

/// Refuses work beside the transaction of this thread, if there is one and the caller did not ask
/// for it. If the transaction holds the only session, all work is refused.
/// @param outside whether the caller asked for work outside.
/// @throws error errc::invalid_argument.
void check_beside(const database_state& database, beside work, bool outside);

}  // namespace tableq::inline v0::core
