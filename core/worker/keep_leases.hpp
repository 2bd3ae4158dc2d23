#pragma once

#include <tableq/error.hpp>

#include "core/worker/worker_state.hpp"

namespace tableq::inline v0::core {

/// Extends the leases of what the queue holds, until the worker ends. Tells handlers by their stop
/// tokens that their leases are lost.
void keep_leases(worker_state& worker, worker_queue& queue);

/// Whether the database has failed as a whole, and not the work on one message.
[[nodiscard]] bool of_the_database(const worker_queue& queue, const error& failure);

/// Counts that the database refuses a message for now. An extension of its lease may be needed to
/// tell whether the database works.
/// @return whether the refusal is the message's own.
[[nodiscard]] bool is_own(worker_state& worker, worker_queue& queue, const held& one,
                          handled::how what, const error& refused);

}  // namespace tableq::inline v0::core
