#pragma once

/// @file
/// Watching what tableq does from inside the application; metrics.hpp is made of it.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include <tableq/error.hpp>
#include <tableq/export.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/worker.hpp>

namespace tableq::inline v0 {

/// One thing that is done in the database. Holds nothing of a message; views are valid during the
/// call.
struct observed_operation {
  /// The step: `fifo.enqueue`, `claim.take`, `begin`, `commit`. A call may be several: a take that
  /// finds nothing is `claim.take`, `claim.promote`, `claim.take`, now and then `limits.read` asks
  /// whether the queue has limits, and a wait is a look every now and then.
  std::string_view name;
  std::string_view backend = {};  ///< The dialect's name.
  std::string_view queue = {};    ///< Empty: it is no queue's.
  std::optional<tableq::kind> kind = {};
  std::size_t given = 0;        ///< Messages, receipts or ids that the caller gave.
  bool in_transaction = false;  ///< Of the caller's: then nothing is repeated.
};

/// How an operation ended.
struct operation_result {
  std::size_t messages = 0;  ///< How many it added, took, settled, changed or read.
  /// With the wait for a session, the locks, the retries and their pauses.
  std::chrono::nanoseconds duration{0};
  std::optional<errc> failed = {};  ///< Nothing when it succeeded.
  /// The step's error, which the caller gets in the name of the call; null when it succeeded, or
  /// failed with another exception, such as std::bad_alloc (which `failed` calls errc::internal).
  const tableq::error* error = nullptr;
};

/// A failure that is repaired by doing the same again.
struct operation_retry {
  errc failed = errc::busy;
  int attempt = 1;                    ///< The one that failed, counted from 1.
  std::chrono::nanoseconds pause{0};  ///< How long is waited before the next.
};

/// What became of a message in a worker. Without what the handler said, which may hold anything.
struct handled_message {
  std::string_view backend = {};
  std::string_view queue = {};
  message_id id = {};
  int attempt = 0;
  worker_event::kind what = worker_event::kind::completed;  ///< Never `trouble`.
};

/// Is told what happens in a database object: give one in open_options. Each function does nothing
/// unless it is overridden. No event carries a payload, header, key, error text of a handler or any
/// other value of a message; an `error` carries what tableq::error does.
///
/// They are called in the thread that works, between its steps: what they take is added to the
/// operation. They must not use the same database object, nor a transaction of it. An exception
/// that leaves one of them is swallowed, and the operation goes on as if it had not been thrown.
/// Refused arguments are no operations: nothing was sent.
///
/// @par Thread safety
/// Called by several threads at once. Of one thread `before` and `after` come in pairs, and no pair
/// within another but for `transact`, which encloses what its function does.
class TABLEQ_EXPORT observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer();

  /// An operation begins. Nothing was sent to the database yet.
  virtual void before(const observed_operation& operation);
  /// The operation has ended. Comes once after each `before`, in the same thread, also when the
  /// operation throws.
  virtual void after(const observed_operation& operation, const operation_result& result);
  /// Between `before` and `after`, ahead of the pause.
  virtual void retrying(const observed_operation& operation, const operation_retry& retry);
  /// After the `after` of a settlement: so many of its receipts did not match any more.
  virtual void leases_lost(const observed_operation& operation, std::size_t count);
  /// Whatever worker_options::observe is told, but for `trouble`.
  virtual void handled(const handled_message& message);
  /// A session was connected. @param duration how long connecting and its set-up took.
  virtual void session_opened(std::string_view backend, std::chrono::nanoseconds duration);
  /// A session was closed.
  /// @param broken the session was lost or could not be cleaned up; false: the database object is
  ///   closed.
  virtual void session_closed(std::string_view backend, bool broken);
};

}  // namespace tableq::inline v0
