#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/worker.hpp>

#include "core/seam/statement.hpp"
#include "core/session/backoff.hpp"
#include "core/worker/held_messages.hpp"

namespace tableq::inline v0::core {

class worker_engine;

/// One queue of a worker. Three threads of the engine run here: `take` fills the held messages,
/// handlers of the engine empty them, `settle` settles them, and `keep` extends their leases. While
/// more messages wait than there is room for, `settle` takes the next ones in the same unit of
/// work, and `take` rests. Otherwise both work side by side, so that a new message waits for no
/// settlement.
///
/// @par Thread safety
/// Shared objects: safe. The engine's mutex guards all feeds; functions that say so are called
/// under it.
class worker_feed {
 public:
  /// @param number the place among the worker's sources, from 0.
  worker_feed(worker_engine& engine, worker_source source, std::size_t number);
  worker_feed(const worker_feed&) = delete;
  worker_feed& operator=(const worker_feed&) = delete;

  [[nodiscard]] const claim_queue& queue() const noexcept { return queue_; }
  [[nodiscard]] int precedence() const noexcept { return precedence_; }
  /// Whether this process opened the queue's database.
  [[nodiscard]] bool here() const noexcept;

  // The threads.
  void take_all();
  void settle_all();
  void keep_all();
  /// After take_all: gives back the messages that no handler has.
  void end_take();

  /// Calls the handler, again after failures of its transaction that may pass.
  [[nodiscard]] handler_result call_handler(const held& one);

  // Under the mutex:
  /// Whether a message waits for a handler, and handlers may have it.
  [[nodiscard]] bool has_waiting() const noexcept { return held_.waiting() > 0 && !away_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return away_ ? 0 : held_.waiting(); }
  [[nodiscard]] std::size_t held_count() const noexcept { return held_.count(); }
  [[nodiscard]] std::size_t running() const noexcept { return held_.running_count(); }
  [[nodiscard]] bool taking() const noexcept { return taking_; }
  /// The number of finds at which the queue was last empty.
  [[nodiscard]] std::optional<std::uint64_t> empty_at() const noexcept { return empty_at_; }
  [[nodiscard]] const worker_counts& counts() const noexcept { return counts_; }
  /// The next message for a handler.
  [[nodiscard]] held next() { return held_.next(); }
  void finished(const held& one, handler_result result);
  /// The thread of take_all will not start.
  void never_takes() noexcept { taking_ = false; }
  void stop_running() const;
  /// Gives back the messages that handlers still have.
  void release_running();
  void wake_taker();
  void wake_settler();
  /// The worker holds no message: ends the wait of a take.
  void ran_dry() { run_dry_.request_stop(); }

 private:
  static constexpr std::size_t largest_take = 1000;

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
  /// Adds messages that a take has found.
  void add(std::vector<delivery> taken, moment read_began);
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
  void extend(const std::vector<held>& leased);
  /// Extends leases, one by one if one row may have caused a failure.
  void keep(const std::vector<held>& leased);
  /// Gives back the messages that no handler has. Under the mutex.
  void give_back_waiting();
  /// Notifies the observer, and waits.
  void trouble(const char* why, backoff& pauses, bool until_stop);
  void report(worker_event::kind what, const held_message& message,
              std::string_view why = {}) const;
  void report_trouble(const char* why) const;

  worker_engine& engine_;
  const std::size_t number_;
  const int precedence_;
  claim_queue queue_;
  const handler work_;
  const std::chrono::milliseconds lease_;

  std::condition_variable_any to_take_;
  std::condition_variable to_settle_;
  enum class taker_waits : std::uint8_t { no, for_room, for_settle };
  taker_waits taker_ = taker_waits::no;
  bool settler_waits_ = false;
  held_messages held_;
  worker_counts counts_;
  std::size_t at_once_ = largest_take;  ///< Messages in a take; fewer when memory was short.
  std::stop_source run_dry_;            ///< Ends the wait of a take when no message is held.
  bool had_some_ = false;               ///< At the last check for the end.
  std::optional<std::uint64_t> empty_at_;
  /// A handler's transaction failed because of the database. Until the next settlement handlers get
  /// no message of this feed, so that those of other databases do not wait.
  bool away_ = false;
  bool taking_ = true;
  bool more_ = false;      ///< The last take found all that it asked for: more wait.
  bool takes_ = false;     ///< `take` is in a call.
  bool settles_ = false;   ///< `settle` is in a call.
  bool joint_ = false;     ///< That call takes, too.
  std::size_t calls_ = 0;  ///< Ended calls of `settle`.
  moment took_at_ = {};    ///< When `take` began its last call.
};

}  // namespace tableq::inline v0::core
