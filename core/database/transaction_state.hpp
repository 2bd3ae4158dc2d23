#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "core/combining/open_transaction.hpp"
#include "core/database/database_state.hpp"

namespace tableq::inline v0::core {

/// What `tableq::transaction` is a handle to: a session with an open transaction, ours or the
/// caller's.
class transaction_state {
 public:
  /// One operation in the transaction, or its end: the thread that makes it has the transaction to
  /// itself until this object goes. Another thread's attempt is refused, and spoils the
  /// transaction.
  class use {
   public:
    /// @throws error errc::invalid_argument when another thread is at it.
    explicit use(transaction_state& of);
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    /// When the operation failed after it had changed messages: half of it is not to be committed.
    ~use();

   private:
    transaction_state& of_;
    bool outermost_ = true;
    int exceptions_;
  };

  /// Begins one of our own.
  explicit transaction_state(std::shared_ptr<database_state> in);
  /// Joins the caller's.
  /// @param autocommit whether the session may be in no transaction.
  /// @throws error errc::invalid_argument when the session cannot be used.
  transaction_state(std::shared_ptr<database_state> in, soci::session& callers, bool autocommit);
  transaction_state(const transaction_state&) = delete;
  transaction_state& operator=(const transaction_state&) = delete;
  ~transaction_state();

  /// In a child of the process that began it: forgets it.
  void leave() noexcept { mark_.reset(); }

  void commit();
  void rollback();
  [[nodiscard]] bool active() const noexcept { return active_; }
  /// The caller's own.
  [[nodiscard]] bool enlisted() const noexcept { return adopted_ != nullptr; }
  [[nodiscard]] database_state& database() const noexcept { return *database_; }
  /// Whether this is the process that began it.
  [[nodiscard]] bool here() const noexcept { return database_->here(); }
  /// @throws error errc::invalid_argument when the transaction has ended, or is another process's.
  connection& session();

  /// Before an operation changes anything.
  /// @throws error errc::invalid_argument when the session has no open transaction any more, unless
  ///   an operation has failed, or the caller allows that.
  void check_open();

  /// Runs an operation's statements; remembers when one fails, since the database may have undone
  /// all.
  row_set run(const std::function<row_set(connection&)>& work);

  /// From now on it can only be rolled back, as when an operation in it has failed.
  void spoil() noexcept { failed_ = true; }
  /// The operation under way changes messages.
  void changes_messages() noexcept { changed_ = true; }

  /// So many messages were added to the queue: tells of it when, and if, the transaction commits.
  /// In the caller's transaction the database does that, where it can.
  void announce_on_commit(watched_queue& to, std::size_t count);
  /// The room of a bounded queue will not be what it was when the transaction ends, either way.
  /// @param came_back whether messages were added that need no room.
  void changes_room(limits_watch& of, bool came_back = false) { bounded_[&of] |= came_back; }
  /// Messages were read from the queue, which are there again if the transaction is rolled back.
  void hint_on_rollback(watched_queue& of) { read_.insert(&of); }

 private:
  void end() noexcept;
  void check_open(connection& on) const;
  void commit_now();
  void roll_back_now();
  void tell_of_rollback() noexcept;
  void undo() noexcept;
  [[nodiscard]] observed_operation of_database(std::string_view name) const noexcept;

  std::shared_ptr<database_state> database_;
  std::optional<leased_session> leased_;
  std::unique_ptr<connection> adopted_;
  bool autocommit_ = false;  // the adopted session may be in no transaction
  std::map<watched_queue*, std::size_t> added_;
  std::set<watched_queue*> read_;
  std::map<limits_watch*, bool> bounded_;
  std::optional<open_transaction> mark_{std::in_place};  // until it ends
  std::atomic<std::thread::id> user_{};                  // the thread that is in an operation
  std::atomic<bool> shared_ = false;  // two threads were at it; whoever saw that says so
  std::atomic<bool> active_ = true;
  bool failed_ = false;   // the user's, as the one below
  bool changed_ = false;  // the operation under way has changed messages
};

/// Begins one of our own. It is rolled back when it goes uncommitted, but in a child that inherited
/// it.
std::shared_ptr<transaction_state> begin_transaction(std::shared_ptr<database_state> in);

}  // namespace tableq::inline v0::core
