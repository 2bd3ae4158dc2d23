#pragma once

#include <cstddef>

#include <tableq/fwd.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// What an operation did to a queue, as far as other calls and processes have to know.
struct effects {
  std::size_t readable = 0;  ///< So many messages were added, or can be read again.
  bool left = false;         ///< Messages left, or gave a lease back: there may be room.
  bool readmitted = false;   ///< Messages are back without a reservation of room.
};

/// Wakes readers and frees room: at once, or when `tx` commits.
void apply(const queue_state& of, transaction_state* tx, const effects& done);

}  // namespace tableq::inline v0::core
