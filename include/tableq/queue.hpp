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

/// The base of all queues: a handle to one table of one database.
///
/// Shares the database's sessions and keeps them open; copying is cheap. Made by `database`.
///
/// @par In a transaction
/// `in` gives a handle of the same queue that works inside a transaction:
/// `orders.in(tx).enqueue("order 42")`. It does not keep the transaction alive: after the end of
/// the transaction its operations throw errc::invalid_argument. Operations that wait, use another
/// thread or have their own transactions throw it always: enqueue_async, peek, list, stats, purge,
/// redrive, limits, pause, workers. tableq never repeats operations in a transaction.
///
/// @par Beside a transaction
/// Inside the function of `database::transact`, and in the thread that used an open transaction of
/// the database last (database::begin), a handle of that database that is bound to no transaction
/// allows only peek, list, stats, limits and paused. It refuses every other operation with
/// errc::invalid_argument: without `in` it would work outside the transaction, or wait for its
/// locks. `outside` gives a handle for such work on purpose. If the database has only one session,
/// as SQLite in memory, the transaction holds it, and all operations are refused.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
///
/// @par Errors of every operation
/// errc::connection_failed, connection_lost, outcome_unknown, busy, conflict, permission_denied,
/// read_only, storage_full, cancelled; not_found when the queue was dropped, even if created again,
/// and kind_mismatch when created again as another kind: a handle is valid only for the queue that
/// it was opened for. Outside of transactions tableq first repeats what is safe to repeat.
class TABLEQ_EXPORT queue {
 public:
  /// The name without the table_prefix. Valid while a copy of this handle exists. The database is
  /// not asked.
  [[nodiscard]] const std::string& name() const noexcept;
  /// The kind. The database is not asked.
  [[nodiscard]] tableq::kind kind() const noexcept;

  /// Stops all reads, in every process within a second: they return nothing, and waiting reads
  /// continue to wait. Enqueues, settlements, peek, list and stats still work. Lasts until
  /// `resume`, also across restarts.
  void pause();
  /// Allows reads again; waiting reads wake within about a second.
  void resume();
  /// As it stands in the database now.
  [[nodiscard]] bool paused() const;

  /// Replaces all limits of the queue, for every process that uses it within a second. An existing
  /// rate continues with the rest of its burst. The first concurrency limit creates an index,
  /// unless the schema policy forbids it: then an administrator should create it. It waits for open
  /// transactions that have written to the queue, up to `retry_for`, and does not hold up other
  /// calls meanwhile.
  /// @throws error errc::invalid_argument for a value out of range, a burst without a rate, or
  ///   concurrency on a kind other than claim; errc::not_found when the queue was dropped;
  ///   errc::busy that names the sessions in the way, where the database tells them.
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
  /// @tparam Where transaction or enlistment.
  template <class Queue, class Where>
  [[nodiscard]] static Queue bound(Queue handle, Where& where) noexcept {
    handle.bind(where);
    return handle;
  }
  /// The handle, deliberately bound to no transaction.
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
