#pragma once

#include "core/queue/lease_table.hpp"
#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// The statements on tableq's own layout.
const lease_table& own_leases() noexcept;

/// Whether a look takes nothing from a queue that has gone or has limits, and tells so.
[[nodiscard]] bool looks_at_limits(const queue_state& queue);

/// The statements on the queue's table.
inline const lease_table& leases_of(const queue_state& queue) noexcept {
  return queue.mapped() != nullptr ? *queue.mapped() : own_leases();
}

}  // namespace tableq::inline v0::core
