#pragma once

#include <cstddef>
#include <span>

#include <tableq/message.hpp>
#include <tableq/options.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

// Redrives dead messages; claim_queue.hpp documents each function.

std::size_t redrive(const queue_state& queue, std::span<const message_id> ids);
redriven redrive_all(const queue_state& queue, const redrive_options& options);

}  // namespace tableq::inline v0::core
