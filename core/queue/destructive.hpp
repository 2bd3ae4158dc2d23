#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tableq/fwd.hpp>
#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/stats.hpp>

#include "core/queue/queue_state.hpp"
#include "core/seam/queue_requests.hpp"

namespace tableq::inline v0::core {

// Operations of the kinds whose reads delete; queue.hpp documents each. If the transaction is null,
// the operation has its own unit of work.

/// Checks a message and makes its item. Borrows the payload.
/// @throws error errc::too_large, errc::invalid_argument.
plain_item to_item(const queue_state& queue, std::string_view payload,
                   const enqueue_options& options);
pending_item to_item(const queue_state& queue, std::string_view payload,
                     const pending_options& options);

/// @param Item plain_item or pending_item.
template <class Item>
std::vector<message_id> add(const queue_state& queue, transaction_state* tx,
                            std::span<const Item> items, const when_full& full);

std::vector<message> dequeue(const queue_state& queue, transaction_state* tx, std::size_t max,
                             const dequeue_options& options);
/// How long until the next message of a pending queue falls due. Empty: there is none.
std::optional<std::chrono::milliseconds> next_due(const queue_state& queue);
std::vector<message> peek(const queue_state& queue, std::size_t max);
std::size_t purge(const queue_state& queue);
queue_stats count(const queue_state& queue, const stats_options& options);

}  // namespace tableq::inline v0::core
