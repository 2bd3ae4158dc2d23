#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/worker.hpp>

#include "core/seam/statement.hpp"
#include "core/session/backoff.hpp"
#include "core/worker/held_messages.hpp"
#include "core/worker/idle_handlers.hpp"

namespace tableq::inline v0::core {

/// The threads of one worker: `take` fills the held messages, handlers empty them (or `post` lets
/// an executor do that), `settle` settles them, and `keep` extends their leases. While more
/// messages wait than there is room for, `settle` takes the next ones in the same unit of work, and
/// `take` rests. Otherwise both work side by side, so that a new message waits for no settlement.
/// They share one mutex. No thread holds it during a call to the database, a handler or an
/// observer.
///
/// @par Thread safety
/// Shared objects: safe, except for join.
class worker_engine {
 public:
  worker_engine(claim_queue queue, handler work, worker_options options);
  worker_engine(const worker_engine&) = delete;
  worker_engine& operator=(const worker_engine&) = delete;
  ~worker_engine();

  [[nodiscard]] static const std::string& backend_of(const claim_queue& queue) noexcept;
  /// Whether this process started the worker.
  [[nodiscard]] bool here() const noexcept;
  /// @throws error errc::invalid_argument in a child of that process.
  void check_here() const;

  void stop() noexcept;
  void abandon() noexcept;
  /// Gives back the messages that handlers still have.
  void release_running();
  [[nodiscard]] bool wait_for(std::chrono::milliseconds longest);
  void join();
  [[nodiscard]] worker_counts counts() const;

 private:
  class posted_task;

  /// The longest pause between two attempts while the database is unavailable, so that work resumes
  /// soon after.
  static constexpr std::chrono::milliseconds shortest_pause{100};
  static constexpr std::chrono::milliseconds longest_pause{2000};

  static constexpr std::size_t largest_take = 1000;

  void run(void (worker_engine::*part)()) noexcept;
  void take_all();
  void handle_all();
  void post_all();
  void settle_all();
  void keep_all();

  /// An end of a message, to be counted and reported. Borrows the text.
  struct conclusion {
    held message;
    worker_event::kind ended;
    std::string_view why;
  };

  /// How many messages `take` takes now; waits until it is its turn. Zero: stop.
  [[nodiscard]] std::size_t room();
  /// How many messages may be taken. Under the mutex, as the next ones.
  [[nodiscard]] std::size_t free_room() const;
  /// Whether `take` leaves the next take to `settle`, which has something to do.
  [[nodiscard]] bool left_to_settle() const;
  /// Only `take` looks for due and expired messages: it takes from time to time.
  [[nodiscard]] bool take_is_overdue() const;
  void wake_taker();
  void wake_settler();
  void wake_handlers();
  /// Adds messages that a take has found.
  void add(std::vector<delivery> taken, moment read_began);
  /// The next message for a handler thread; waits for it. Null: there will be none.
  [[nodiscard]] held next(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool nothing_left();
  /// How long the next take waits.
  /// @param wake ends the wait early: the worker itself has nothing left.
  [[nodiscard]] std::chrono::milliseconds next_wait(bool was_empty, const std::stop_source& wake);
  void settle_by_verdict(const std::vector<settlement>& batch);
  void settle(const std::vector<settlement>& batch, handled::how what);
  /// Settles the batch, and takes what is next in the same unit of work if a take is due.
  /// @return false if nothing was done.
  [[nodiscard]] bool settle_and_take(const std::vector<settlement>& batch, handled::how what);
  /// How many messages `settle` takes beside a settlement. Zero: none; otherwise `take` waits until
  /// `end_joint_take`.
  [[nodiscard]] std::size_t begin_joint_take();
  void end_joint_take(bool more);
  /// The database refuses a batch, perhaps because of one of its messages.
  void settle_each(const std::vector<settlement>& batch, handled::how what, const error& refused);
  /// Whether other workers may have the messages, and no thread waits for the result.
  [[nodiscard]] bool too_late(const std::vector<settlement>& batch);
  /// The statement that names the settlement in errors.
  [[nodiscard]] static statement statement_of(handled::how what) noexcept;
  /// @param tx null: the settlement has its own unit of work.
  [[nodiscard]] std::vector<settle_result> settle_once(const std::vector<settlement>& batch,
                                                       handled::how what, transaction_state* tx);
  void settled_as(const std::vector<settlement>& batch, const std::vector<settle_result>& results);
  void not_settled(const std::vector<settlement>& batch, std::string_view why = {});
  /// Counts the ends of messages, removes the messages, and reports them.
  void conclude(const std::vector<conclusion>& all);
  /// The count of an end. Under the mutex.
  [[nodiscard]] std::size_t& figure(worker_event::kind ended) noexcept;
  /// Under the mutex.
  void forget(const held& one);
  /// Calls the handler, again after failures of its transaction that may pass.
  [[nodiscard]] handler_result call_handler(const held& one);
  /// Gives one message to the executor.
  void post(const held& one, backoff& pauses);
  /// A posted message has its result.
  /// @param has_run false: the executor has dropped it.
  void returned(const held& one, handler_result result, bool has_run) noexcept;
  /// Takes no more; join throws the failure.
  void end_with(std::exception_ptr failure) noexcept;
  void extend(const std::vector<held>& leased);
  /// Extends leases, one by one if one row may have caused a failure.
  void keep(const std::vector<held>& leased);
  void give_back(std::vector<held> untried);

  /// Whether a repetition may succeed later.
  [[nodiscard]] static bool passing(const error& failure) noexcept;
  /// Notifies the observer, and waits.
  void trouble(const char* why, backoff& pauses, bool until_stop);
  void report(worker_event::kind what, const held_message& message,
              std::string_view why = {}) const;
  void report(const worker_event& event) const noexcept;
  void pause(std::chrono::milliseconds length, bool until_stop);

  claim_queue queue_;
  const handler work_;
  const worker_options options_;
  const std::chrono::milliseconds lease_;
  const std::size_t prefetch_;
  std::stop_source stop_;     ///< No more messages are taken.
  std::stop_source abandon_;  ///< Handlers are asked to end.

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  ///< Signals the end, and changes of both stop sources.
  // Each part waits for its own signal: one for all would wake each handler for each message.
  std::condition_variable_any to_take_;
  idle_handlers idle_;
  std::condition_variable to_post_;
  std::condition_variable to_settle_;
  enum class taker_waits : std::uint8_t { no, for_room, for_settle };
  taker_waits taker_ = taker_waits::no;
  bool settler_waits_ = false;
  held_messages held_;
  worker_counts counts_;
  std::size_t at_once_ = largest_take;  ///< Messages in a take; fewer when memory was short.
  std::size_t producers_ = 0;           ///< Threads that still take, handle or post.
  std::size_t posted_ = 0;              ///< Messages that the executor has.
  bool dropped_ = false;                ///< The executor has dropped one; not reported yet.
  bool has_run_ = false;                ///< The executor has run one since the last check.
  std::stop_source run_dry_;            ///< Ends the wait of a take when no message is held.
  bool had_some_ = false;               ///< At the last check for the end.
  bool taking_ = true;
  bool more_ = false;      ///< The last take found all that it asked for: more wait.
  bool takes_ = false;     ///< `take` is in a call.
  bool settles_ = false;   ///< `settle` is in a call.
  bool joint_ = false;     ///< That call takes, too.
  std::size_t calls_ = 0;  ///< Ended calls of `settle`.
  moment took_at_ = {};    ///< When `take` began its last call.
  bool ended_ = false;
  std::exception_ptr failure_;

  std::vector<std::thread> threads_;
};

}  // namespace tableq::inline v0::core
