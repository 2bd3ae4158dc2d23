#pragma once

#include <cstdint>

#include <tableq/message_filter.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

// Lists and changes messages of a claim queue by a filter; claim_queue.hpp documents each function.

filtered_messages list(const queue_state& queue, const message_filter& filter,
                       const filter_page& page);

bulk_result cancel(const queue_state& queue, const message_filter& filter,
                   const bulk_options& options);
bulk_result set_priority(const queue_state& queue, const message_filter& filter,
                         std::int32_t priority, const bulk_options& options);
bulk_result make_ready(const queue_state& queue, const message_filter& filter,
                       const bulk_options& options);
bulk_result purge(const queue_state& queue, const message_filter& filter,
                  const bulk_options& options);
bulk_result redrive(const queue_state& queue, const message_filter& filter,
                    const bulk_options& options);
redriven redrive_all(const queue_state& queue, const redrive_options& options);

}  // namespace tableq::inline v0::core
