#pragma once

#include <cstddef>

#include <tableq/fwd.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// The effects of an operation on a queue that concern other calls and processes.
struct effects {
  std::size_t readable = 0;  ///< Messages that were added, or can be read again.
  bool left = false;         ///< Messages left the queue, or their leases ended: there may be room.
  bool readmitted = false;   ///< Messages returned to the queue without a reservation of room.
};

/// Wakes readers and frees room: at once, or when `tx` commits.
void apply(const queue_state& queue, transaction_state* tx, const effects& done);

}  // namespace tableq::inline v0::core
