#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include <tableq/worker.hpp>

#include "core/session/backoff.hpp"
#include "core/worker/worker_state.hpp"

namespace tableq::inline v0::core {

/// One worker: the threads of all its queues, and those of its handlers, or one that lets an
/// executor run them.
///
/// @par Thread safety
/// Shared objects: safe, except for join.
class worker_engine {
 public:
  worker_engine(std::vector<worker_source> sources, worker_options options);
  worker_engine(const worker_engine&) = delete;
  worker_engine& operator=(const worker_engine&) = delete;
  ~worker_engine();

  /// Whether this process started the worker.
  [[nodiscard]] bool here() const noexcept { return state_.here(); }
  /// @throws error errc::invalid_argument in a child of that process.
  void check_here() const;

  void stop() noexcept { state_.stop(); }
  void abandon() noexcept { state_.abandon(); }
  bool stop_within(std::chrono::milliseconds longest);
  [[nodiscard]] bool wait_for(std::chrono::milliseconds longest);
  void join();
  [[nodiscard]] worker_counts counts() const;
  /// @throws error errc::invalid_argument if there is no such source.
  [[nodiscard]] worker_counts counts(std::size_t source) const;

 private:
  class posted_task;
  using work_item = worker_state::work_item;

  void start_threads();
  void join_threads();
  /// A thread: the work, and its end, which is called under the mutex.
  void run(const std::function<void()>& work, const std::function<void()>& end) noexcept;
  void handle_all();
  /// Calls the handler. Without memory for its result the message is given back.
  [[nodiscard]] handler_result call(const work_item& one) noexcept;
  void post_all();
  /// Gives one message to the executor. @return false after a failure, which is reported.
  [[nodiscard]] bool post(const work_item& one);
  /// Reports trouble with the executor.
  void tell(std::string_view trouble, std::string_view more = {}) const noexcept;
  /// A posted message has its result.
  /// @param has_run false: the executor has dropped it.
  void returned(const work_item& one, handler_result result, bool has_run) noexcept;

  worker_state state_;
  // The mutex of the state guards these.
  std::size_t posted_ = 0;  ///< Messages that the executor has.
  bool dropped_ = false;    ///< The executor has dropped one; not reported yet.
  bool has_run_ = false;    ///< The executor has run one since the last check.
  bool late_ = false;       ///< stop_within has ended before the worker.

  std::vector<std::thread> threads_;
};

}  // namespace tableq::inline v0::core
