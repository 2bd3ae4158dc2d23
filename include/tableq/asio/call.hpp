#pragma once

/// @file
/// One asynchronous call: its handler, and who ends it. For `tableq/asio.hpp`.

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tableq/asio/failure.hpp>

namespace tableq::inline v0::async_detail {

/// How a call that runs on the pool takes a cancellation.
enum class when_running {
  finishes,   ///< It ends as without.
  unknown,    ///< A terminal one ends it at once: nobody can tell what the database will have done.
  withdraws,  ///< What it finds is given back; then it ends.
};

/// A call before its end, whatever its handler. Shared by the pool and by the handler's slot.
///
/// @par Thread safety
/// Safe: of several that end it one succeeds.
template <class... Results>
class call : public std::enable_shared_from_this<call<Results...>> {
 public:
  /// Gives back what was found, and tells then that it was aborted. False: it cannot.
  using undo = std::function<bool(const std::shared_ptr<call>&, const Results&...)>;

  explicit call(when_running mode) noexcept : mode_(mode) {}
  call(const call&) = delete;
  call& operator=(const call&) = delete;
  virtual ~call() = default;

  /// True: the pool may run it now. False: it has ended.
  bool begin() noexcept { return change(stage::waiting, stage::running); }
  /// True: it waits again. False: it was cancelled meanwhile, and the caller ends it.
  bool pause() noexcept { return change(stage::running, stage::waiting); }
  /// True: the caller tells the result of what has run. False: it was cancelled meanwhile.
  bool end() noexcept { return change(stage::running, stage::ended); }
  /// After `end` or `pause` was false. True: the caller tells it.
  bool withdraw() noexcept { return change(stage::withdrawing, stage::ended); }
  /// True: it waited, and the caller tells its end.
  bool drop() noexcept { return change(stage::waiting, stage::ended); }

  /// For the handler's slot.
  void cancel(net::cancellation_type_t type) {
    if (drop()) return tell(net::error::operation_aborted, Results{}...);
    if (mode_ == when_running::withdraws) {
      // It may begin to wait again between two looks.
      while (!change(stage::running, stage::withdrawing)) {
        if (drop()) return tell(net::error::operation_aborted, Results{}...);
        const stage now = stage_;
        if (now == stage::withdrawing || now == stage::ended) return revoke();
      }
    } else if (mode_ == when_running::unknown &&
               (type & net::cancellation_type_t::terminal) != net::cancellation_type_t::none &&
               end()) {
      tell(make_asio_error(errc::outcome_unknown), Results{}...);
    }
  }

  /// Calls the handler, once, on its executor and after this returns.
  virtual void tell(asio_error failure, Results... results) = 0;

  /// Before it begins: what a cancellation between its end and its handler does.
  void undone_by(undo how) { undo_ = std::move(how); }

 protected:
  /// On the handler's executor. True: another call of `tell` follows.
  bool undone(const Results&... found) {
    return revoked_ && undo_ && undo_(this->shared_from_this(), found...);
  }

 private:
  enum class stage { waiting, running, withdrawing, ended };

  /// Its end is known to nobody until its handler runs, and `a || b` drops the result of `a` then.
  void revoke() noexcept { revoked_ = true; }
  bool change(stage from, stage to) noexcept { return stage_.compare_exchange_strong(from, to); }

  std::atomic<stage> stage_{stage::waiting};
  std::atomic<bool> revoked_{false};
  when_running mode_;
  undo undo_;
};

/// Calls a handler with the error code first.
struct code_first {
  template <class Handler, class... Results>
  static void tell(Handler&& handler, asio_error failure, Results&&... results) {
    std::forward<Handler>(handler)(failure, std::forward<Results>(results)...);
  }
};

/// Calls a handler with an exception alone.
struct exception_first {
  template <class Handler>
  static void tell(Handler&& handler, asio_error failure, std::exception_ptr thrown) {
    if (failure) thrown = std::make_exception_ptr(asio_failure(failure));
    std::forward<Handler>(handler)(std::move(thrown));
  }
};

/// Owns a handler, and keeps its executor at work.
template <class Style, class Handler, class Executor, class... Results>
class handler_call final : public call<Results...> {
 public:
  handler_call(Handler handler, const Executor& usual, when_running mode)
      : call<Results...>(mode),
        work_(net::get_associated_executor(handler, usual)),
        handler_(std::move(handler)) {}

  [[nodiscard]] const Handler& handler() const noexcept { return handler_; }

  void tell(asio_error failure, Results... results) override {
    auto self = std::static_pointer_cast<handler_call>(this->shared_from_this());
    // The post goes on when the handler already runs on another thread: a guard of its own keeps
    // the context until it ends.
    const auto work = work_;
    net::post(work.get_executor(), [self = std::move(self), failure,
                                    values = std::make_tuple(std::move(results)...)]() mutable {
      std::apply([&](auto&... each) { self->deliver(failure, each...); }, values);
    });
  }

 private:
  /// On the handler's executor: no emission of the signal runs beside it.
  void deliver(asio_error failure, Results&... results) {
    if (!failure && this->undone(results...)) return;
    Handler handler(std::move(handler_));
    work_.reset();
    auto slot = net::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.clear();
    Style::tell(std::move(handler), failure, std::move(results)...);
  }

  net::executor_work_guard<net::associated_executor_t<Handler, Executor>> work_;
  Handler handler_;
};

template <class Style, class... Results, class Handler, class Executor>
std::shared_ptr<call<Results...>> make_call(Handler&& handler, const Executor& usual,
                                            when_running mode) {
  const auto made =
      std::make_shared<handler_call<Style, std::decay_t<Handler>, Executor, Results...>>(
          std::forward<Handler>(handler), usual, mode);
  auto slot = net::get_associated_cancellation_slot(made->handler());
  if (slot.is_connected()) {
    slot.assign([weak = std::weak_ptr<call<Results...>>(made)](net::cancellation_type_t type) {
      if (const auto live = weak.lock()) live->cancel(type);
    });
  }
  return made;
}

}  // namespace tableq::inline v0::async_detail
