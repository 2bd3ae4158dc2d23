#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <tableq/fwd.hpp>
#include <tableq/handled.hpp>
#include <tableq/message.hpp>
#include <tableq/transaction.hpp>

namespace tableq::inline v0 {

/// The function that a `worker` or `drain` calls for each message.
///
/// Holds any callable, also a move-only one, with one of these parameter lists:
///
/// - `(const delivery&)`
/// - `(const delivery&, const std::stop_token&)`
/// - `(transaction&, const delivery&)`
/// - `(transaction&, const delivery&, const std::stop_token&)`
///
/// It returns nothing, which means `handled::completed()`, or a `handled`. The lists without a
/// transaction are tried first: a generic lambda with a transaction must name that parameter's
/// type.
///
/// With a transaction the work and the completion of the message are one: the worker begins the
/// transaction, calls the handler, completes the message in it, and commits. `jobs.in(tx)` and
/// `session_of(tx)` do work inside it. The handler must not commit or roll back. On any other
/// verdict, and when the handler throws, the worker rolls the transaction back first.
/// `handled::settled()` commits without completing. With `handled::kept` the message fails.
///
/// The handler may run again in the same attempt, and must have no effects outside the transaction:
/// after a conflict (serialization, deadlock, busy) at once, as `database::transact` repeats its
/// function; after a session that was lost before the commit, or that could not be opened, later,
/// and other messages are handled meanwhile. The same holds if a statement that the handler runs
/// by `session_of` meets the conflict or the loss, and its exception leaves the handler. A time
/// limit of the database (a statement time-out; PostgreSQL's idle_in_transaction_session_timeout
/// and transaction_timeout) fails the attempt, with its name in the history. A commit with an
/// unknown outcome is reported as `unknown` and never repeated. If the lease was lost, the
/// transaction is rolled back. The transaction holds its locks while the handler runs; on SQLite it
/// blocks all other writers, also the extension of leases. Each running handler has its own
/// session: open_options::max_sessions must exceed the number of handlers.
///
/// Owns the callable; copies share it. It is never copied itself.
///
/// @par Thread safety
/// Distinct objects: safe. A worker calls the callable from several threads at once, unless
/// worker_options::threads is 1: the callable must then protect its own state with a lock.
class handler {
 public:
  /// Empty. Every function that takes a handler refuses it with errc::invalid_argument.
  handler() = default;
  handler(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor): as std::function
  /// From a callable as above. An empty std::function or a null pointer makes an empty handler.
  template <class Work>
  requires(!std::same_as<std::remove_cvref_t<Work>, handler> &&
           !std::same_as<std::remove_cvref_t<Work>, std::nullptr_t>)
      // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
      handler(Work&& work) {
    adopt<std::decay_t<Work>>(std::forward<Work>(work));
  }

  /// Whether there is a callable.
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  /// Whether the callable wants a transaction.
  [[nodiscard]] bool in_transaction() const noexcept { return in_transaction_; }
  /// Calls it. Its exceptions pass through.
  /// @param tx not null if in_transaction().
  handled operator()(transaction* tx, const delivery& message, const std::stop_token& stop) const {
    return call_(tx, message, stop);
  }

 private:
  using token = std::stop_token;
  template <class Work, class... Parameters>
  static constexpr bool takes = std::is_invocable_v<Work&, Parameters...>;

  template <class Work, class Given>
  void adopt(Given&& work) {
    if constexpr (takes<Work, const delivery&, const token&>) {
      keep<Work, const delivery&, const token&>(std::forward<Given>(work));
    } else if constexpr (takes<Work, const delivery&>) {
      keep<Work, const delivery&>(std::forward<Given>(work));
    } else if constexpr (takes<Work, transaction&, const delivery&, const token&>) {
      in_transaction_ = true;
      keep<Work, transaction&, const delivery&, const token&>(std::forward<Given>(work));
    } else if constexpr (takes<Work, transaction&, const delivery&>) {
      in_transaction_ = true;
      keep<Work, transaction&, const delivery&>(std::forward<Given>(work));
    } else {
      static_assert(takes<Work, transaction&, const delivery&>,
                    "a tableq handler takes (const delivery&), (const delivery&, const "
                    "std::stop_token&), (transaction&, const delivery&) or (transaction&, const "
                    "delivery&, const std::stop_token&)");
    }
  }

  template <class Work, class... Parameters, class Given>
  void keep(Given&& work) {
    using result = std::invoke_result_t<Work&, Parameters...>;
    constexpr bool fits = std::is_void_v<result> || std::is_convertible_v<result, handled>;
    static_assert(fits, "a tableq handler returns nothing or a tableq::handled");
    if constexpr (fits) {
      auto kept = std::make_shared<Work>(std::forward<Given>(work));
      if constexpr (std::is_pointer_v<Work> || requires { kept->operator bool(); }) {
        if (!*kept) return;
      }
      call_ = [own = std::move(kept)](transaction* tx, const delivery& message,
                                      const token& stop) -> handled {
        if constexpr (std::is_void_v<result>) {
          std::invoke(*own, argument<Parameters>(tx, message, stop)...);
          return handled::completed();
        } else {
          return std::invoke(*own, argument<Parameters>(tx, message, stop)...);
        }
      };
    }
  }

  template <class Parameter>
  static Parameter argument(transaction* tx, const delivery& message, const token& stop) {
    if constexpr (std::is_same_v<Parameter, transaction&>) {
      return *tx;
    } else if constexpr (std::is_same_v<Parameter, const delivery&>) {
      return message;
    } else {
      return stop;
    }
  }

  std::function<handled(transaction*, const delivery&, const std::stop_token&)> call_;
  bool in_transaction_ = false;
};

}  // namespace tableq::inline v0
