#pragma once

#include <chrono>
#include <cstddef>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// Deletes up to `max` messages of this state that finished that long ago. @return how many.
std::size_t purge_some(const queue_state& queue, message_state state, std::chrono::milliseconds age,
                       std::size_t max);

/// After a call that has taken or settled messages: deletes done and dead messages that are older
/// than the queue keeps them, in steps of their own, for at most about a tenth of each second. Does
/// nothing in a thread with an open transaction. A failure is no error of the call: others apply
/// it.
void apply_retention(const queue_state& opened) noexcept;

}  // namespace tableq::inline v0::core
