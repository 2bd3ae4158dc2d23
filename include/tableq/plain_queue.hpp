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
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] destructive_queue outside() const noexcept { return unbound(*this); }

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
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] plain_queue outside() const noexcept { return unbound(*this); }

  /// Adds one message; it is stored when the call returns, inside a transaction when that commits.
  /// @param full what to do when the queue has a capacity and no room. Inside a transaction there
  ///   is no waiting: it would hold its locks.
  /// @throws error errc::too_large for a payload over the database's limit, invalid_argument for
  ///   options out of range, queue_full; nothing is changed then.
  message_id enqueue(payload_view payload, const enqueue_options& options = {},
                     const when_full& full = {});

  /// Adds all or none, in order, in one transaction. Returns the ids in the order of the messages.
  /// An empty batch does nothing.
  std::vector<message_id> enqueue_batch(const batch_view<new_message>& messages,
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
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] heap_queue outside() const noexcept { return unbound(*this); }

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
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] fifo_queue outside() const noexcept { return unbound(*this); }

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
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] lifo_queue outside() const noexcept { return unbound(*this); }

 private:
  friend class database;
  using plain_queue::plain_queue;
};

}  // namespace tableq::inline v0
