#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <tableq/claim_options.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/shortcuts.hpp>

namespace tableq::inline v0 {

/// The five ways a queue can work. Stored by name.
enum class kind { heap, fifo, lifo, pending, claim };

/// What a read does when the message that is next is locked by another reader.
enum class ordering {
  relaxed,  ///< It skips it: parallel consumers may overtake each other.
  strict,   ///< It waits for it: one reader or writer at a time, exact order.
};

/// Whether opening a queue may change the schema.
enum class schema_policy {
  create_if_missing,  ///< Creates catalogue and table; needs DDL rights for that only.
  verify_only,        ///< Never runs DDL: what is missing is errc::not_found.
};

/// How waiting reads learn of what others add. What the same database object adds wakes them at
/// once in any case. docs/waiting.md says what each costs.
enum class notifications {
  automatic,  ///< The database notifies, where it can; others are notified where they listen.
  /// By polling. Others are still notified. For poolers that hand a server's session from client to
  /// client.
  send_only,
  off,  ///< By polling, and others are not notified either. For two-phase commits on PostgreSQL.
};

/// How `database::open` sets a database up.
struct open_options {
  schema_policy schema = schema_policy::create_if_missing;

  /// Put before every table's name, the catalogue's too: two applications with different prefixes
  /// share a database without seeing each other. Up to 16 of a-z, 0-9 and `_`, not beginning with a
  /// digit.
  std::string table_prefix = {};

  /// The schema that holds the tables, where the database has schemas (it must exist). Empty: the
  /// one in which the first session finds the catalogue, or else its default; what later sessions
  /// have by default, enlisted ones too, changes nothing. Same characters as a queue's name.
  std::string schema_name = {};

  /// The most sessions open at once, at least 1. Calls beyond that wait for one.
  std::size_t max_sessions = 16;

  /// How long a call waits for a free session before errc::busy. Positive.
  std::chrono::milliseconds session_timeout = std::chrono::seconds{30};

  /// How long calls that tableq may repeat (busy, conflict, a session lost before anything was
  /// sent) are repeated. Zero: not at all.
  std::chrono::milliseconds retry_for = std::chrono::seconds{10};

  /// What is done for speed alone.
  tableq::shortcuts shortcuts = {};

  /// How many messages, and bytes of payload, `enqueue_async` lets be on their way for one handle
  /// of a queue and its copies; then it waits. At least 1 each; one message may always go.
  std::size_t async_messages = 10'000;
  std::size_t async_bytes = std::size_t{64} * 1024 * 1024;

  tableq::notifications notifications = tableq::notifications::automatic;

  /// How long a waiting read goes without polling, at the most, where the database notifies: for
  /// what nobody tells of, such as plain SQL on PostgreSQL. 10 ms to 1 day.
  std::chrono::milliseconds poll_interval = std::chrono::seconds{5};

  /// For tests: replaces the database's clock in everything that due times, leases and ages depend
  /// on. Called from any thread that uses the database. Empty: the database's own clock.
  std::function<timestamp()> clock = {};

  /// Is told what happens (observer.hpp). Null: nobody, at no cost.
  std::shared_ptr<tableq::observer> observer = {};
};

/// For `database::fifo` and `database::lifo`.
struct order_options {
  /// Fixed when the queue is created. Empty: as stored, relaxed for a new queue. Opening a queue
  /// with the other one is errc::options_mismatch.
  std::optional<tableq::ordering> ordering = {};
};

/// For enqueue into `heap`, `fifo` and `lifo` queues.
struct enqueue_options {
  /// Stored and returned; decides nothing. Empty: the database's clock.
  std::optional<timestamp> created_at = {};
};

/// For enqueue into `pending` queues.
struct pending_options {
  /// From now by the database's clock, 0 to 3,650 days. Give this or `due_at`, not both.
  std::chrono::milliseconds delay{0};
  /// Absolute, 1970 to 9999. A time that has passed means at once.
  std::optional<timestamp> due_at = {};
  /// Stored and returned; decides nothing. Empty: the database's clock.
  std::optional<timestamp> created_at = {};
};

/// One message of a batch for `heap`, `fifo` and `lifo`.
struct new_message {
  std::string payload = {};
  enqueue_options options = {};
};

/// One message of a batch for `pending`.
struct new_pending_message {
  std::string payload = {};
  pending_options options = {};
};

/// For destructive reads.
struct dequeue_options {
  std::chrono::milliseconds wait{0};  ///< Until the first message; zero: do not wait.
  std::stop_token stop = {};          ///< A request ends the waiting, with an empty result.
};

}  // namespace tableq::inline v0
