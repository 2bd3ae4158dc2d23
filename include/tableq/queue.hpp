#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/outcome.hpp>
#include <tableq/payload.hpp>
#include <tableq/stats.hpp>
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
  queue(const queue&) = default;
  queue(queue&&) noexcept = default;
  queue& operator=(const queue&) = default;
  queue& operator=(queue&&) noexcept = default;
  ~queue() = default;

  /// The handle, bound to the transaction.
  /// @param Where transaction or enlistment.
  template <class Queue, class Where>
  [[nodiscard]] static Queue bound(Queue handle, Where& where) noexcept {
    handle.bind(where);
    return handle;
  }

 private:
  friend class core::access;
  void bind(const transaction& tx) noexcept;
  void bind(const enlistment& joined) noexcept;

  std::shared_ptr<core::queue_state> state_;
  std::optional<std::weak_ptr<core::transaction_state>> in_;  // none: in no transaction
};

/// A queue whose reads delete: what `dequeue` returns has left the table for good.
///
/// Outside a transaction delivery is at most once: a process that dies with the message has lost
/// it. Inside a transaction the message returns when the transaction does not commit.
class TABLEQ_EXPORT destructive_queue : public queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] destructive_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] destructive_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }

  /// Takes the next message, whose order the kind decides.
  /// @param options inside a transaction `wait` is refused: it would hold its locks.
  /// @return nothing when no message was there (or became so within `wait`).
  [[nodiscard]] std::optional<message> dequeue(const dequeue_options& options = {});

  /// Takes up to `max` messages, 1 to 10,000, in one statement, in the queue's order.
  /// @throws error errc::invalid_argument when max is 0 or over 10,000.
  [[nodiscard]] std::vector<message> dequeue_batch(std::size_t max,
                                                   const dequeue_options& options = {});

  /// Looks at up to `max` messages (1 to 10,000) that reads would return next, without taking or
  /// locking them. Others may take them meanwhile: never decide to dequeue by it.
  [[nodiscard]] std::vector<message> peek(std::size_t max = 1) const;

  /// Deletes every message, a thousand in each transaction. What is locked by readers stays.
  /// @return how many.
  std::size_t purge();

  /// Counts, up to 10,000 of each figure unless told otherwise: cheap enough for each second.
  /// @throws error errc::invalid_argument for options out of range.
  [[nodiscard]] queue_stats stats(const stats_options& options = {}) const;

 protected:
  using queue::queue;
};

/// A destructive queue whose messages carry nothing but a payload.
class TABLEQ_EXPORT plain_queue : public destructive_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] plain_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] plain_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }

  /// Adds one message; it is stored when the call returns, inside a transaction when that commits.
  /// @param full what to do when the queue has a capacity and no room. Inside a transaction there
  ///   is no waiting: it would hold its locks.
  /// @throws error errc::too_large for a payload over the database's limit, invalid_argument for
  ///   options out of range, queue_full; nothing is changed then.
  message_id enqueue(payload_view payload, const enqueue_options& options = {},
                     const when_full& full = {});

  /// Adds all or none, in order, in one transaction. Returns the ids in the order of the messages.
  /// An empty batch does nothing.
  std::vector<message_id> enqueue_batch(std::span<const new_message> messages,
                                        const when_full& full = {});

  /// Hands one message over and returns: a thread stores it, together with what comes meanwhile, in
  /// the order of the calls. It is stored when the outcome says so. Waits only while
  /// open_options::async_messages or async_bytes are on their way. The destructor of the last copy
  /// of this handle waits until all outcomes are known. A child of fork() learns no outcome of what
  /// its parent has handed over: the future is never ready there.
  /// @throws error errc::too_large, invalid_argument, as enqueue; all else is told by the outcome.
  ///   A full queue is told at once. Inside a transaction always invalid_argument.
  [[nodiscard]] std::future<message_id> enqueue_async(std::string payload,
                                                      const enqueue_options& options = {});
  /// @param done called once, on the thread that stores: it should be quick, and must not throw. It
  ///   may enqueue, and is then never made to wait. An empty one is errc::invalid_argument.
  void enqueue_async(std::string payload, const enqueue_options& options,
                     std::function<void(outcome<message_id>)> done);

 protected:
  using destructive_queue::destructive_queue;
};

/// No order at all: a read returns any message that nobody holds. The cheapest kind.
class TABLEQ_EXPORT heap_queue : public plain_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] heap_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] heap_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }

 private:
  friend class database;
  using plain_queue::plain_queue;
};

/// Oldest first.
class TABLEQ_EXPORT fifo_queue : public plain_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] fifo_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] fifo_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }

 private:
  friend class database;
  using plain_queue::plain_queue;
};

/// Newest first.
class TABLEQ_EXPORT lifo_queue : public plain_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] lifo_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] lifo_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }

 private:
  friend class database;
  using plain_queue::plain_queue;
};

/// Messages that wait for their time: a read returns the one that fell due first.
class TABLEQ_EXPORT pending_queue : public destructive_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] pending_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] pending_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }

  /// Adds one message that becomes visible at its due time, by the database's clock.
  /// @throws error as plain_queue::enqueue; errc::invalid_argument also for both delay and due_at.
  message_id enqueue(payload_view payload, const pending_options& options = {},
                     const when_full& full = {});

  /// Adds all or none, in one transaction. Returns the ids in the order of the messages.
  std::vector<message_id> enqueue_batch(std::span<const new_pending_message> messages,
                                        const when_full& full = {});

  /// As plain_queue::enqueue_async. A delay counts from when the message is stored.
  [[nodiscard]] std::future<message_id> enqueue_async(std::string payload,
                                                      const pending_options& options = {});
  void enqueue_async(std::string payload, const pending_options& options,
                     std::function<void(outcome<message_id>)> done);

 private:
  friend class database;
  using destructive_queue::destructive_queue;
};

}  // namespace tableq::inline v0
