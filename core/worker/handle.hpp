#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include <tableq/error.hpp>
#include <tableq/fwd.hpp>
#include <tableq/handled.hpp>
#include <tableq/handler.hpp>
#include <tableq/message.hpp>
#include <tableq/worker_event.hpp>

namespace tableq::inline v0::core {

// Calls of handlers and their results, for any handler and any response of the database. For worker
// and drain.

/// The result of a handler call.
struct handler_result {
  handled verdict;
  /// How the message ended, if nothing is left to settle.
  std::optional<worker_event::kind> ended = {};
  std::string why = {};  ///< Of `ended`. Empty: the verdict's.
  /// The handler's transaction failed in a way that may pass, and the handler runs again later. If
  /// the worker ends before, the verdict counts.
  bool again = false;
  bool kept = false;  ///< The handler keeps the message. The verdict counts for nothing.
};

/// How a handler is called.
struct call_terms {
  /// The delay after an exception of the handler; empty: the queue's.
  std::optional<std::chrono::milliseconds> retry_delay = {};
  /// For a worker, whose thread has other messages: a call with a transaction that loses its
  /// session, or gets none, throws; without a transaction the handler may return handled::kept.
  /// Otherwise the call tries again, as other units of work do, and nothing is kept.
  bool of_worker = false;
  /// Ends the transaction of a call that waits for the server.
  std::stop_token given_up = {};
  /// After a conflict the handler is called again at once, within retry_for.
  bool repeats = true;
};

/// Of a verdict that a handler, or a kept_delivery, has given.
[[nodiscard]] handler_result result_of(handled verdict);

/// Calls the handler, inside a transaction if it takes one. Every result and every exception of the
/// handler becomes a verdict that can be settled.
/// @throws error only for a handler with a transaction that could not be begun or committed, whose
///   session was lost, or where the database took no writes. The handler may be called again,
///   except after errc::outcome_unknown.
[[nodiscard]] handler_result handle(const handler& work, const claim_queue& queue,
                                    const delivery& message, const std::stop_token& stop,
                                    const call_terms& terms);

/// The same verdict, as the queue can store it.
[[nodiscard]] handled storable(handled verdict, const claim_queue& queue,
                               std::optional<std::chrono::milliseconds> retry_delay);

/// The delay to settle a failure with. Empty: the table knows its own rule, or has no delays. For a
/// table of the application retry_delays::usual() is the rule.
[[nodiscard]] std::optional<std::chrono::milliseconds> rest_of(const handled& verdict,
                                                               const claim_queue& queue,
                                                               const delivery& message);

/// Completes the message with the verdict's result, if it has one.
[[nodiscard]] settle_result complete_with(claim_queue queue, const delivery& message,
                                          const handled& verdict);

/// The settlement to use instead, if the database refuses the completion of a message.
[[nodiscard]] handled refused_completion(const error& refused);
/// The same for all that a handler does in its transaction.
[[nodiscard]] handled refused_transaction(const error& refused);

}  // namespace tableq::inline v0::core
