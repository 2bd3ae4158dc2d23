#pragma once

namespace tableq::inline v0::core {

class database_state;
class transaction_state;

/// Marks, as long as it lives, that this thread runs a function in a transaction of the database:
/// operations beside the transaction are refused meanwhile, unless the caller asked for that.
///
/// @par Thread safety
/// It ends in the thread that made it, in reverse order.
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

/// The sort of work beside a transaction.
enum class beside {
  operation,    ///< What could be done in the transaction.
  change,       ///< A change that is never done in a transaction.
  look,         ///< A look that is never done in a transaction.
  of_database,  ///< A change of the database object's own.
};

/// Refuses work beside the transaction of this thread, if there is one: what is not wanted outside,
/// and everything where the transaction holds the only session.
/// @param outside whether the caller asked for work outside.
/// @throws error errc::invalid_argument.
void check_beside(const database_state& database, beside work, bool outside);

}  // namespace tableq::inline v0::core
