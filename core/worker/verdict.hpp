#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include <tableq/error.hpp>
#include <tableq/worker.hpp>

namespace tableq::inline v0::core {

// Results of one message, for any handler and any answer of the database: for worker and drain.

/// Calls the handler. Whatever it returns or throws, the result can be settled.
/// @param retry_delay the delay after an exception of the handler; empty: the queue's.
[[nodiscard]] handled ask_handler(const worker::handler& work, const delivery& about,
                                  const std::stop_token& stop,
                                  std::optional<std::chrono::milliseconds> retry_delay);

/// Whether an error may concern one message only, so that others must not suffer from it.
[[nodiscard]] bool may_be_of_a_message(const error& failure) noexcept;

/// The settlement to use instead, if the database refuses the completion of a message.
[[nodiscard]] handled instead_of_done(const error& refused);

}  // namespace tableq::inline v0::core
