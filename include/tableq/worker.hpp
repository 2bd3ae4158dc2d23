#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <tableq/claim_queue.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/handler.hpp>
#include <tableq/kept_delivery.hpp>
#include <tableq/message.hpp>
#include <tableq/table_queue.hpp>
#include <tableq/worker_event.hpp>
#include <tableq/worker_source.hpp>

namespace tableq::inline v0 {

/// Options of a worker. C++ wants designators in the order of the members:
/// `{.threads = 4, .prefetch = 100, .lease = 1min, .linger = 20ms}`.
struct worker_options {
  std::size_t threads = 1;  ///< Handlers at a time, or tasks in the executor: 1 to 1,000.
  /// Messages taken beyond the handled ones, so that no thread waits for the database; the worker
  /// extends their leases too. 0 to 10,000. Empty: as many as threads. Of several sources each has
  /// that many, and one at least.
  std::optional<std::size_t> prefetch = {};
  /// Messages that handlers have kept (handled::kept) and not ended, 1 to 10,000, of each source.
  /// At that many no handler begins and no more are taken. Before, running handlers count, because
  /// they may keep theirs; before the first one was kept, they do not. Empty: as many as threads.
  std::optional<std::size_t> max_kept = {};
  /// 1 ms to 365 days. Empty: each queue handle's. The worker extends it every third of its length
  /// while it holds the message. A lease shorter than a round trip to the database is lost
  /// repeatedly.
  std::optional<std::chrono::milliseconds> lease = {};
  /// How long a finished message may wait for others, so that one transaction settles them: 0 to
  /// 60 s. It waits no longer than until the next take that follows a full one, until the worker
  /// has no room for more messages, or until its end. Reports follow the settlement. Where messages
  /// come one by one, this saves transactions; a killed worker has more messages that are handled
  /// again.
  std::chrono::milliseconds linger{0};
  /// Delay of a message whose handler threw, 0 to 3,650 days. Empty: the queue's retry_delays; for
  /// a table of the application retry_delays::usual(), or none if its mapping has no due_at.
  std::optional<std::chrono::milliseconds> retry_delay = {};
  /// True: the worker ends when no message is ready, delayed or leased by anyone. It checks when
  /// its own last message is settled, and each second while others have messages.
  bool until_empty = false;
  /// Runs the handlers, for instance in a thread pool of the application. Called with one task per
  /// message, from one thread, with at most `threads` tasks unfinished. The worker then has no
  /// handler threads. Empty: the worker's own threads.
  ///
  /// A task never throws and may be copied. Its first run, at any time and in any thread, calls the
  /// handler. If all copies are destroyed before that, or the executor throws, the worker gives the
  /// message back and reports trouble. `join` and the destructor wait until each task has been run
  /// or destroyed: end the worker before the pool.
  std::function<void(std::function<void()>)> executor = {};
  /// Called in the worker's threads, several at a time. Its exceptions are ignored.
  std::function<void(const worker_event&)> observe = {};
  /// Called once, in a thread of the worker, when all messages are settled and no more will be
  /// taken. Its exceptions are ignored. It must not destroy the worker.
  std::function<void()> ended = {};
};

/// Figures of a worker since it began.
struct worker_counts {
  std::size_t completed = 0;           ///< Messages, as those of the next figures.
  std::size_t failed = 0;              ///< Includes given up.
  std::size_t given_back = 0;          ///< Without an attempt.
  std::size_t settled_by_handler = 0;  ///< handled::settled().
  std::size_t lease_lost = 0;          ///< Another worker has the message, or had it.
  std::size_t unknown = 0;             ///< worker_event::kind::unknown.
  std::size_t held = 0;                ///< Messages it has now, to be handled or settled.
  std::size_t running = 0;             ///< Running handlers, or tasks in an executor.
  std::size_t put_aside = 0;           ///< Messages that are put aside now: see worker.
  std::size_t kept = 0;                ///< Messages that handlers keep now: handled::kept.
};

/// Takes the messages of a `claim` queue and gives each to a handler.
///
/// Owns its threads: those of the handlers (or one that posts tasks to an executor), and for each
/// queue three that take, settle and extend leases. It keeps the database open. It takes and
/// settles messages in batches, both in one transaction while more wait than it takes. If that
/// fails, each part runs by itself; if the database refuses a batch because of one message, it
/// settles them one by one. While the database cannot be reached it tries again, with growing
/// pauses of up to 2 s. No content of a message ends it. A lasting failure (the queue is gone, a
/// right is missing) does: see join.
///
/// A message whose settlement the database refuses for now (busy, conflict, cancelled,
/// storage_full, storage_failed, read_only) is put aside: the worker extends its lease, tries again
/// with growing pauses, and goes on with others. It fails with the error in its history if it was
/// refused for open_options::retry_for at least, and a dozen times as often as the messages that
/// succeeded between its tries. If there are no other messages, extensions of its own lease count
/// instead, for busy, conflict and cancelled only. While nothing succeeds, no message fails. The
/// same holds for a handler whose transaction could not begin or commit, or lost its session: it
/// runs again later. Up to 100 messages, or twice threads and prefetch, are put aside. Above that
/// the oldest is given back; while nothing succeeds, no more messages are taken instead. At the end
/// of the worker each is tried once more, and given back if it is refused again.
///
/// A handler's stop token is triggered when the worker is abandoned or the lease is lost: another
/// worker may then have the message, and this handler's verdict is refused. Any exception of a
/// handler fails its message with the exception's text. If the database refuses to complete a
/// message (a trigger, a constraint), the message fails with the database's error text; if the
/// database refuses that, too, for good, the message waits for the end of its lease.
///
/// A handler with a transaction does its work and completes its message in that transaction: see
/// handler. A handler that settles its message itself returns `handled::settled()`, after it has
/// ended its transaction. Any other verdict on such a message is refused and reported as
/// lease_lost. A handler that only starts the work returns `handled::kept`: see kept_delivery. A
/// handler that forks ends the child, or replaces it by another program. If the child returns from
/// the handler, it exits with status 0; only the result in the parent counts. A handler must not
/// wait for the end of its own message, nor until its queue is empty or another handler of the same
/// worker has ended: that would wait for itself, or for messages that the worker holds.
///
/// A moved-from worker has ended: stop and abandon do nothing, all else throws
/// errc::invalid_argument.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe, except join and the destructor. The handler is
/// called by several threads at once unless `threads` is 1.
class TABLEQ_EXPORT worker {
 public:
  /// Starts at once.
  /// @param work any callable that fits a handler: `[](const tableq::delivery& d) { ... }`.
  /// @throws error errc::invalid_argument for an empty handler, options out of range, or a handle
  ///   that is bound to a transaction; errc::busy when the system cannot create a thread.
  worker(claim_queue queue, handler work, worker_options options = {});
  /// The same for a table of the application: the handler reads `delivery::row`. Without
  /// lease_until in its mapping a row whose handler is killed stays taken.
  /// @throws error as above; errc::unsupported when the table's take deletes its rows, because no
  ///   verdict could be recorded, and for a retry_delay without due_at in the mapping.
  worker(const table_queue& table, handler work, worker_options options = {});
  /// Serves several queues, also of several databases, with one pool of handlers: see
  /// worker_source. A database that cannot be reached holds up only its own queues: each queue has
  /// its own threads that take and settle. A handler with a transaction finds that out in a thread
  /// of the pool, once and for as long as a connection takes to fail; then the pool leaves that
  /// queue alone until its database answers. A lasting failure of one queue ends the worker. With
  /// until_empty it ends when all queues are empty at the same time.
  /// @param sources 1 to 100.
  /// @throws error as above, for each of them, and errc::invalid_argument for values out of range.
  explicit worker(std::vector<worker_source> sources, worker_options options = {});

  worker(worker&&) noexcept;
  worker& operator=(worker&&) = delete;
  /// Stops, triggers the stop tokens of running handlers, gives kept messages back, and waits. No
  /// handler or callback of the worker may destroy it: that would wait for itself for ever.
  ~worker();

  /// Takes no more messages and gives back those that no handler has. Running handlers finish, kept
  /// messages are waited for, and all are settled. Returns at once. It locks, so a signal handler
  /// must not call it: a program that stops at SIGTERM blocks the signal before it opens the
  /// database, whose threads inherit that, waits for it with sigwait, and then calls this. It also
  /// has to wake when the worker ends by itself (a lasting failure): worker_options::ended sends
  /// the process that signal, and join throws the failure. examples/service.cpp does both.
  void stop() noexcept;

  /// The same, triggers the stop tokens of running handlers, and gives kept messages back.
  void abandon() noexcept;

  /// Stops, waits up to `longest` for the end, and then abandons: it gives back the messages of
  /// running handlers, too, so that others can take them before the lease ends. Handlers that
  /// ignore their tokens continue to run; the destructor waits for them. It and join also wait for
  /// calls that settle: while the database is away, each lasts up to open_options::retry_for. After
  /// 2 s more the destructor ends the calls of the worker, and transactions of its handlers, that
  /// still wait for a server of PostgreSQL, which may be frozen; not those through ODBC.
  /// @return true if everything ended by itself.
  bool stop_within(std::chrono::milliseconds longest);

  /// Waits up to `longest` for the end. @return true if it has ended.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds longest);

  /// Waits for the end.
  /// @throws error the failure that ended it early, if any; errc::invalid_argument in a handler or
  ///   callback of this worker, which would wait for itself: it may call stop or abandon.
  void join();

  /// The figures since it began. Any thread may call it, also after the end.
  [[nodiscard]] worker_counts counts() const;
  /// The figures of one source, by its place from 0.
  /// @throws error errc::invalid_argument if there is no such source.
  [[nodiscard]] worker_counts counts(std::size_t source) const;

 private:
  std::unique_ptr<core::worker_engine> engine_;
};

/// Handles messages in the calling thread until none is ready: for tests, and for periodic jobs.
/// Leases are not extended.
/// @param work any callable that fits a handler. An exception fails its message, and drain
///   continues. After handled::give_back() drain returns: the message would be the next one again.
/// @return how often the handler ran. A failed message that is ready again at once counts again.
/// @throws error errc::invalid_argument for an empty handler or a handle that is bound to a
///   transaction; the errors of take and complete. If the database refuses to complete a message,
///   drain throws only if it also refuses to fail it.
TABLEQ_EXPORT std::size_t drain(claim_queue queue, const handler& work);
/// The same for a table of the application.
TABLEQ_EXPORT std::size_t drain(const table_queue& table, const handler& work);

}  // namespace tableq::inline v0
