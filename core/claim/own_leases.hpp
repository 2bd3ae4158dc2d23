#pragma once

#include "core/claim/lease_table.hpp"
#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// The statements on tableq's own layout.
const lease_table& own_leases() noexcept;

/// The statements on the queue's table.
inline const lease_table& leases_of(const queue_state& queue) noexcept {
  return queue.mapped() != nullptr ? *queue.mapped() : own_leases();
}

}  // namespace tableq::inline v0::core
