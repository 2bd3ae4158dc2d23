#pragma once

/// @file
/// The pool of blocking calls. For `tableq/asio.hpp`.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <tableq/asio/waiting.hpp>
#include <tableq/database.hpp>

namespace tableq::inline v0::async_detail {

using pool_executor = net::thread_pool::executor_type;

/// The state that the queues of one `async_calls` share.
///
/// Owns the watch, and its pool unless that is the program's. The pool outlives all that is made on
/// it, also what a queue makes after the end of the calls.
struct pool_state {
  pool_state(database of, std::size_t threads)
      : own(std::make_unique<net::thread_pool>(checked(threads))),
        db(std::move(of)),
        executor(own->get_executor()) {}
  pool_state(database of, net::thread_pool& pool)
      : db(std::move(of)), executor(pool.get_executor()) {}

  /// Asio itself would take none, and never run a call.
  static std::size_t checked(std::size_t threads) {
    if (threads >= 1 && threads <= 1000) return threads;
    throw error(errc::invalid_argument, advice::never, "async_calls: threads is 1 to 1000");
  }

  /// From now on nothing is posted.
  void close() {
    const std::lock_guard guard(gate);
    closed = true;
  }
  /// False: it was closed, and nobody may run it.
  template <class Work>
  bool post(Work work) {
    const std::lock_guard guard(gate);
    if (!closed) net::post(executor, std::move(work));
    return !closed;
  }

  std::unique_ptr<net::thread_pool> own;
  database db;
  pool_executor executor;
  std::shared_ptr<news<pool_executor>> heard = std::make_shared<news<pool_executor>>(executor);
  std::mutex gate;
  std::atomic<bool> closed{false};  ///< Written under the gate.
};

/// The initiation that net::async_initiate calls: it has the pool's executor, as initiations
/// should.
template <class Start>
struct launch {
  using executor_type = pool_executor;

  std::shared_ptr<pool_state> state;
  Start start;

  [[nodiscard]] executor_type get_executor() const noexcept { return state->executor; }
  template <class Handler, class... Arguments>
  void operator()(Handler&& handler, Arguments&&... arguments) const {
    start(state, std::forward<Handler>(handler), std::forward<Arguments>(arguments)...);
  }
};
template <class Start>
launch(std::shared_ptr<pool_state>, Start) -> launch<Start>;

/// Runs `work` once on the pool.
template <class Style, class Result, class Handler, class Work>
void start_call(const std::shared_ptr<pool_state>& state, Handler&& handler, when_running mode,
                Work work) {
  auto made = make_call<Style, Result>(std::forward<Handler>(handler), state->executor, mode);
  if (state->closed) {
    if (made->drop()) made->tell(net::error::operation_aborted, Result{});
    return;
  }
  net::post(state->executor, [made = std::move(made), work = std::move(work)]() mutable {
    if (!made->begin()) return;
    Result result{};
    asio_error failure;
    try {
      result = work();
    } catch (...) {  // as a code for the handler
      failure = current_asio_error();
    }
    // False: the handler has been told that nobody can tell.
    if (made->end()) made->tell(failure, std::move(result));
  });
}

/// Reads, and waits for a message.
template <class Result, class Handler>
void start_read(const std::shared_ptr<pool_state>& state, const std::shared_ptr<line>& of,
                Handler&& handler, std::optional<std::chrono::milliseconds> wait,
                std::function<Result()> read, std::function<void(const Result&)> give_back) {
  auto made = make_call<code_first, Result>(std::forward<Handler>(handler), state->executor,
                                            when_running::withdraws);
  if (give_back) {
    made->undone_by([weak = std::weak_ptr<pool_state>(state), give_back](
                        const std::shared_ptr<call<Result>>& self, const Result& found) {
      const auto live = weak.lock();
      return live && live->post([self, give_back, found] {
        try {
          give_back(found);
        } catch (...) {  // the leases end by themselves
        }
        self->tell(net::error::operation_aborted, Result{});
      });
    });
  }
  auto next = std::make_shared<reader_of<pool_executor, Result>>(
      made, state->executor, wait, std::move(read), std::move(give_back));
  if (state->closed) return next->abort(net::error::operation_aborted);
  net::post(state->executor,
            [heard = state->heard, of, next = std::move(next)] { heard->read(of, next); });
}

}  // namespace tableq::inline v0::async_detail
