#pragma once

#include <optional>
#include <span>
#include <vector>

#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/stats.hpp>
#include <tableq/transaction.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::core {

// What the kinds do whose reads delete; queue.hpp says what each promises. A null transaction means
// a unit of work of our own.

/// @throws error errc::too_large, errc::invalid_argument.
void check_new(const queue_state& to, const new_message& one);
void check_new(const queue_state& to, const new_pending_message& one);

std::vector<message_id> add(const queue_state& to, transaction* tx,
                            std::span<const new_message> messages, const when_full& full = {});
std::vector<message_id> add(const queue_state& to, transaction* tx,
                            std::span<const new_pending_message> messages,
                            const when_full& full = {});

std::vector<message> read(const queue_state& of, transaction* tx, const dequeue_options& options);
std::vector<message> peek(const queue_state& of, std::size_t max);
std::size_t purge(const queue_state& of);
queue_stats count(const queue_state& of, const stats_options& options);

}  // namespace tableq::core
