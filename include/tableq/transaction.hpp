#pragma once

#include <memory>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>

namespace tableq::inline v0 {

/// Several operations that commit together or not at all: those of the handles that `in` of a queue
/// makes, as in `orders.in(tx).enqueue("order 42")`.
///
/// Made by `database::begin` or `database::transact`. Owns its session until it ends. One that was
/// moved from is not active, and its other functions are errc::invalid_argument.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe; one thread at a time may use a transaction. A
/// call that meets another thread's call is refused with errc::invalid_argument, and from then on
/// the transaction can only be rolled back.
class TABLEQ_EXPORT transaction {
 public:
  transaction(transaction&&) noexcept;
  transaction& operator=(transaction&&) noexcept;
  /// Rolls back what was not committed. Errors are swallowed: the session is then thrown away, and
  /// the database rolls back by itself.
  ~transaction();

  /// Makes everything done so far permanent and ends the transaction.
  /// @throws error errc::outcome_unknown when the session died under way: never repeat blindly;
  ///   errc::conflict when the database undid it; errc::invalid_argument when it is enlisted, has
  ///   ended, also by a statement of the caller's in `session_of(tx)`, an earlier operation in it
  ///   failed, or two threads used it at the same time. An operation that was refused before it
  ///   changed anything (a bad argument, a full queue) does not count as failed.
  void commit();

  /// Undoes everything and ends the transaction. Does nothing when it has ended.
  /// @throws error errc::invalid_argument when it is enlisted, or another thread uses it.
  void rollback();

  /// Neither committed nor rolled back yet. Always true for an enlisted one; false in a child of
  /// the process that began it.
  [[nodiscard]] bool active() const noexcept;

 private:
  friend class core::access;
  explicit transaction(std::shared_ptr<core::transaction_state> state) noexcept;

  std::shared_ptr<core::transaction_state> state_;  // handles of queues refer to it weakly
};

}  // namespace tableq::inline v0
