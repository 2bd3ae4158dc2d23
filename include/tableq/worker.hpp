#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tableq/claim_queue.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// What a handler says of its message. A value.
class handled {
 public:
  enum class how { completed, failed, given_up, given_back };

  /// The work is done: the message is completed.
  static handled completed() { return {}; }
  /// Failed: the message is taken again when the queue's retry_delays say so, or is dead after its
  /// last attempt.
  static handled failed(std::string why) { return {how::failed, std::move(why), {}}; }
  /// The same, but the message may be taken again after `delay`: at most 3,650 days; a negative
  /// one, for a time that has passed, is zero. With a longer one the message fails as by `failed`,
  /// and its history says so.
  static handled retry_after(std::string why, std::chrono::milliseconds delay) {
    return {how::failed, std::move(why), std::max(delay, std::chrono::milliseconds{0})};
  }
  /// Failed for good: the message is dead at once, whatever attempts are left.
  static handled give_up(std::string why) { return {how::given_up, std::move(why), {}}; }
  /// Not tried: the message is ready again at once, the attempt not counted.
  static handled give_back() { return {how::given_back, {}, {}}; }

  [[nodiscard]] how what() const noexcept { return what_; }
  /// Kept in the message's history: cut at 2,000 bytes, made UTF-8.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// Empty: as the queue says.
  [[nodiscard]] std::optional<std::chrono::milliseconds> delay() const noexcept { return delay_; }

 private:
  handled() = default;
  handled(how what, std::string why, std::optional<std::chrono::milliseconds> delay)
      : what_(what), why_(std::move(why)), delay_(delay) {}

  how what_ = how::completed;
  std::string why_;
  std::optional<std::chrono::milliseconds> delay_;
};

/// What a worker tells of itself.
struct worker_event {
  enum class kind {
    completed,
    failed,      ///< `why` is what the handler said.
    given_up,    ///< The same; the message is dead.
    given_back,  ///< Untried.
    lease_lost,  ///< Somebody else has the message, or had it.
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
  std::size_t threads = 1;  ///< Handlers that run at once, 1 to 1,000.
  /// Messages taken beyond those that are handled, so that no thread waits for the database; their
  /// leases are held too. 0 to 10,000. Empty: as many as threads.
  std::optional<std::size_t> prefetch = {};
  /// Empty: the queue handle's. Extended while a message is held, each third of it. 1 ms to 365
  /// days; a lease shorter than a round trip to the database is lost again and again.
  std::optional<std::chrono::milliseconds> lease = {};
  /// How long a message rests whose handler threw, 0 to 3,650 days. Empty: as the queue's
  /// retry_delays say.
  std::optional<std::chrono::milliseconds> retry_delay = {};
  /// End when nothing is ready, delayed or leased by anybody. It is looked for each second at most.
  bool until_empty = false;
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
  std::size_t lease_lost = 0;
  std::size_t unknown = 0;
  std::size_t running = 0;  ///< Handlers at work now.
};

/// Takes the messages of a `claim` queue and gives each to a handler.
///
/// Owns its threads: those of the handlers, and three that take, settle and extend leases. It keeps
/// the database open. Messages are taken and settled in batches where there are several; a batch
/// that the database refuses because of one message is settled one by one. While the database is
/// away it tries again, with growing pauses of up to 2 s, and goes on by itself. Nothing that
/// stands in a message ends it. A failure that does not pass (the queue is gone, a right is
/// missing) does: see join.
///
/// A handler gets the delivery, and if it likes a stop token, which is triggered when the lease is
/// lost or the worker shall not go on: another worker may then have the message, and what this
/// handler says of it is refused. What a handler throws, whatever it is, fails its message with the
/// exception's text. No message ends a worker: where the database refuses to complete one (a
/// trigger, a constraint), this message fails with the database's words, or is left to its lease if
/// the database refuses that, too.
///
/// A handler may complete its message itself, in one transaction with its work. What it says
/// afterwards is refused, and told as lease_lost. It ends the transaction before it returns.
/// A handler that forks ends the child, or replaces it by another program; if the child returns
/// from the handler, it ends with status 0, and only the result in the parent counts.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe, but for join and the destructor. The handler is
/// called by several threads at once unless `threads` is 1.
class TABLEQ_EXPORT worker {
 public:
  using handler = std::function<handled(const delivery&, const std::stop_token&)>;

  /// Begins at once.
  /// @param work a function of a delivery, or of a delivery and a stop token, that returns
  ///   `handled` or nothing.
  /// @throws error errc::invalid_argument for options out of range, or a handle that is bound to a
  ///   transaction.
  template <class Work>
  worker(claim_queue queue, Work work, worker_options options = {})
      : worker(std::move(queue), handler(adapted(std::move(work))), std::move(options), nullptr) {}

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
  worker(claim_queue queue, handler work, worker_options options, std::nullptr_t);

  template <class Work>
  static handler adapted(Work work) {
    // An empty std::function stays one, and is refused.
    if constexpr (requires { work.operator bool(); }) {
      if (!work) return {};
    }
    return [work = std::move(work)](const delivery& d, const std::stop_token& stop) -> handled {
      if constexpr (std::is_invocable_v<const Work&, const delivery&, const std::stop_token&>) {
        return said(work, d, stop);
      } else {
        return said(work, d);
      }
    };
  }
  template <class Work, class... Given>
  static handled said(const Work& work, const Given&... given) {
    if constexpr (std::is_void_v<std::invoke_result_t<const Work&, const Given&...>>) {
      work(given...);
      return handled::completed();
    } else {
      return work(given...);
    }
  }

  std::unique_ptr<core::worker_engine> engine_;
};

/// Handles all messages that are ready, in the calling thread, until none is: for tests of one's
/// own code, and for jobs that run now and then. Leases are not extended.
/// @param work takes the delivery and a stop token and returns a `handled`. What it throws fails
/// its
///   message, and the rest go on.
/// @return how many were handled.
/// @throws error errc::invalid_argument for a handle that is bound to a transaction; as take and
///   complete do, and where the database refuses to complete a message, only if it refuses to let
///   it fail, too.
TABLEQ_EXPORT std::size_t drain(claim_queue queue, const worker::handler& work);

}  // namespace tableq::inline v0
