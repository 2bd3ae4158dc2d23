#pragma once

#include <cstddef>
#include <span>

#include <tableq/message.hpp>
#include <tableq/options.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

// Putting dead messages back; claim_queue.hpp says what each promises.

std::size_t redrive(const queue_state& of, std::span<const message_id> ids);
redriven redrive_all(const queue_state& of, const redrive_options& options);

}  // namespace tableq::inline v0::core
