#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "core/database_state.hpp"

namespace tableq::core {

/// What `tableq::transaction` is a handle to: a session with an open transaction, ours or the
/// caller's.
class transaction_state {
 public:
  /// Begins one of our own.
  explicit transaction_state(std::shared_ptr<database_state> in);
  /// Joins the caller's.
  transaction_state(std::shared_ptr<database_state> in, soci::session& callers);
  transaction_state(const transaction_state&) = delete;
  transaction_state& operator=(const transaction_state&) = delete;
  ~transaction_state();

  void commit();
  void rollback();
  [[nodiscard]] bool active() const noexcept { return active_; }
  /// The caller's own.
  [[nodiscard]] bool enlisted() const noexcept { return adopted_ != nullptr; }
  [[nodiscard]] const database_state& database() const noexcept { return *database_; }
  /// @throws error errc::invalid_argument when the transaction has ended.
  connection& session();

  /// Runs an operation's statements; remembers when one fails, since the database may have undone
  /// all.
  row_set run(const std::function<row_set(connection&)>& work);

  /// Wakes these readers when, and if, the transaction commits.
  void wake_on_commit(waker& readers) { waiting_.insert(&readers); }

 private:
  void end() noexcept;
  void undo() noexcept;
  [[nodiscard]] observed_operation of_database(std::string_view name) const noexcept;

  std::shared_ptr<database_state> database_;
  std::optional<leased_session> leased_;
  std::unique_ptr<connection> adopted_;
  std::set<waker*> waiting_;
  bool active_ = true;
  bool failed_ = false;
};

}  // namespace tableq::core
