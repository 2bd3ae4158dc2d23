#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/worker.hpp>

#include "core/session/backoff.hpp"
#include "core/worker/feed.hpp"
#include "core/worker/idle_handlers.hpp"
#include "core/worker/turns.hpp"

namespace tableq::inline v0::core {

/// One worker: a feed for each of its queues, and the threads of all. Handlers (or `post`, which
/// lets an executor run them) take the messages of the feeds by turns. All share one mutex. No
/// thread holds it during a call to the database, a handler or an observer.
///
/// @par Thread safety
/// Shared objects: safe, except for join.
class worker_engine {
 public:
  worker_engine(std::vector<worker_source> sources, worker_options options);
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
  /// @throws error errc::invalid_argument if there is no such source.
  [[nodiscard]] worker_counts counts(std::size_t source) const;

  // For the feeds:

  /// The longest pause between two attempts while a database is unavailable, so that work resumes
  /// soon after.
  static constexpr std::chrono::milliseconds shortest_pause{100};
  static constexpr std::chrono::milliseconds longest_pause{2000};

  [[nodiscard]] std::mutex& mutex() const noexcept { return mutex_; }
  [[nodiscard]] const worker_options& options() const noexcept { return options_; }
  [[nodiscard]] std::stop_token stopping() const noexcept { return stop_.get_token(); }
  [[nodiscard]] bool is_abandoned() const noexcept { return abandon_.stop_requested(); }
  [[nodiscard]] bool has_several() const noexcept { return feeds_.size() > 1; }
  /// Waits for the end of the worker. @return true if it has ended.
  [[nodiscard]] bool rest(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds length);
  void pause(std::chrono::milliseconds length, bool until_stop);
  /// Takes no more; join throws the failure.
  void end_with(std::exception_ptr failure) noexcept;
  void report(const worker_event& event) const noexcept;

  // Under the mutex:
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }
  /// How many messages handlers and waiting messages of one feed may be.
  [[nodiscard]] std::size_t most() const noexcept { return options_.threads + prefetch_; }
  /// Of all feeds.
  [[nodiscard]] std::size_t running() const noexcept { return running_; }
  /// Whether messages of a higher precedence wait for a handler.
  [[nodiscard]] bool is_behind_others(int precedence) const;
  [[nodiscard]] bool holds_some() const;
  /// How often takes have found messages.
  [[nodiscard]] std::uint64_t finds() const noexcept { return finds_; }
  /// Whether all queues were empty after the last message was found.
  [[nodiscard]] bool all_empty() const;
  [[nodiscard]] bool has_callers() const noexcept { return callers_ > 0; }
  /// A take has found messages. @param first none had waited.
  void found(std::size_t feed, bool first);
  void wake_handlers();
  /// Feeds may have room for more messages.
  void wake_takers();
  void ran_dry();

 private:
  class posted_task;

  struct work_item {
    worker_feed* feed = nullptr;
    held message = nullptr;
  };
  enum class part : std::uint8_t { take, settle, keep, call };

  void start_threads();
  void start_failed() noexcept;
  void run(part what, worker_feed* feed) noexcept;
  void do_part(part what, worker_feed* feed);
  void feed_has_settled() noexcept;
  void handle_all();
  void post_all();
  /// Messages that wait for a handler. Under the mutex, as the next ones.
  [[nodiscard]] std::size_t waiting() const;
  /// Whether no feed will get another message.
  [[nodiscard]] bool nothing_comes() const;
  /// The message whose turn it is. Empty: none waits.
  [[nodiscard]] work_item pick();
  /// The next message for a handler thread; waits for it. Empty: there will be none.
  [[nodiscard]] work_item next(std::unique_lock<std::mutex>& lock);
  /// Reports the executor's failure, and waits.
  void trouble(const char* why, backoff& pauses);
  /// Gives one message to the executor.
  void post(const work_item& one, backoff& pauses);
  /// A posted message has its result.
  /// @param has_run false: the executor has dropped it.
  void returned(const work_item& one, handler_result result, bool has_run) noexcept;

  const worker_options options_;
  const std::size_t prefetch_;
  std::stop_source stop_;     ///< No more messages are taken.
  std::stop_source abandon_;  ///< Handlers are asked to end.

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  ///< Signals the end, and changes of both stop sources.
  // Each part waits for its own signal: one for all would wake each handler for each message.
  idle_handlers idle_;
  std::condition_variable to_post_;
  std::vector<std::unique_ptr<worker_feed>> feeds_;
  turns turns_;
  std::size_t running_ = 0;
  std::uint64_t finds_ = 0;
  std::size_t callers_ = 0;   ///< Threads that still handle or post.
  std::size_t settlers_ = 0;  ///< Threads that still settle.
  std::size_t posted_ = 0;    ///< Messages that the executor has.
  bool dropped_ = false;      ///< The executor has dropped one; not reported yet.
  bool has_run_ = false;      ///< The executor has run one since the last check.
  bool has_started_ = true;
  bool ended_ = false;
  std::exception_ptr failure_;

  std::vector<std::thread> threads_;
};

}  // namespace tableq::inline v0::core
