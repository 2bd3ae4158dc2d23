#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <tableq/fwd.hpp>
#include <tableq/message.hpp>

#include "core/queue/queue_state.hpp"
#include "core/seam/claim_requests.hpp"

namespace tableq::inline v0::core {

// Messages leave a claim queue with all that they have, and enter another one.

/// Those of messages of some groups, by their ids, that may leave.
using may_leave = std::function<std::vector<message_id>(std::span<const message_id>)>;

/// Removes messages, and after ready ones those that wait behind them in their groups, in their
/// order; what stays in the groups goes on.
/// @param states messages in other states stay.
/// @param most of all that are removed, if `ids` are not more.
/// @param followers decides on those that wait, with none of a group after one that stays.
/// @return the removed ones, by their ids.
std::vector<removed_row> extract(const queue_state& queue, transaction_state& tx,
                                 std::span<const message_id> ids, int states, std::size_t most,
                                 const may_leave& followers);

/// Adds removed messages, in their order. In a queue with groups those that waited come behind
/// their groups, in another one they keep their states.
/// @param readmitted whether they need no room.
/// @throws error errc::queue_full; errc::conflict when another message takes a key at the same
///   time; errc::not_found when the queue was dropped.
void restore(const queue_state& queue, transaction_state& tx, std::span<const removed_row> messages,
             bool readmitted);

}  // namespace tableq::inline v0::core
