#pragma once

#include <memory>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>

namespace tableq::inline v0 {

/// Several operations that commit together or not at all. `in` of a queue makes handles for them:
/// `orders.in(tx).enqueue("order 42")`.
///
/// Made by `database::begin` or `database::transact`. Owns its session until it ends. A moved-from
/// transaction is not active, and its other functions throw errc::invalid_argument.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe; one thread at a time may use a transaction. A
/// call during another thread's call throws errc::invalid_argument, and the transaction can then
/// only be rolled back.
class TABLEQ_EXPORT transaction {
 public:
  transaction(transaction&&) noexcept;
  /// Rolls back its own work first, as the destructor does.
  transaction& operator=(transaction&&) noexcept;
  /// Rolls back if not committed. Errors are ignored: the session is then closed, and the database
  /// rolls back by itself.
  ~transaction();

  /// Makes everything done so far permanent and ends the transaction.
  /// @throws error errc::outcome_unknown when the session died during the commit: do not repeat it
  ///   without a check; errc::conflict when the database rolled it back; errc::invalid_argument
  ///   when it is enlisted, has ended (also by a statement in `session_of(tx)`), an earlier
  ///   operation in it failed, or two threads used it at the same time. An operation that was
  ///   refused before it changed anything (a bad argument, a full queue) does not count as failed.
  void commit();

  /// Rolls back and ends the transaction. Does nothing when it has ended.
  /// @throws error errc::invalid_argument when it is enlisted, or another thread uses it.
  void rollback();

  /// True until commit or rollback. Always true for an enlisted transaction; false in a child of
  /// the process that began it.
  [[nodiscard]] bool active() const noexcept;

 private:
  friend class core::access;
  explicit transaction(std::shared_ptr<core::transaction_state> state) noexcept;

  std::shared_ptr<core::transaction_state> state_;  // handles of queues refer to it weakly
};

}  // namespace tableq::inline v0
