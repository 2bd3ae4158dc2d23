#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/worker.hpp>

#include "core/claim/operations.hpp"
#include "core/seam/statement.hpp"
#include "core/session/backoff.hpp"
#include "core/worker/held_messages.hpp"
#include "core/worker/kept_state.hpp"

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

  /// Calls the handler.
  [[nodiscard]] handler_result call_handler(const held& one);
  /// A kept message has its end. @return false if it has one, or is not held any more.
  bool end_kept(const held& one, handled verdict);
  /// Kept messages get no more ends. Before the destruction.
  void close_gate();

  // Under the mutex:
  /// Whether a message waits for a handler, and handlers may have it.
  [[nodiscard]] bool has_waiting() const noexcept { return waiting() > 0; }
  [[nodiscard]] std::size_t waiting() const noexcept {
    return away_ ? 0 : std::min(held_.waiting(), free_handlers());
  }
  [[nodiscard]] std::size_t held_count() const noexcept { return held_.count(); }
  [[nodiscard]] std::size_t running() const noexcept { return held_.running_count(); }
  [[nodiscard]] std::size_t aside_count() const noexcept { return held_.aside_count(); }
  [[nodiscard]] std::size_t kept_count() const noexcept { return held_.kept_count(); }
  [[nodiscard]] bool taking() const noexcept { return taking_; }
  /// The number of finds at which the queue was last empty.
  [[nodiscard]] std::optional<std::uint64_t> empty_at() const noexcept { return empty_at_; }
  [[nodiscard]] const worker_counts& counts() const noexcept { return counts_; }
  /// The next message for a handler.
  [[nodiscard]] held next() { return held_.next(); }
  void finished(const held& one, handler_result result);
  /// The thread of take_all will not start.
  void never_takes() noexcept { taking_ = false; }
  /// Adds the messages that handlers have or keep. Their stop tokens are triggered outside of the
  /// mutex, because callbacks of the application run then.
  void add_handled(std::vector<held>& to) const;
  /// Gives back the messages that handlers still have.
  void release_running();
  /// Gives back the messages that handlers keep.
  void give_back_kept();
  void wake_taker();
  void wake_settler();
  /// The worker holds no message: ends the wait of a take.
  void ran_dry() { run_dry_.request_stop(); }

 private:
  static constexpr std::size_t largest_take = 1000;

  /// The handler's verdict is handled::kept.
  [[nodiscard]] handler_result keep_message(const held& one, handler_result result);
  /// How many handlers may begin before max_kept is reached. Under the mutex.
  [[nodiscard]] std::size_t free_handlers() const noexcept;

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
  /// The same for a take that begins.
  [[nodiscard]] std::size_t use_room();
  /// Whether `take` leaves the next take to `settle`, which has something to do.
  [[nodiscard]] bool left_to_settle() const;
  /// Only `take` looks for due and expired messages: it takes from time to time.
  [[nodiscard]] bool take_is_overdue() const;
  /// Adds messages that a take has found.
  void add(std::vector<delivery> taken, moment read_began);
  /// take_course::drained_at of the last take.
  [[nodiscard]] std::optional<std::uint64_t> drained();
  [[nodiscard]] bool nothing_left();
  /// A take found nothing: at most once a minute looks whether messages are hidden from this
  /// session's user, and reports the trouble once.
  void look_for_hidden();
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
  void end_joint_take(bool more, std::optional<std::uint64_t> drained_at);
  /// The database refuses a batch for good, perhaps because of one of its messages.
  void settle_each(const std::vector<settlement>& batch, handled::how what, const error& refused);
  /// The database refuses a batch for now, perhaps because of one of its messages.
  void settle_later(const std::vector<settlement>& batch, handled::how what, const error& refused);
  /// Tries the message again later, unless the refusal is its own.
  void put_aside(const settlement& one, handled::how what, const error& refused);
  /// Something was settled: messages that are put aside may be tried again. Under the mutex.
  /// @param tries refusal_count::tries of the message.
  void succeeded(handled::how what, std::size_t tries);
  /// Nothing was. Under the mutex, as the next one.
  void refused_again();
  /// Whether nothing succeeds: then one message is tried at a time.
  [[nodiscard]] bool stuck() const noexcept {
    constexpr std::size_t many = 50;
    return refused_in_row_ >= many;
  }
  /// Counts a refusal. @return whether it is the message's own.
  [[nodiscard]] bool is_own(const held& one, handled::how what, const error& refused);
  /// Whether the database has failed as a whole, and not the work on one message.
  [[nodiscard]] bool of_the_database(const error& failure) const;
  /// How many messages may be put aside.
  [[nodiscard]] std::size_t most_aside() const;
  /// Gives the oldest back if there are more. Under the mutex.
  void bound_aside();
  /// Whether finished messages wait for others: worker_options::linger. Under the mutex, as the
  /// next one.
  [[nodiscard]] bool lingers();
  [[nodiscard]] bool is_in_a_hurry() const;
  /// The next work of the settler. Waits for it. Empty: the worker ends.
  [[nodiscard]] std::vector<settlement> next_settlements();
  /// The messages that are put aside are tried once more, before the end.
  [[nodiscard]] std::vector<settlement> last_settlements();
  /// One that is put aside and due. Under the mutex.
  [[nodiscard]] std::vector<settlement> due_settlement();
  /// Whether other workers may have the messages, or no thread waits for the result.
  /// @param for_now they were refused, which costs no time.
  [[nodiscard]] bool too_late(const std::vector<settlement>& batch, bool for_now);
  /// The statement that names the settlement in errors.
  [[nodiscard]] static statement statement_of(handled::how what) noexcept;
  /// @param tx null: the settlement has its own unit of work.
  [[nodiscard]] std::vector<settle_result> settle_once(const std::vector<settlement>& batch,
                                                       handled::how what, transaction_state* tx);
  void settled_as(const std::vector<settlement>& batch, const std::vector<settle_result>& results);
  void not_settled(const std::vector<settlement>& batch, std::string_view why);
  /// Counts the ends of messages, removes the messages, and reports them.
  void conclude(const std::vector<conclusion>& all);
  /// The count of an end. Under the mutex.
  [[nodiscard]] std::size_t& figure(worker_event::kind ended) noexcept;
  /// Under the mutex.
  void forget(const held& one);
  std::vector<pulse> extend(const std::vector<held>& leased);
  /// Triggers the stop tokens of messages whose leases may have ended.
  void stop_expired();
  /// Extends leases, one by one if one row may have caused a failure.
  /// @return whether all were accepted.
  [[nodiscard]] bool keep(const std::vector<held>& leased);
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
  held_messages held_;
  worker_counts counts_;
  std::size_t at_once_ = largest_take;  ///< Messages in a take; fewer when memory was short.
  std::stop_source run_dry_;            ///< Ends the wait of a take when no message is held.
  std::optional<std::uint64_t> empty_at_;
  std::size_t calls_ = 0;  ///< Ended calls of `settle`.
  moment took_at_ = {};    ///< When `take` began its last call.
  moment look_at_ = {};    ///< No look for hidden messages before. Of the thread of `take`.
  bool hidden_ = false;    ///< The last look found that some may be. Of the same thread.
  const std::size_t most_kept_;
  const std::shared_ptr<kept_gate> gate_ = std::make_shared<kept_gate>();
  refusals refusals_;
  std::size_t refused_in_row_ = 0;  ///< Settlements.
  moment next_probe_ = {};          ///< Nothing put aside is tried before.
  bool one_more_ = false;           ///< One message may be taken beyond most_aside().
  backoff probe_pauses_;
  enum class taker_waits : std::uint8_t { no, for_room, for_settle };
  taker_waits taker_ = taker_waits::no;
  bool settler_waits_ = false;
  std::optional<moment> lingers_until_;
  bool had_some_ = false;  ///< At the last check for the end.
  /// A handler's transaction failed because of the database. Until the next settlement handlers get
  /// no message of this feed, so that those of other databases do not wait.
  bool away_ = false;
  bool taking_ = true;
  std::optional<std::uint64_t> drained_at_;  ///< take_course::drained_at.
  bool more_ = false;         ///< The last take found all that it asked for: more wait.
  bool takes_ = false;        ///< `take` is in a call.
  bool settles_ = false;      ///< `settle` is in a call.
  bool joint_ = false;        ///< That call takes, too.
  bool keeps_ = false;        ///< A handler has kept a message.
  bool has_settled_ = false;  ///< settle_all has returned or thrown: nothing is settled any more.
  bool leaving_ = false;      ///< Nothing else is left: what is refused now is not tried again.
};

}  // namespace tableq::inline v0::core
