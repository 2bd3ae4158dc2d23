#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <tableq/batch_view.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/outcome.hpp>
#include <tableq/payload.hpp>
#include <tableq/queue.hpp>
#include <tableq/stats.hpp>
#include <tableq/transaction.hpp>

namespace tableq::inline v0 {

/// A queue whose reads delete: `dequeue` removes the message from the table.
///
/// Outside a transaction delivery is at most once: a message is lost if its process dies. Inside a
/// transaction the message returns if the transaction does not commit.
///
/// Shares the sessions of its database and keeps them open. Threads, transactions and the errors of
/// every operation: see `queue`.
class TABLEQ_EXPORT destructive_queue : public queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] destructive_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] destructive_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] destructive_queue outside() const noexcept { return unbound(*this); }

  /// Takes the next message in the order of the kind.
  /// @param options inside a transaction `wait` is refused: it would hold its locks.
  /// @return empty when there was no message, and none came within `wait`.
  /// @throws error errc::invalid_argument for a wait out of range.
  [[nodiscard]] std::optional<message> dequeue(const dequeue_options& options = {});

  /// Takes up to `max` messages, 1 to 10,000, in one statement, in the queue's order.
  /// @throws error errc::invalid_argument when max is 0 or over 10,000.
  [[nodiscard]] std::vector<message> dequeue_batch(std::size_t max,
                                                   const dequeue_options& options = {});

  /// Returns up to `max` messages (1 to 10,000) that reads would return next, without taking or
  /// locking them. Others may take them at any time, so the result is no promise for a dequeue.
  /// @throws error errc::invalid_argument for max out of range.
  [[nodiscard]] std::vector<message> peek(std::size_t max = 1) const;

  /// Deletes every message, a thousand per transaction. Messages that readers have locked stay.
  /// @return how many.
  std::size_t purge();

  /// Counts messages, by default up to 10,000 per figure: cheap enough for once a second.
  /// @throws error errc::invalid_argument for options out of range.
  [[nodiscard]] queue_stats stats(const stats_options& options = {}) const;

 protected:
  using queue::queue;
};

/// A destructive queue whose messages have only a payload.
///
/// Shares the sessions of its database. Delivery: see `destructive_queue`; all else: see `queue`.
class TABLEQ_EXPORT plain_queue : public destructive_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] plain_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] plain_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] plain_queue outside() const noexcept { return unbound(*this); }

  /// Adds one message. It is stored when the call returns; inside a transaction, when that commits.
  /// @param full the action when the queue is at its capacity. Inside a transaction there is no
  ///   waiting: it would hold its locks.
  /// @throws error errc::too_large for a payload over the database's limit, invalid_argument for
  ///   options out of range, queue_full; then nothing has changed.
  message_id enqueue(payload_view payload, const enqueue_options& options = {},
                     const when_full& full = {});

  /// Adds all or none, in order, in one transaction. Returns the ids in the order of the messages.
  /// An empty batch does nothing.
  /// @throws error as enqueue, for any of the messages.
  std::vector<message_id> enqueue_batch(const batch_view<new_message>& messages,
                                        const when_full& full = {});

  /// Accepts one message and returns. A thread stores the accepted messages in batches, in the
  /// order of the calls. The outcome reports when the message is stored. The call waits only while
  /// open_options::async_messages or async_bytes are not yet stored. The destructor of the last
  /// copy of this handle waits for all outcomes. In a child of fork() the future of a parent's call
  /// is never ready.
  /// @throws error errc::too_large, invalid_argument, as enqueue; errc::busy when the system cannot
  ///   create the thread. The outcome has every other error; that of a full queue comes at once.
  ///   Inside a transaction always invalid_argument.
  [[nodiscard]] std::future<message_id> enqueue_async(std::string payload,
                                                      const enqueue_options& options = {});
  /// @param done called once, in the storing thread: it should be quick, and must not throw. It may
  ///   enqueue; that call never waits. An empty function is errc::invalid_argument.
  void enqueue_async(std::string payload, const enqueue_options& options,
                     std::function<void(outcome<message_id>)> done);

 protected:
  using destructive_queue::destructive_queue;
};

/// No order: a read returns any message that is not locked. The cheapest kind.
///
/// Shares the sessions of its database: see `plain_queue`.
class TABLEQ_EXPORT heap_queue : public plain_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] heap_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] heap_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] heap_queue outside() const noexcept { return unbound(*this); }

 private:
  friend class database;
  using plain_queue::plain_queue;
};

/// Oldest first.
///
/// Shares the sessions of its database: see `plain_queue`.
class TABLEQ_EXPORT fifo_queue : public plain_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] fifo_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] fifo_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] fifo_queue outside() const noexcept { return unbound(*this); }

 private:
  friend class database;
  using plain_queue::plain_queue;
};

/// Newest first.
///
/// Shares the sessions of its database: see `plain_queue`.
class TABLEQ_EXPORT lifo_queue : public plain_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] lifo_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] lifo_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] lifo_queue outside() const noexcept { return unbound(*this); }

 private:
  friend class database;
  using plain_queue::plain_queue;
};

}  // namespace tableq::inline v0
