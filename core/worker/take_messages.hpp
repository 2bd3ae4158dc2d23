#pragma once

#include <cstddef>
#include <vector>

#include <tableq/message.hpp>

#include "core/claim/operations.hpp"
#include "core/worker/worker_state.hpp"

namespace tableq::inline v0::core {

/// Takes the messages of a queue until the worker stops, or nothing is left for until_empty.
void take_messages(worker_state& worker, worker_queue& queue);

/// Begins a joint take, which then calls `took` if it succeeds, and `end_joint_take`.
/// @return how many messages to take. Zero: none; there is no joint take.
[[nodiscard]] std::size_t begin_joint_take(const worker_state& worker, worker_queue& queue);
void end_joint_take(const worker_state& worker, worker_queue& queue);
/// Adds what a take has found. @param max how many messages it asked for.
void took(worker_state& worker, worker_queue& queue, std::vector<delivery> taken, std::size_t max,
          const take_course& course);

}  // namespace tableq::inline v0::core
