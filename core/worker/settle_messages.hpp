#pragma once

#include "core/worker/worker_state.hpp"

namespace tableq::inline v0::core {

/// Settles the messages of a queue by the verdicts of their handlers, until there will be none.
/// Messages that end during a call form the next batch.
void settle_messages(worker_state& worker, worker_queue& queue);

}  // namespace tableq::inline v0::core
