#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/schema.hpp>
#include <tableq/transaction.hpp>

namespace tableq::inline v0 {

/// What all queues have in common: a handle to one table of one database.
///
/// Shares the database's sessions and keeps them alive; copying is cheap. Made by `database`.
///
/// @par In a transaction
/// `in` gives a handle of the same queue that does its work inside a transaction:
/// `orders.in(tx).enqueue("order 42")`. It does not keep the transaction alive: once that is
/// destroyed or has ended, its operations are errc::invalid_argument. So are, on such a handle,
/// what would wait, what works in another thread, and what has transactions of its own:
/// enqueue_async, peek, list, stats, purge, redrive, limits, pause, workers. Operations in a
/// transaction are never repeated by tableq.
///
/// @par Beside a transaction
/// In the function that `database::transact` runs, a handle of the same database that is bound to
/// no transaction refuses every operation but looks (peek, list, stats, limits, paused) with
/// errc::invalid_argument: a forgotten `in` would work outside the transaction, or wait for its
/// locks. `outside` gives a handle that does that on purpose. Where the database has only one
/// session, as a SQLite database in memory, the transaction holds it, and all are refused.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
///
/// @par Errors of every operation
/// errc::connection_failed, connection_lost, outcome_unknown, busy, conflict, permission_denied,
/// read_only, storage_full, cancelled; not_found when the queue was dropped, also when it was made
/// anew, and kind_mismatch when that was as another kind: a handle belongs to the queue that it was
/// opened for. What may be repeated has been repeated before one of them is thrown, but for
/// operations in a transaction.
class TABLEQ_EXPORT queue {
 public:
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] tableq::kind kind() const noexcept;

  /// Stops all reads, in every process within a second: they return nothing, and those that wait go
  /// on waiting. Enqueues, settlements and looks go on. Lasts until `resume`, also over restarts.
  void pause();
  /// Lets reads go on; those that wait are woken within about a second.
  void resume();
  /// As it stands in the database now.
  [[nodiscard]] bool paused() const;

  /// Replaces all limits of the queue, for every process that uses it within a second. A rate that
  /// was there goes on with what is left of its burst. A first limit on the concurrency makes an
  /// index, unless the schema policy forbids that: then an administrator should.
  /// @throws error errc::invalid_argument for a value out of range, a burst without a rate, or
  ///   concurrency for another kind than claim; errc::not_found when the queue was dropped.
  void set_limits(const queue_limits& limits);
  /// As they stand in the database now.
  [[nodiscard]] queue_limits limits() const;

 protected:
  explicit queue(std::shared_ptr<core::queue_state> state) noexcept;
  // A move copies, so that no handle is left without its queue.
  queue(const queue&) noexcept = default;
  queue& operator=(const queue&) noexcept = default;
  ~queue() = default;

  /// The handle, bound to the transaction.
  /// @param Where transaction or enlistment.
  template <class Queue, class Where>
  [[nodiscard]] static Queue bound(Queue handle, Where& where) noexcept {
    handle.bind(where);
    return handle;
  }
  /// The handle, bound to no transaction on purpose.
  template <class Queue>
  [[nodiscard]] static Queue unbound(Queue handle) noexcept {
    handle.bind_to_none();
    return handle;
  }

 private:
  friend class core::access;
  void bind(const transaction& tx) noexcept;
  void bind(const enlistment& joined) noexcept;
  void bind_to_none() noexcept;

  std::shared_ptr<core::queue_state> state_;
  std::optional<std::weak_ptr<core::transaction_state>> in_;  // none: in no transaction
  bool outside_ = false;                                      // in none on purpose
};

}  // namespace tableq::inline v0
