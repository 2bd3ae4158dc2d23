#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/worker.hpp>

#include "core/session/backoff.hpp"
#include "core/worker/idle_handlers.hpp"
#include "core/worker/turns.hpp"
#include "core/worker/worker_queue.hpp"

namespace tableq::inline v0::core {

/// The state that the threads of a worker share: its queues with the messages in flight, the turns
/// of the queues, and the waits of the threads. No thread holds the mutex during a call to the
/// database, a handler or an observer.
///
/// @par Thread safety
/// Shared objects: safe. Functions that say so are called under the mutex.
class worker_state {
 public:
  worker_state(std::vector<worker_source> sources, worker_options options);

  [[nodiscard]] const auto& queues() const noexcept { return queues_; }
  [[nodiscard]] const worker_options& options() const noexcept { return options_; }
  [[nodiscard]] bool has_several() const noexcept { return queues_.size() > 1; }
  [[nodiscard]] std::mutex& mutex() const noexcept { return mutex_; }
  /// Whether this process started the worker.
  [[nodiscard]] bool here() const noexcept { return queues_.front()->state().here(); }

  ~worker_state();
  worker_state(const worker_state&) = delete;
  worker_state& operator=(const worker_state&) = delete;

  void stop() noexcept;
  [[nodiscard]] std::stop_token stopping() const noexcept { return stop_.get_token(); }
  [[nodiscard]] bool stopped() const noexcept { return stop_.stop_requested(); }
  void abandon() noexcept;
  [[nodiscard]] bool abandoned() const noexcept { return abandon_.stop_requested(); }
  /// Takes no more; join throws the failure.
  void end_with(std::exception_ptr failed) noexcept;
  /// Waits, until a stop or, otherwise, until the messages are abandoned.
  void pause(std::chrono::milliseconds length, bool until_stop);
  void report(const worker_event& event) const noexcept;
  void report_trouble(const worker_queue& queue, const char* why) const noexcept;
  /// Reports it, and waits.
  void trouble(const worker_queue& queue, const char* why, backoff& pauses, bool until_stop);
  /// Calls that wait for a server are lost, those of handlers' transactions too.
  void give_up() noexcept { given_up_.request_stop(); }
  [[nodiscard]] std::stop_token given_up() const noexcept { return given_up_.get_token(); }
  /// All leases have ended.
  [[nodiscard]] std::stop_token over() const noexcept { return over_.get_token(); }

  /// A kept message has its end. @return false if it has one, or is not held any more.
  bool end_kept(worker_queue& queue, const held& one, handled verdict);
  /// Counts the ends of messages, forgets those that no handler has, and reports the ends.
  void conclude(worker_queue& queue, const std::vector<settlement>& ended);

  // Under the mutex:
  /// Wakes the threads that handle, post or settle, and who waits for the end.
  void wake_all();
  /// Waits for the end of the worker. @return true if it has ended.
  [[nodiscard]] bool rest(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds length);
  /// The same for the last of its threads.
  [[nodiscard]] bool rest_of_threads(std::unique_lock<std::mutex>& lock,
                                     std::chrono::milliseconds length);
  /// A thread has ended.
  void thread_ended();
  [[nodiscard]] bool has_ended() const noexcept { return settlers == 0; }
  [[nodiscard]] worker_counts counts(const worker_queue& queue) const noexcept;

  // Takes.
  /// How many messages may be taken.
  [[nodiscard]] std::size_t room(const worker_queue& queue) const;
  /// Whether messages of a higher precedence wait for a handler.
  [[nodiscard]] bool is_behind_others(const worker_queue& queue) const;
  /// Whether the taking thread leaves the next take to the settling one.
  [[nodiscard]] static bool left_to_settlement(const worker_queue& queue);
  /// Joint takes do not look for due and expired messages: the taking thread does, from time to
  /// time.
  [[nodiscard]] static bool is_overdue(const worker_queue& queue);
  /// There may be room, or a settlement has ended.
  void wake_taker(worker_queue& queue) const;
  void wake_takers() const;
  /// Adds messages that were just taken.
  void add(worker_queue& queue, std::vector<delivery> taken, moment sure_until);
  [[nodiscard]] bool holds_some() const;
  /// Whether all queues were empty after the last message was found.
  [[nodiscard]] bool all_empty() const;
  /// Whether no queue will get another message.
  [[nodiscard]] bool nothing_comes() const;

  // Handlers.
  struct work_item {
    worker_queue* queue = nullptr;
    held message = nullptr;
  };
  /// Messages that wait for a handler.
  [[nodiscard]] std::size_t waiting() const;
  /// The message whose turn it is. Empty: none waits.
  [[nodiscard]] work_item pick();
  /// The next message for a handler thread; waits for it. Empty: there will be none.
  [[nodiscard]] work_item next(std::unique_lock<std::mutex>& lock);
  /// A handler has returned.
  void returned(const work_item& item, handler_result result) noexcept;
  void wake_handlers();

  // Settlements.
  /// Whether finished messages do not linger.
  [[nodiscard]] bool in_a_hurry(const worker_queue& queue) const;
  void wake_settler(worker_queue& queue) const;
  /// Something was settled: messages that are put aside may be tried again.
  /// @param tries refusal_count::tries of the message.
  void succeeded(worker_queue& queue, handled::how what, std::size_t tries) const;
  void put_aside(worker_queue& queue, settlement one) const;
  /// Gives back the messages that no handler has.
  void give_back_waiting(worker_queue& queue) const;
  /// Gives back the messages that handlers still have.
  void give_back_running() const;

  // The mutex guards these.
  std::condition_variable to_post;  ///< For the thread that posts to an executor.
  std::size_t callers = 0;          ///< Threads that still handle or post.
  std::size_t settlers = 0;         ///< Threads that still settle.
  std::size_t threads = 0;          ///< Those of the worker that have not ended.
  std::uint64_t finds = 0;          ///< How often takes have found messages.
  std::exception_ptr failure;

 private:
  const worker_options options_;
  std::stop_source stop_;     ///< No more messages are taken.
  std::stop_source abandon_;  ///< Handlers are asked to end.
  std::stop_source over_;
  std::stop_source given_up_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  ///< Signals the end, and changes of both stop sources.
  std::vector<std::unique_ptr<worker_queue>> queues_;
  turns turns_;
  idle_handlers idle_;  // room for `threads`
  std::size_t running_ = 0;
};

}  // namespace tableq::inline v0::core
