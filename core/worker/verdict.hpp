#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include <tableq/error.hpp>
#include <tableq/worker.hpp>

namespace tableq::core {

// What becomes of one message, whatever its handler and the database say: for worker and drain.

/// Calls the handler. Whatever it returns or throws, the answer is one that can be settled.
/// @param retry_delay how long the message rests if the handler throws; empty: as the queue says.
[[nodiscard]] handled ask_handler(const worker::handler& work, const delivery& about,
                                  const std::stop_token& stop,
                                  std::optional<std::chrono::milliseconds> retry_delay);

/// Whether an error may be about one message only, so that others are not to suffer from it.
[[nodiscard]] bool may_be_of_a_message(const error& failure) noexcept;

/// What is settled instead, when the database refuses the completion of a message.
[[nodiscard]] handled instead_of_done(const error& refused);

}  // namespace tableq::core
