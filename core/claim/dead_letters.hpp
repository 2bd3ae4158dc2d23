#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <tableq/error.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// The header that a message gets when it is moved to a dead-letter queue: where it came from.
inline constexpr std::string_view source_header = "tableq-source";
/// And the one that a message gets whose headers cannot be read: what stood there, as text.
inline constexpr std::string_view unread_header = "tableq-unread-headers";

/// @throws error errc::not_found, always: names the dead-letter queue and says what to do.
[[noreturn]] void refuse_dead_letters(const queue_state& of, const error& failure);

/// Runs `work()`, which uses the dead-letter queue of a queue.
/// @throws error errc::not_found that names the dead-letter queue, if it is missing.
template <class Work>
auto on_dead_letters(const queue_state& of, Work work) {
  try {
    return work();
  } catch (const error& failure) {
    if (failure.code() != errc::not_found) throw;
    refuse_dead_letters(of, failure);
  }
}

/// Moves dead messages of this queue to its dead-letter queue, with their history.
void move_to_dead_letters(const queue_state& of, transaction_state& tx,
                          std::span<const message_id> ids);

/// Moves messages that came from this queue, and are ready in its dead-letter queue, back.
/// Where keys are held until completion, a message whose key another one holds stays.
/// @param letters as they were listed; their payloads are not used.
/// @return how many of them were there still, and how many stay because of their keys.
/// @throws error errc::conflict when another message takes a key at the same time.
redriven move_back(const queue_state& of, transaction_state& tx,
                   std::span<const stored_message> letters);

}  // namespace tableq::inline v0::core
