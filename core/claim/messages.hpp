#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/message_filter.hpp>
#include <tableq/options.hpp>

#include "core/queue/queue_state.hpp"
#include "core/seam/claim_requests.hpp"

namespace tableq::inline v0::core {

// Reads the messages of a claim queue, and changes messages that no worker holds; claim_queue.hpp
// documents each function. If the transaction is null, the operation has its own unit of work.

std::vector<stored_message> list(const queue_state& queue, message_state which, const page& page);

std::vector<std::optional<stored_message>> get(const queue_state& queue, transaction_state* tx,
                                               std::span<const message_id> ids,
                                               const look_options& with = {});

/// As in states_request. Ready, delayed, held and dead messages can be cancelled.
inline constexpr int waiting_states =
    bit_of(message_state::ready) | bit_of(message_state::delayed) | bit_of(message_state::held);
inline constexpr int cancelled_states = waiting_states | bit_of(message_state::dead);

/// @param states messages in other states stay.
std::vector<change_result> cancel(const queue_state& queue, transaction_state* tx,
                                  std::span<const message_id> ids, int states = cancelled_states);
std::vector<change_result> make_ready(const queue_state& queue, transaction_state* tx,
                                      std::span<const message_id> ids);
std::vector<change_result> set_priority(const queue_state& queue, transaction_state* tx,
                                        std::span<const new_priority> changes);

std::size_t redrive(const queue_state& queue, std::span<const message_id> ids);

/// The most messages that one statement reads for a filter.
inline constexpr std::size_t longest_scan = 10'000;

struct found_messages {
  std::vector<message_id> ids = {};
  std::size_t read = 0;
  std::optional<filter_place> next = {};  ///< Empty: all were read.
};

/// Reads up to `scan` messages in these states after a place, until `max` fit.
found_messages find_fitting(const queue_state& queue, transaction_state* tx,
                            const message_filter& filter, int states, const filter_place& after,
                            std::size_t scan, std::size_t max);

}  // namespace tableq::inline v0::core
