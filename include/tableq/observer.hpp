#pragma once

/// @file
/// Callbacks for the operations of tableq. metrics.hpp uses them.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include <tableq/error.hpp>
#include <tableq/export.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/stats.hpp>
#include <tableq/worker_event.hpp>

namespace tableq::inline v0 {

/// One operation in the database. Contains no data of a message. The views are valid during the
/// call.
struct observed_operation {
  /// The step: `fifo.enqueue`, `claim.take`, `begin`, `commit`. One call may have several steps: a
  /// take that finds nothing is `claim.take`, `claim.promote`, `claim.take`. Some calls add
  /// `limits.read`, which reads the queue's limits, and a wait adds a step for each poll.
  std::string_view name;
  std::string_view backend = {};          ///< The dialect's name.
  std::string_view queue = {};            ///< Empty: not of one queue.
  std::optional<tableq::kind> kind = {};  ///< Of the queue. Empty: not of one queue.
  std::size_t given = 0;        ///< Messages, receipts or ids in the call. Zero: it has none.
  bool in_transaction = false;  ///< The caller's transaction: nothing is repeated.
};

/// The result of an operation.
struct operation_result {
  std::size_t messages = 0;  ///< Messages added, taken, settled, changed or read.
  /// Includes the waits for a session and for locks, the retries and their pauses.
  std::chrono::nanoseconds duration{0};
  std::optional<errc> failed = {};  ///< Empty if it succeeded.
  /// The step's error; the caller gets it under the name of the call. Null if the step succeeded,
  /// or failed with another exception such as std::bad_alloc (`failed` is then errc::internal).
  const tableq::error* error = nullptr;
};

/// A failure after which the operation is repeated.
struct operation_retry {
  errc failed = errc::busy;           ///< The error of that attempt.
  int attempt = 1;                    ///< The failed attempt, counted from 1.
  std::chrono::nanoseconds pause{0};  ///< The pause before the next attempt.
};

/// The result of a message in a worker. It omits the handler's text, which may hold any data. The
/// views are valid during the call.
struct handled_message {
  std::string_view backend = {};                            ///< The dialect's name.
  std::string_view queue = {};                              ///< The name of the worker's queue.
  message_id id = {};                                       ///< The message.
  int attempt = 0;                                          ///< From 1.
  worker_event::kind what = worker_event::kind::completed;  ///< Never `trouble`.
};

/// Receives the events of a database object: set one in open_options. The default functions do
/// nothing. No event has a payload, header, key, error text of a handler or any other value of a
/// message; tableq::error has the rule for an `error`.
///
/// Shared by the application and the databases, queues, transactions and workers that use it; the
/// last of them destroys it. It must not own one of them.
///
/// The functions run in the working thread, between its steps, and their time adds to the
/// operation. They must not use the same database object or a transaction of it. Their exceptions
/// are ignored, and the operation continues. A call with invalid arguments is no operation: nothing
/// was sent.
///
/// @par Thread safety
/// Called by several threads at once. In one thread `before` and `after` come in pairs. Only the
/// pair of `transact` encloses others: those of its function.
class TABLEQ_EXPORT observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer();

  /// An operation begins. Nothing has been sent to the database yet.
  virtual void before(const observed_operation& operation);
  /// The operation has ended. Comes once after each `before`, in the same thread, also when the
  /// operation throws.
  virtual void after(const observed_operation& operation, const operation_result& result);
  /// Called between `before` and `after`, before the pause.
  virtual void retrying(const observed_operation& operation, const operation_retry& retry);
  /// Called after the `after` of a settlement: `count` of its receipts were no longer valid.
  virtual void leases_lost(const observed_operation& operation, std::size_t count);
  /// `stats` of a `claim` queue, or of a table of the application, has counted: its result.
  virtual void counted(const observed_operation& operation, const claim_stats& stats);
  /// The events of worker_options::observe, except `trouble`.
  virtual void handled(const handled_message& message);
  /// The database was opened, but something about it is unsafe, unsure or was never tried: a file
  /// on a folder that other computers share, a pooler of unknown mode. `database::inspect` reports
  /// it, too.
  /// @param what contains no data of messages.
  virtual void warned(std::string_view backend, std::string_view what);
  /// A session was connected. @param duration time of the connection and its set-up.
  virtual void session_opened(std::string_view backend, std::chrono::nanoseconds duration);
  /// A session was closed.
  /// @param broken true: the session was lost or could not be reset. False: the database object was
  ///   closed.
  virtual void session_closed(std::string_view backend, bool broken);
};

}  // namespace tableq::inline v0
