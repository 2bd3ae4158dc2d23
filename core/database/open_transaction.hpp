#pragma once

#include <cstdint>
#include <vector>

#include "core/seam/driver.hpp"

namespace tableq::inline v0::core {

/// A call of the application's function. Transactions that it has begun in this thread and left
/// open, for others to use, are no longer this thread's when the object ends.
///
/// @par Thread safety
/// Objects end in the thread that made them, in reverse order.
class left_to_others {
 public:
  left_to_others();
  left_to_others(const left_to_others&) = delete;
  left_to_others& operator=(const left_to_others&) = delete;
  ~left_to_others();

 private:
  std::vector<const void*> before_;  ///< Databases with an open transaction before the call.
};

/// While an object lives, one thread has an open transaction: the thread that made the object, or
/// that used it last. Calls of this thread outside the transaction are not combined with calls of
/// other threads: the other threads would wait for locks that only this thread can release.
class open_transaction {
 public:
  /// @param of the database whose calls beside the transaction are refused; null: none are.
  /// @param enlisted the application's session, which may be between transactions; outlives this.
  explicit open_transaction(const void* of = nullptr, connection* enlisted = nullptr);
  open_transaction(const open_transaction&) = delete;
  open_transaction& operator=(const open_transaction&) = delete;
  ~open_transaction();

  /// From now on it is the calling thread's. One thread at a time may call this.
  void used_here();

  /// How many open transactions the calling thread has. Asks the client libraries of enlisted
  /// sessions, and no server.
  [[nodiscard]] static int on_this_thread() noexcept;
  /// An enlisted session was still in a transaction when its enlistment ended in this thread. What
  /// became of it is not known.
  /// @param session only compared.
  static void left_open(const void* session) noexcept;
  /// Whether the last such session of this thread was another than this one.
  [[nodiscard]] static bool left_open_beside(const void* session) noexcept;
  /// Whether it has one beside which calls on this database are refused.
  [[nodiscard]] static bool refuses_on_this_thread(const void* database) noexcept;

 private:
  friend class left_to_others;

  /// All of this process. Guarded by process_wide(), as the next two.
  static std::vector<open_transaction*>& all();
  template <class Work>
  static void each_here(Work work);

  const void* of_;
  connection* enlisted_;
  std::uint64_t thread_ = 0;  // zero: no thread's
};

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
