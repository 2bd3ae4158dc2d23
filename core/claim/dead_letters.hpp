#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include <tableq/error.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>

#include "core/queue/queue_state.hpp"
#include "core/seam/claim_requests.hpp"

namespace tableq::inline v0::core {

/// A message that moves to a dead-letter queue gets this header: the name of its former queue.
inline constexpr std::string_view source_header = "tableq-source";
/// From a queue with batches also this one: its former id.
inline constexpr std::string_view source_id_header = "tableq-source-id";
/// A message whose headers cannot be read gets this header instead: the old content as text.
inline constexpr std::string_view unread_header = "tableq-unread-headers";

/// @throws error errc::not_found, always, with the dead-letter queue's name and the remedy.
[[noreturn]] void refuse_dead_letters(const queue_state& queue, const error& failure);

/// Runs `work()`, which uses the dead-letter queue of a queue.
/// @throws error errc::not_found that names the dead-letter queue, if it is missing.
template <class Work>
auto on_dead_letters(const queue_state& queue, Work work) {
  try {
    return work();
  } catch (const error& failure) {
    if (failure.code() != errc::not_found) throw;
    refuse_dead_letters(queue, failure);
  }
}

/// Moves dead messages of this queue to its dead-letter queue, with their history.
void move_to_dead_letters(const queue_state& queue, transaction_state& tx,
                          std::span<const message_id> ids);

/// Moves back the messages that came from this queue and are ready in its dead-letter queue. With
/// keys held until completion, a message whose key another one holds stays.
/// @param letters as they were listed; their payloads are not used.
/// @return how many of them still existed, and how many stay because of their keys.
/// @throws error errc::conflict when another message takes a key at the same time.
redriven move_back(const queue_state& queue, transaction_state& tx,
                   std::span<const stored_message> letters);

/// Frees those of the keys whose window has ended, and some more, so that no key stays forever.
void forget_keys(const queue_state& queue, transaction_state& tx, std::span<const key_item> keys);

/// Those of the keys that messages of the queue hold.
std::set<std::string_view> held_keys(const queue_state& queue, transaction_state& tx,
                                     const std::set<std::string_view>& keys);

/// Whether a message of the dead-letter queue came from this queue and can return. Without its
/// headers it would be a different message.
[[nodiscard]] bool came_from(const queue_state& queue, const stored_message& letter);

/// Counts the messages of the queue `source` among the first `max` ready ones of `letters`, its
/// dead-letter queue. Empty: the user may not read that queue, or it is missing.
std::optional<letters_row> letters_in(const queue_state& letters, std::string_view source,
                                      std::size_t max);

}  // namespace tableq::inline v0::core
