#pragma once

/// @file
/// Requests and rows of the kinds whose reads delete.

#include <chrono>
#include <cstddef>
#include <optional>

#include <tableq/message.hpp>
#include <tableq/stats.hpp>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// At most `max` messages.
struct read_request {
  std::size_t max = 0;
  TABLEQ_FIELDS(read_request, max)
};

/// A new message of a heap, FIFO or LIFO queue.
struct plain_item {
  byte_view payload = {};
  std::optional<timestamp> created_at = {};  ///< Empty: the clock.
  TABLEQ_FIELDS(plain_item, payload, created_at)
};

/// A new message of a pending queue.
struct pending_item {
  byte_view payload = {};
  std::optional<timestamp> created_at = {};  ///< Empty: the clock.
  std::optional<timestamp> due_at = {};      ///< Empty: `delay` from now.
  std::chrono::milliseconds delay{0};
  TABLEQ_FIELDS(pending_item, payload, created_at, due_at, delay)
};

/// A message.
struct id_row {
  message_id id = {};
  TABLEQ_FIELDS(id_row, id)
};

/// A message of a kind whose reads delete.
struct message_row {
  message_id id = {};
  timestamp created_at = {};
  std::optional<timestamp> due_at = {};
  byte_string payload = {};
  TABLEQ_FIELDS(message_row, id, created_at, due_at, payload)
};

/// Figures of a queue.
struct count_row : queue_stats {
  TABLEQ_FIELDS(count_row, waiting, delayed, oldest, last_id, as_of)
};

/// How long until the next message falls due.
struct delay_row {
  std::optional<std::chrono::milliseconds> delay = {};  ///< Empty: there is none.
  TABLEQ_FIELDS(delay_row, delay)
};

}  // namespace tableq::inline v0::core
