#pragma once

/// @file
/// Queues for programs with an event loop of Asio, opt-in: `tableq/tableq.hpp` does not include it.
/// Needs the separate Asio 1.19, or Boost 1.77 with TABLEQ_BOOST_ASIO defined before it.
/// docs/asio.md has the tokens, the cancellations and an example.

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tableq/asio/pool.hpp>
#include <tableq/claim_queue.hpp>
#include <tableq/handled.hpp>
#include <tableq/pending_queue.hpp>
#include <tableq/plain_queue.hpp>

namespace tableq::inline v0 {

/// The threads on which the blocking calls of asynchronous queues run: as many as given, whatever
/// the number of calls. Reads that wait for messages have no thread and no session.
///
/// Owns its threads, or borrows the pool of the program, which then must live longer than this and
/// its queues. The destructor ends waiting reads with operation_aborted and lets running calls
/// finish; it must not run on such a thread. Later calls are operation_aborted.
///
/// @par Thread safety
/// Safe, except destruction.
class async_calls {
 public:
  /// The executor of the pool: that of handlers without one.
  using executor_type = async_detail::pool_executor;

  /// @param threads 1 to 1,000; up to open_options::max_sessions are of use.
  /// @throws error errc::invalid_argument for another number.
  explicit async_calls(database db, std::size_t threads = 4)
      : state_(std::make_shared<async_detail::pool_state>(std::move(db), threads)) {}
  /// On the program's threads. Waiting for their end (`join`) lasts until this is destroyed.
  async_calls(database db, net::thread_pool& pool)
      : state_(std::make_shared<async_detail::pool_state>(std::move(db), pool)) {}
  async_calls(const async_calls&) = delete;
  async_calls& operator=(const async_calls&) = delete;
  /// See the class.
  ~async_calls() {
    state_->close();
    state_->heard->close();
    if (state_->own) state_->own->join();
  }

  /// The pool's.
  [[nodiscard]] executor_type get_executor() const noexcept { return state_->executor; }

  /// Runs `f(transaction&)` on a thread of the pool as database::transact does, so also again after
  /// a conflict. The handler is `void(std::exception_ptr)`: it gets what f or the database threw. A
  /// cancellation has an effect only before f runs; so what f refers to is used only until the
  /// handler is called.
  template <class Function, class Token>
  auto async_transact(Function f, Token&& token) {
    namespace detail = async_detail;
    return net::async_initiate<Token, void(std::exception_ptr)>(
        detail::launch{state_,
                       [](const auto& state, auto handler, Function run) {
                         detail::start_call<detail::exception_first, std::exception_ptr>(
                             state, std::move(handler), detail::when_running::finishes,
                             [db = state->db,
                              run = std::move(run)]() mutable -> std::exception_ptr {
                               try {
                                 db.transact([&run](transaction& tx) { run(tx); });
                                 return nullptr;
                               } catch (...) {  // for the handler
                                 return std::current_exception();
                               }
                             });
                       }},
        token, std::move(f));
  }

 private:
  template <class Queue>
  friend class async_queue;

  std::shared_ptr<async_detail::pool_state> state_;
};

/// A queue whose calls are asynchronous: `async_queue jobs(calls, db.claim("jobs"))`, and then
/// `co_await jobs.async_take(net::use_awaitable)`. Handlers get an error code first, of
/// `tableq_category` or Asio's own, on their associated executor. Options are those of the blocking
/// calls; with g++ 12 make them before the co_await (docs/asio.md). A call that was cancelled, or
/// whose `async_calls` is gone, is operation_aborted: then it has had no effect. The context of
/// that executor lives until the handler was called, or longer than the `async_calls`: declare it
/// before.
///
/// Shares the pool and the queue.
///
/// @par Thread safety
/// Safe.
template <class Queue>
class async_queue {
 public:
  /// @param of in no transaction.
  async_queue(const async_calls& calls, Queue of)
      : state_(calls.state_),
        queue_(std::move(of)),
        line_(state_->heard->line_for(
            [queue = queue_](watch& of_all, std::int64_t number) { of_all.add(queue, number); })) {}

  /// Its queue, for blocking calls.
  [[nodiscard]] const Queue& queue() const noexcept { return queue_; }

  /// Adds a message. Handler: `void(asio_error, R)`, R as of the blocking call. A cancelled one is
  /// operation_aborted, and not sent, or errc::outcome_unknown, if it was under way.
  template <class Options, class Token>
  auto async_enqueue(std::string payload, Options options, Token&& token) {
    using result = decltype(queue_.enqueue(payload, options));
    return call<result>(std::forward<Token>(token),
                        [payload = std::move(payload), options = std::move(options)](Queue& of) {
                          return of.enqueue(payload, options);
                        });
  }
  /// The same without options.
  template <class Token>
  auto async_enqueue(std::string payload, Token&& token) {
    using result = decltype(queue_.enqueue(payload));
    return call<result>(std::forward<Token>(token),
                        [payload = std::move(payload)](Queue& of) { return of.enqueue(payload); });
  }

  /// Takes up to `max` messages of a `claim` queue; waits for the first one up to options.wait.
  /// Handler: `void(asio_error, std::vector<delivery>)`. A cancelled one gives its messages back,
  /// also if it has ended and its handler has not run yet.
  template <class Token>
  auto async_take(std::size_t max, take_options options, Token&& token) {
    using result = std::vector<delivery>;
    const auto wait = std::exchange(options.wait, {});
    return read<result>(
        std::forward<Token>(token), wait,
        [max, options = std::move(options)](Queue& of) { return of.take(max, options); },
        [](Queue& of, const result& taken) { static_cast<void>(of.release_batch(taken)); });
  }
  /// Takes one message, however long that takes. Handler: `void(asio_error,
  /// std::optional<delivery>)`; without an error there is one.
  template <class Token>
  auto async_take(Token&& token) {
    using result = std::optional<delivery>;
    return read<result>(
        std::forward<Token>(token), std::nullopt, [](Queue& of) { return of.take_one(); },
        [](Queue& of, const result& taken) { static_cast<void>(of.release(*taken)); });
  }

  /// Reads and deletes up to `max` messages; waits for the first one up to options.wait. Handler:
  /// `void(asio_error, std::vector<message>)`. A cancelled one that has read messages succeeds; so
  /// give it a time by options.wait, since `||` would drop them.
  template <class Token>
  auto async_dequeue(std::size_t max, dequeue_options options, Token&& token) {
    const auto wait = std::exchange(options.wait, {});
    return read<std::vector<message>>(
        std::forward<Token>(token), wait,
        [max, options = std::move(options)](Queue& of) { return of.dequeue_batch(max, options); },
        nullptr);
  }
  /// One message, however long that takes. Handler: `void(asio_error, std::optional<message>)`.
  template <class Token>
  auto async_dequeue(Token&& token) {
    return read<std::optional<message>>(
        std::forward<Token>(token), std::nullopt, [](Queue& of) { return of.dequeue(); }, nullptr);
  }

  /// Settles a message that was taken: completed, also with a result, failed, retry_after, give_up
  /// or give_back. Handler: `void(asio_error, settle_result)`. A cancelled one is as that of
  /// async_enqueue.
  template <class Token>
  auto async_settle(receipt taken, handled verdict, Token&& token) {
    return call<settle_result>(std::forward<Token>(token),
                               [taken = std::move(taken), verdict = std::move(verdict)](Queue& of) {
                                 switch (verdict.what()) {
                                   case handled::how::completed:
                                     return complete(of, taken, verdict.result());
                                   case handled::how::failed:
                                     return of.fail(taken, verdict.why(),
                                                    {.delay = verdict.delay()});
                                   case handled::how::given_up:
                                     return of.fail(taken, verdict.why(), {.give_up = true});
                                   case handled::how::given_back:
                                     return of.release(taken);
                                   default:
                                     break;
                                 }
                                 throw error(errc::invalid_argument, advice::never,
                                             "async_settle takes no settled and no kept");
                               });
  }

 private:
  static settle_result complete(Queue& of, const receipt& taken,
                                const std::optional<std::string>& result) {
    if (!result) return of.complete(taken);
    if constexpr (requires { of.complete(taken, *result); }) {
      return of.complete(taken, *result);
    } else {
      throw error(errc::invalid_argument, advice::never, "only a claim queue keeps results");
    }
  }

  template <class Result, class Token, class Work>
  auto call(Token&& token, Work work) {
    namespace detail = async_detail;
    return net::async_initiate<Token, void(asio_error, Result)>(
        detail::launch{state_,
                       [](const auto& state, auto handler, Queue of, Work run) {
                         detail::start_call<detail::code_first, Result>(
                             state, std::move(handler), detail::when_running::unknown,
                             [of = std::move(of), run = std::move(run)]() mutable {
                               return run(of);
                             });
                       }},
        token, queue_, std::move(work));
  }

  template <class Result, class Token, class Read>
  auto read(Token&& token, std::optional<std::chrono::milliseconds> wait, Read how,
            std::function<void(Queue&, const Result&)> give_back) {
    namespace detail = async_detail;
    return net::async_initiate<Token, void(asio_error, Result)>(
        detail::launch{
            state_,
            [wait, give_back](const auto& state, auto handler, Queue of,
                              std::shared_ptr<detail::line> in, Read run) {
              std::function<void(const Result&)> undo;
              if (give_back) {
                undo = [of, give_back](const Result& found) mutable { give_back(of, found); };
              }
              detail::start_read<Result>(
                  state, in, std::move(handler), wait,
                  [of, run = std::move(run)]() mutable { return run(of); }, std::move(undo));
            }},
        token, queue_, line_, std::move(how));
  }

  std::shared_ptr<async_detail::pool_state> state_;
  Queue queue_;
  std::shared_ptr<async_detail::line> line_;
};

}  // namespace tableq::inline v0
