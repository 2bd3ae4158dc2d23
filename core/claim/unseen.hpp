#pragma once

#include <functional>
#include <span>
#include <vector>

#include <tableq/message.hpp>
#include <tableq/transaction.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// Whether some messages certainly are not what a statement was to change, by what is committed
/// now. Gets a session of ours, and their places among those that were passed over.
using fresh_look = std::function<bool(connection&, std::span<const std::size_t>)>;

/// A statement has passed over these messages. In a transaction that keeps a snapshot they may be
/// there all the same, added by others since. What the transaction cannot see is looked for outside
/// of it.
/// @param tx the caller's; null: there is nothing to check.
/// @throws error errc::conflict when a message may be there, or cannot be looked for.
void check_unseen(const queue_state& of, transaction_state* tx, std::span<const message_id> passed,
                  const fresh_look& gone);

}  // namespace tableq::inline v0::core
