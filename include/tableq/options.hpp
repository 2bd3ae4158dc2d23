#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <tableq/claim_options.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/shortcuts.hpp>
#include <tableq/trace_context.hpp>

namespace tableq::inline v0 {

namespace testing {
struct set_clock;
}

/// The kinds of queue. The first five are tableq's own, and stored by name.
enum class kind {
  heap,
  fifo,
  lifo,
  pending,
  claim,
  table,  ///< A table of the application: `database::table`.
};

/// The action of a read when another reader has locked the next message.
enum class ordering {
  relaxed,  ///< Skips it: parallel consumers may overtake each other.
  strict,   ///< Waits for it: one reader or writer at a time, exact order.
};

/// Permission for opening a queue to change the schema.
enum class schema_policy {
  create_if_missing,  ///< Creates catalogue and table; needs DDL rights for that only.
  verify_only,        ///< Never runs DDL: a missing table is errc::not_found.
};

/// How waiting reads learn of messages that others add. An enqueue by the same database object
/// always wakes them at once. docs/waiting.md has the costs.
enum class notifications {
  automatic,  ///< Uses the database's notifications, if it has them, in both directions.
  /// Reads poll; enqueues still notify others. For poolers that give a server's session to another
  /// client after each transaction.
  send_only,
  off,  ///< Reads poll, and enqueues do not notify. For two-phase commits on PostgreSQL.
};

/// Options of `database::open`.
struct open_options {
  /// Whether opening a queue may create its table.
  schema_policy schema = schema_policy::create_if_missing;

  /// Prefix of every table's name, also of the catalogue: applications with different prefixes
  /// share a database without common queues. Up to 16 of a-z, 0-9 and `_`; no digit at the
  /// beginning. Empty: no prefix.
  std::string table_prefix = {};

  /// The schema of the tables, for a database with schemas. It must exist. Empty: the schema in
  /// which the first session finds the catalogue, otherwise its default schema. The default schemas
  /// of later sessions, enlisted ones included, have no effect. Same characters as a queue's name.
  std::string schema_name = {};

  /// The most sessions open at once, 1 to 10,000. Further calls wait for one.
  std::size_t max_sessions = 16;

  /// How long a call waits for a free session before errc::busy. 1 ms to 365 days.
  std::chrono::milliseconds session_timeout = std::chrono::seconds{30};

  /// How long tableq repeats a call after errors that allow it (busy, conflict, a session lost
  /// before anything was sent). 0 to 365 days. Zero: no repetition.
  std::chrono::milliseconds retry_for = std::chrono::seconds{10};

  /// Whether a call that forgets `in(tx)` is refused while its thread is the one that used an open
  /// transaction of this `database` last (database::begin). Without it such a call works outside of
  /// the transaction. Switch it off for threads that serve several transactions at once, such as
  /// event loops and coroutines. Such a thread waits for itself if two of its transactions use the
  /// same key, group, strict queue or limit: nobody can tell, so give the sessions a limit of time
  /// for locks (docs/drivers.md). On SQLite one thread cannot have two transactions that write. In
  /// the function of `transact`, and of a worker, calls are refused
  /// always.
  bool refuses_beside_begin = true;

  /// Optimizations that may be used: all by default.
  tableq::shortcuts shortcuts = {};

  /// Most messages that `enqueue_async` accepts before they are stored, per handle of a queue and
  /// its copies; then it waits. At least 1.
  std::size_t async_messages = 10'000;
  /// The same for their payloads in bytes. At least 1. One message is always accepted.
  std::size_t async_bytes = std::size_t{64} * 1024 * 1024;

  /// The longest payload in bytes that an enqueue accepts; a longer one is errc::too_large. 1 to
  /// the longest that the database stores, otherwise `open` is errc::invalid_argument. Empty: that
  /// length; on PostgreSQL 500,000,000, because one of 537,000,000 makes pg_dump fail for the whole
  /// database. Longer messages that are stored are read, moved and redriven.
  std::optional<std::size_t> max_payload = {};

  /// How waiting reads learn of messages that others add.
  tableq::notifications notifications = tableq::notifications::automatic;

  /// Longest time between two polls of a waiting read when the database notifies. Polls find
  /// messages without a notification, such as those of plain SQL on PostgreSQL. 10 ms to 1 day.
  std::chrono::milliseconds poll_interval = std::chrono::seconds{5};

  /// For tests: a clock in place of the database's, made by tableq/testing.hpp. Null: the
  /// database's own clock.
  std::shared_ptr<const testing::set_clock> clock = {};

  /// Gives the trace context of the calling thread. Each enqueue into a `claim` queue calls it
  /// once, and stores what is valid as headers of its messages, unless a message has a
  /// `traceparent` of its own. Several threads call it at once; it must not throw. Messages of the
  /// other kinds have no headers, and so no trace. Empty: none, at no cost.
  std::function<trace_context()> trace = {};

  /// Receives events (observer.hpp). Null: no events, at no cost.
  std::shared_ptr<tableq::observer> observer = {};
};

/// Options of `database::fifo` and `database::lifo`.
struct order_options {
  /// Fixed when the queue is created. Empty: the stored value, relaxed for a new queue. A value
  /// that differs from the stored one is errc::options_mismatch.
  std::optional<tableq::ordering> ordering = {};
};

/// For enqueue into `heap`, `fifo` and `lifo` queues.
struct enqueue_options {
  /// Stored and returned; decides nothing. 1970 to 9999. Empty: the database's clock.
  std::optional<timestamp> created_at = {};
};

/// Options of enqueue into `pending` queues.
struct pending_options {
  /// From now by the database's clock, 0 to 3,650 days. Zero: due at once. Give this or `due_at`,
  /// not both.
  std::chrono::milliseconds delay{0};
  /// Absolute, 1970 to 9999. A time that has passed means at once. Empty: `delay` decides.
  std::optional<timestamp> due_at = {};
  /// Stored and returned; decides nothing. 1970 to 9999. Empty: the database's clock.
  std::optional<timestamp> created_at = {};
};

/// One message of a batch for `heap`, `fifo` and `lifo`.
struct new_message {
  std::string payload = {};      ///< Any bytes, also none, up to the database's limit.
  enqueue_options options = {};  ///< As for a single enqueue.
};

/// One message of a batch for `pending`.
struct new_pending_message {
  std::string payload = {};      ///< Any bytes, also none, up to the database's limit.
  pending_options options = {};  ///< As for a single enqueue.
};

/// Options of destructive reads.
struct dequeue_options {
  /// Longest wait for the first message, up to 365 days. Zero: no waiting.
  std::chrono::milliseconds wait{0};
  std::stop_token stop = {};  ///< A request ends the waiting, with an empty result.
};

}  // namespace tableq::inline v0
