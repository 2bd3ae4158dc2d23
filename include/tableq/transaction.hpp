#pragma once

#include <memory>

#include <tableq/export.hpp>

namespace tableq {

namespace core {
class transaction_state;
}

/// Several operations that commit together or not at all.
///
/// Made by `database::begin`, `database::transact` or `enlist`. Owns its session until it ends; an
/// enlisted one borrows the caller's session and never begins, commits or rolls back on it.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe; one thread at a time may use a transaction. A
/// call that meets another thread's call is refused with errc::invalid_argument, and from then on
/// the transaction can only be rolled back.
class TABLEQ_EXPORT transaction {
 public:
  /// For the library: applications get theirs from `database::begin`.
  explicit transaction(std::unique_ptr<core::transaction_state> state) noexcept;
  transaction(transaction&&) noexcept;
  transaction& operator=(transaction&&) noexcept;
  /// Rolls back what was not committed. Errors are swallowed: the session is then thrown away, and
  /// the database rolls back by itself.
  ~transaction();

  /// Makes everything done so far permanent and ends the transaction.
  /// @throws error errc::outcome_unknown when the session died under way: never repeat blindly;
  ///   errc::conflict when the database undid it; errc::invalid_argument when it is enlisted, has
  ///   ended, an earlier operation in it failed, or two threads used it at the same time. An
  ///   operation that was refused before it changed anything (a bad argument, a full queue) does
  ///   not count as failed.
  void commit();

  /// Undoes everything and ends the transaction. Does nothing when it has ended.
  /// @throws error errc::invalid_argument when it is enlisted, or another thread uses it.
  void rollback();

  /// Neither committed nor rolled back yet. Always true for an enlisted one; false in a child of
  /// the process that began it.
  [[nodiscard]] bool active() const noexcept;

  [[nodiscard]] core::transaction_state& state() noexcept { return *state_; }

 private:
  std::unique_ptr<core::transaction_state> state_;
};

}  // namespace tableq
