#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include <tableq/claim_queue.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/handler.hpp>
#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// What a worker tells of itself.
struct worker_event {
  enum class kind {
    completed,
    failed,              ///< `why` is what the handler said.
    given_up,            ///< The same; the message is dead.
    given_back,          ///< Untried.
    settled_by_handler,  ///< handled::settled().
    lease_lost,          ///< Another worker has the message, or had it.
    /// The database did not say whether it took effect, cannot be asked any more, or refused it
    /// with `why`: then the message comes again after its lease.
    unknown,
    trouble,  ///< Of no message: `why` is the database's error, and it is tried again.
  };
  kind what = kind::completed;
  message_id id = {};
  int attempt = 0;
  std::string_view why;  ///< At most about 2,000 bytes. Valid during the call.
};

/// How a worker works.
struct worker_options {
  std::size_t threads =
      1;  ///< Handlers that run at once, or tasks that the executor has: 1 to 1,000.
  /// Messages taken beyond those that are handled, so that no thread waits for the database; their
  /// leases are held too. 0 to 10,000. Empty: as many as threads.
  std::optional<std::size_t> prefetch = {};
  /// Empty: the queue handle's. Extended while a message is held, each third of it. 1 ms to 365
  /// days; a lease shorter than a round trip to the database is lost again and again.
  std::optional<std::chrono::milliseconds> lease = {};
  /// How long a message rests whose handler threw, 0 to 3,650 days. Empty: as the queue's
  /// retry_delays say.
  std::optional<std::chrono::milliseconds> retry_delay = {};
  /// End when nothing is ready, delayed or leased by anybody. Looked for when the worker's own last
  /// message is settled, and each second while others have messages.
  bool until_empty = false;
  /// Runs the handlers, for instance on an application's pool of threads: called with one task for
  /// each message, from one thread, and at most `threads` tasks are not run yet. The worker has no
  /// handler threads then. Empty: threads of the worker.
  ///
  /// A task never throws, may be copied, and calls the handler when it is first run, at once or
  /// later, in any thread. When all copies are destroyed before, the message is given back and
  /// told as trouble; the same when the executor throws. The end of the worker, and so `join` and
  /// its destructor, wait until each task has been run or destroyed: end the worker before the
  /// pool.
  std::function<void(std::function<void()>)> executor = {};
  /// Called in the worker's threads, several at a time. What it throws is ignored.
  std::function<void(const worker_event&)> observe = {};
  /// Called once, in a thread of the worker, when all messages are settled and none will be taken.
  /// What it throws is ignored. It must not destroy the worker.
  std::function<void()> ended = {};
};

/// Figures of a worker since it began.
struct worker_counts {
  std::size_t completed = 0;
  std::size_t failed = 0;  ///< Given up included.
  std::size_t given_back = 0;
  std::size_t settled_by_handler = 0;  ///< handled::settled().
  std::size_t lease_lost = 0;
  std::size_t unknown = 0;
  std::size_t running = 0;  ///< Handlers at work now, and tasks that an executor has.
};

/// Takes the messages of a `claim` queue and gives each to a handler.
///
/// Owns its threads: those of the handlers (or one that posts them to an executor), and three that
/// take, settle and extend leases. It keeps
/// the database open. Messages are taken and settled in batches where there are several; a batch
/// that the database refuses because of one message is settled one by one. While the database is
/// away it tries again, with growing pauses of up to 2 s, and goes on by itself. Nothing that
/// stands in a message ends it. A failure that does not pass (the queue is gone, a right is
/// missing) does: see join.
///
/// A handler's stop token is triggered when the lease is lost or the worker shall not go on:
/// another worker may then have the message, and this handler's verdict is refused. What a handler
/// throws, whatever it is, fails its message with the exception's text. No message ends a worker:
/// where the database refuses to complete one (a trigger, a constraint), this message fails with
/// the database's words, or is left to its lease if the database refuses that, too.
///
/// A handler that takes a transaction does its work and completes its message in one: see handler.
/// A handler that settles its message itself returns `handled::settled()`, after it has ended its
/// transaction. Any other verdict on such a message is refused, and told as lease_lost.
/// A handler that forks ends the child, or replaces it by another program; if the child returns
/// from the handler, it ends with status 0, and only the result in the parent counts.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe, but for join and the destructor. The handler is
/// called by several threads at once unless `threads` is 1.
class TABLEQ_EXPORT worker {
 public:
  /// Begins at once.
  /// @param work any callable that fits a handler: `[](const tableq::delivery& d) { ... }`.
  /// @throws error errc::invalid_argument for an empty handler, options out of range, or a handle
  ///   that is bound to a transaction; errc::busy when the system gives no more threads.
  worker(claim_queue queue, handler work, worker_options options = {});

  worker(worker&&) noexcept;
  worker& operator=(worker&&) = delete;
  /// Stops, and waits for the handlers that run; asks them to stop by their tokens.
  ~worker();

  /// Takes no more and gives back what no handler has; what runs is finished and settled. Returns
  /// at once.
  void stop() noexcept;

  /// The same, and asks the handlers that run to stop, by their tokens.
  void abandon() noexcept;

  /// Stops, waits up to `longest` for the end, and then abandons: what still runs is given back, so
  /// that others may take it before the lease ends. Handlers that do not look at their tokens go on
  /// running; the destructor waits for them.
  /// @return whether everything had ended by itself.
  bool stop_within(std::chrono::milliseconds longest);

  /// @return whether it has ended, at most `longest` from now.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds longest);

  /// Waits for the end.
  /// @throws error what ended it early, if anything did.
  void join();

  [[nodiscard]] worker_counts counts() const;

 private:
  std::unique_ptr<core::worker_engine> engine_;
};

/// Handles all messages that are ready, in the calling thread, until none is: for tests of one's
/// own code, and for jobs that run now and then. Leases are not extended.
/// @param work any callable that fits a handler. What it throws fails its message, and the rest go
///   on. After handled::give_back() drain returns: the message would be the next one again.
/// @return how many were handled.
/// @throws error errc::invalid_argument for an empty handler or a handle that is bound to a
///   transaction; as take and complete do, and where the database refuses to complete a message,
///   only if it refuses to let it fail, too.
TABLEQ_EXPORT std::size_t drain(claim_queue queue, const handler& work);

}  // namespace tableq::inline v0
