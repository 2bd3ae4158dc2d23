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
/// Distinct objects: safe. Shared objects: unsafe; a transaction belongs to one thread.
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
  ///   ended, or an earlier operation in it failed.
  void commit();

  /// Undoes everything and ends the transaction. Does nothing when it has ended.
  /// @throws error errc::invalid_argument when it is enlisted.
  void rollback();

  /// Neither committed nor rolled back yet. Always true for an enlisted one; false in a child of the
  /// process that began it.
  [[nodiscard]] bool active() const noexcept;

  [[nodiscard]] core::transaction_state& state() noexcept { return *state_; }

 private:
  std::unique_ptr<core::transaction_state> state_;
};

}  // namespace tableq
