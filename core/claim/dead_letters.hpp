#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <tableq/fwd.hpp>
#include <tableq/message.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// The header that a message gets when it is moved to a dead-letter queue: where it came from.
inline constexpr std::string_view source_header = "tableq-source";
/// And the one that a message gets whose headers cannot be read: what stood there, as text.
inline constexpr std::string_view unread_header = "tableq-unread-headers";

/// Moves dead messages of this queue to its dead-letter queue, with their history.
void move_to_dead_letters(const queue_state& of, transaction_state& tx,
                          std::span<const message_id> ids);

/// Moves messages that came from this queue, and are ready in its dead-letter queue, back.
/// @return how many of them were there still.
std::size_t move_back(const queue_state& of, transaction_state& tx,
                      std::span<const message_id> ids);

}  // namespace tableq::inline v0::core
