#pragma once

#include "core/worker/worker_state.hpp"

namespace tableq::inline v0::core {

/// Calls the handler for a message.
[[nodiscard]] handler_result call_handler(worker_state& worker,
                                          const worker_state::work_item& item);

}  // namespace tableq::inline v0::core
