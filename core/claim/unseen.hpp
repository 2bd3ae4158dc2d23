#pragma once

#include <functional>
#include <span>
#include <vector>

#include <tableq/message.hpp>
#include <tableq/transaction.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// Returns whether the statement was right to skip these messages, by the committed data. Gets a
/// new session, and the indexes of the messages in `passed`.
using fresh_look = std::function<bool(connection&, std::span<const std::size_t>)>;

/// Checks messages that a statement has skipped. If the transaction keeps a snapshot, other
/// sessions may have added them after it. Messages that the transaction cannot see are checked
/// outside of it.
/// @param tx the caller's; null: there is nothing to check.
/// @throws error errc::conflict when a message may exist, or cannot be checked.
void check_unseen(const queue_state& queue, transaction_state* tx,
                  std::span<const message_id> passed, const fresh_look& gone);

}  // namespace tableq::inline v0::core
