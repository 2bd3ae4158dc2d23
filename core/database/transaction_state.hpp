#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/at_end.hpp"
#include "core/database/database_state.hpp"
#include "core/database/open_transaction.hpp"
#include "core/session/retry.hpp"

namespace tableq::inline v0::core {

/// A session with an open transaction, begun by tableq or by the caller; `tableq::transaction` is
/// its handle. Or a part of a unit of work that the calls of several threads share.
class transaction_state {
 public:
  /// One operation in the transaction, or its end. While an object lives, only its thread may use
  /// the transaction. Another thread's attempt is refused, and then the transaction can only be
  /// rolled back.
  class use {
   public:
    /// @throws error errc::invalid_argument when another thread uses the transaction.
    explicit use(transaction_state& owner);
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    /// If the operation failed after it had changed messages, the transaction must not be
    /// committed.
    ~use();

   private:
    transaction_state& transaction_;
    bool outermost_ = true;
    int exceptions_;
  };

  /// Begins a transaction.
  transaction_state(std::shared_ptr<database_state> database, std::chrono::milliseconds retry_for);
  /// Joins the caller's transaction.
  /// @throws error errc::invalid_argument when the session cannot be used.
  transaction_state(std::shared_ptr<database_state> database, const any_session& callers,
                    const enlist_options& options);
  /// Works within a unit of work of `shared_session`, which its owner commits. Failures undo all of
  /// it.
  transaction_state(std::shared_ptr<database_state> database, connection& shared_session);
  transaction_state(const transaction_state&) = delete;
  transaction_state& operator=(const transaction_state&) = delete;
  ~transaction_state();

  /// The transaction is the application's: calls on its database beside it are refused in the
  /// thread that used it last, unless the options allow them.
  void refuse_beside();

  /// In a child of the process that began the transaction, drops it without a rollback.
  void leave() noexcept { mark_.reset(); }

  void commit();
  void rollback();
  /// Whether it is a part of a shared unit. Its steps are not observed: any thread may run them,
  /// and the unit may run again.
  [[nodiscard]] bool is_part() const noexcept { return lent_ != nullptr; }
  /// Runs `work()`. An observer sees its statements as one operation, which the caller reports.
  template <class Work>
  auto as_one_operation(Work work) {
    const at_end done([this]() noexcept { one_operation_ = false; });
    one_operation_ = true;
    return work();
  }
  /// Whether an observer is told of each statement.
  [[nodiscard]] bool tells_statements() const noexcept { return !is_part() && !one_operation_; }
  /// The work in a shared unit has ended; another thread may destroy the object.
  void end_part() noexcept { mark_.reset(); }
  /// The owner of the shared unit has committed it. Otherwise the destructor assumes a rollback.
  void committed_by_owner();
  [[nodiscard]] bool active() const noexcept { return active_; }
  /// Whether it is the caller's own.
  [[nodiscard]] bool enlisted() const noexcept { return adopted_ != nullptr; }
  /// Only compared; null: it is not enlisted.
  [[nodiscard]] const void* callers_session() const noexcept { return callers_session_; }
  [[nodiscard]] database_state& database() const noexcept { return *database_; }
  /// Whether this process began the transaction.
  [[nodiscard]] bool here() const noexcept { return database_->here(); }
  /// @throws error errc::invalid_argument when the transaction has ended, or belongs to another
  ///   process.
  connection& session();

  /// Every operation calls it before it changes anything. After a failed operation it checks only
  /// that the transaction has not ended.
  /// @throws error errc::invalid_argument when the session has no open transaction any more, unless
  ///   the caller enlisted it with autocommit.
  void check_open();

  /// Runs an operation's statements. Remembers a failure, since the database may have undone
  /// everything.
  /// @param changes whether they change messages.
  row_set run(bool changes, const std::function<row_set(connection&)>& work);

  /// Runs `work()`, several statements of one operation, so that the caller's session keeps all of
  /// its changes or none: in a savepoint, or in a transaction of its own where there is none. In a
  /// transaction of tableq's an error already prevents the commit. Units nest.
  template <class Work>
  auto as_unit(Work work) {
    if (!adopted_) return work();
    // A unit that failed has changed nothing.
    at_end failed([this, before = changed_]() noexcept { changed_ = before; });
    unit_of_work unit(session());
    auto result = work();
    unit.commit();
    failed.cancel();
    announce_unit();
    return result;
  }
  /// Whether the session is in no transaction, so that each statement commits by itself.
  [[nodiscard]] bool in_none() const noexcept;

  /// Whether open_transaction::on_this_thread counts it.
  [[nodiscard]] bool counts_as_open() const noexcept;

  /// Whether the caller's open transaction keeps what the current operation has changed so far.
  [[nodiscard]] bool keeps_changes() const noexcept;

  /// From now on tableq's own transaction can only be rolled back, as after a failed operation.
  void spoil() noexcept { failed_ = failed_ || !adopted_; }

  /// Messages were added to the queue: notifies readers when the transaction commits. In the
  /// caller's transaction the database does this, if it can: for each operation, since a rollback
  /// to a savepoint takes notifications back, and the next transaction needs its own.
  void announce_on_commit(shared_queue& queue, std::size_t count);
  /// The current operation's statement has notified for the caller's transaction.
  void announced(shared_queue& queue) { touched(queue).announced = true; }
  /// The end of the transaction changes the room of a bounded queue, after a commit and after a
  /// rollback.
  /// @param readmitted whether messages were added that need no room.
  void changes_room(shared_queue& queue, bool readmitted = false);
  /// Runs `work` when the transaction has been committed and its session returned; of several with
  /// one key the last. In a transaction of the caller never, or after a later operation that
  /// commits by itself: the library does not see the caller's commit.
  void after_commit(std::int64_t key, std::function<void()> work) {
    if (adopted_ == nullptr || autocommit_) after_commit_[key] = std::move(work);
  }
  /// Messages were read from the queue; a rollback returns them.
  void hint_on_rollback(shared_queue& queue) { touched(queue).read = true; }
  /// It holds no message: its rollback wakes nobody.
  void found_nothing() noexcept {
    for (auto& [key, each] : touched_) each.read = false;
  }

 private:
  /// The effects of the transaction on a queue, for the calls and processes that its end concerns.
  struct touched_queue {
    std::shared_ptr<shared_queue> queue;
    std::size_t added = 0;   ///< Messages that are not announced yet.
    bool announced = false;  ///< By the current operation, in the caller's transaction.
    bool read = false;
    bool room_changed = false;  ///< Of a bounded queue.
    bool readmitted = false;    ///< With room_changed: messages were added that need no room.
  };

  touched_queue& touched(shared_queue& queue) {
    touched_queue& out = touched_[queue.key];
    if (!out.queue) out.queue = queue.shared_from_this();
    return out;
  }
  void announce_unit() noexcept;
  void announce_commit(const std::map<queue_key, touched_queue>& touched);
  void run_after_commit();
  void end() noexcept;
  void check_open(connection& on) const;
  void commit_now();
  void roll_back_now();
  void announce_rollback() noexcept;
  void undo() noexcept;
  [[nodiscard]] observed_operation database_operation(std::string_view name) const noexcept;

  std::shared_ptr<database_state> database_;
  leased_session leased_;
  std::unique_ptr<connection> adopted_;
  const void* callers_session_ = nullptr;
  connection* lent_ = nullptr;  // of a shared unit of work
  bool autocommit_ = false;     // the adopted session may be in no transaction
  std::map<queue_key, touched_queue> touched_;
  std::map<std::int64_t, std::function<void()>> after_commit_;
  std::optional<open_transaction> mark_{std::in_place};  // until the transaction ends
  std::atomic<std::thread::id> user_{};                  // the thread of the current operation
  std::atomic<bool> shared_ = false;                     // two threads used it at the same time
  std::atomic<bool> active_ = true;
  // Only the thread that uses the transaction reads these three.
  bool failed_ = false;         // an operation failed, so that it cannot be committed
  bool changed_ = false;        // the current operation has changed messages
  bool one_operation_ = false;  // its statements are not observed one by one
};

/// Begins a transaction of the library. Without a commit its destruction rolls back, except in a
/// child that inherited it.
/// @param retry_for instead of open_options::retry_for.
std::shared_ptr<transaction_state> begin_transaction(
    std::shared_ptr<database_state> database,
    std::optional<std::chrono::milliseconds> retry_for = {});
/// Begins a transaction of the application.
std::shared_ptr<transaction_state> begin_for_application(
    std::shared_ptr<database_state> database,
    std::optional<std::chrono::milliseconds> retry_for = {});

/// Joins the caller's transaction.
/// @throws error errc::invalid_argument when the session cannot be used.
std::shared_ptr<transaction_state> join_callers(std::shared_ptr<database_state> database,
                                                const any_session& callers,
                                                const enlist_options& options);
/// The state of a transaction.
/// @throws error errc::invalid_argument for one that was moved from.
transaction_state& usable(const transaction& tx, std::string_view operation);

/// Runs `work(transaction_state&)` in the caller's transaction. If there is none, runs it in a new
/// transaction, which is repeated if that is safe.
template <class Work>
auto in_one_transaction(database_state& database, transaction_state* tx, Work work) {
  if (tx != nullptr) return tx->as_unit([&] { return work(*tx); });
  return database.observed({.name = "transact", .backend = database.name()},
                           [&](const observation& observing) {
                             return repeating(
                                 database.options().retry_for, contact::known,
                                 [&] {
                                   const auto own = begin_transaction(database.shared_from_this());
                                   auto result = work(*own);
                                   own->commit();
                                   return result;
                                 },
                                 &observing);
                           });
}

}  // namespace tableq::inline v0::core
