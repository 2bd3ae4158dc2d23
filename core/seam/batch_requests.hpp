#pragma once

/// @file
/// Requests and rows of batches. A message of a batch is named by the identity of its queue and its
/// id; the queue 0 stands for batches that belong to another one.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/batch_options.hpp>
#include <tableq/message.hpp>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// The outcome of a member of a batch. Stored; never renumber.
enum class member_outcome : std::int32_t { outstanding = 0, dead = 1, removed = 2, gone = 3 };

/// A new batch: the message at its end, if it has one.
struct batch_begin_request {
  std::optional<std::string_view> name = {};
  std::optional<std::string_view> queue = {};
  std::optional<byte_view> payload = {};
  std::optional<std::string_view> headers = {};
  std::optional<std::string_view> key = {};
  std::optional<std::string_view> group = {};
  std::int32_t priority = 0;
  TABLEQ_FIELDS(batch_begin_request, name, queue, payload, headers, key, group, priority)
};

/// Messages for a batch. A sealed one takes them while the member is outstanding.
struct batch_add_request {
  std::int64_t batch = 0;
  std::int64_t count = 0;  ///< May be negative.
  std::int64_t queue = 0;
  std::int64_t member = 0;
  TABLEQ_FIELDS(batch_add_request, batch, count, queue, member)
};

/// A batch, and whether it is cancelled.
struct batch_request {
  std::int64_t batch = 0;
  bool cancel = false;
  TABLEQ_FIELDS(batch_request, batch, cancel)
};

/// Batches from `first` to `last`, with counts of so many members each.
struct batch_list_request {
  std::int64_t first = 0;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  std::size_t max = 1;
  std::size_t count_to = 1;
  TABLEQ_FIELDS(batch_list_request, first, last, max, count_to)
};

/// A page of the outstanding members of a batch, or of the handle's queue: those after a queue and
/// a message.
struct members_page_request {
  std::int64_t batch = 0;
  std::int64_t after_queue = 0;
  std::int64_t after_message = 0;
  std::size_t max = 0;
  TABLEQ_FIELDS(members_page_request, batch, after_queue, after_message, max)
};

/// A queue with members, and what becomes of them.
struct members_request {
  std::int64_t queue = 0;
  member_outcome before = member_outcome::outstanding;
  member_outcome outcome = member_outcome::outstanding;
  TABLEQ_FIELDS(members_request, queue, before, outcome)
};

/// A new member.
struct member_item {
  message_id id = {};
  std::int64_t batch = 0;
  TABLEQ_FIELDS(member_item, id, batch)
};

/// A dead member that comes back as another message.
struct rejoin_item {
  message_id id = {};
  message_id former = {};
  TABLEQ_FIELDS(rejoin_item, id, former)
};

/// The number of a batch.
struct batch_row {
  std::int64_t batch = 0;
  TABLEQ_FIELDS(batch_row, batch)
};

/// The batch of a member, and whether it is cancelled.
struct batch_of_row {
  std::int64_t batch = 0;
  bool cancelled = false;
  TABLEQ_FIELDS(batch_of_row, batch, cancelled)
};

/// A sealed batch that has not ended.
struct batch_open_row {
  std::int64_t batch = 0;
  bool outstanding = false;
  std::optional<std::int64_t> lost = {};    ///< A queue of its members that is not there any more.
  std::optional<std::string> ends_in = {};  ///< The queue of the message at its end.
  TABLEQ_FIELDS(batch_open_row, batch, outstanding, lost, ends_in)
};

/// The message at the end of a batch.
struct batch_end_row {
  bool cancelled = false;
  std::optional<byte_string> payload = {};
  std::optional<std::string> headers = {};
  std::optional<std::string> key = {};
  std::optional<std::string> group_key = {};
  std::int32_t priority = 0;
  TABLEQ_FIELDS(batch_end_row, cancelled, payload, headers, key, group_key, priority)
};

/// The counts of a batch that has ended.
struct batch_counts_row : batch_info {
  TABLEQ_FIELDS(batch_counts_row, total, completed, dead, removed, gone)
};

/// A batch with its counts.
struct batch_info_row : batch_info {
  TABLEQ_FIELDS(batch_info_row, total, completed, dead, removed, gone, id, name, outstanding,
                sealed, cancelled, then, created_at, finished_at)
};

/// An outstanding member.
struct member_row {
  std::int64_t queue = 0;
  std::int64_t message = 0;
  TABLEQ_FIELDS(member_row, queue, message)
};

/// An outstanding member whose message is not as it should be, or the last one that was looked at.
struct stray_row {
  std::int64_t message = 0;
  std::optional<message_state> state = {};  ///< Empty: it is not in its queue.
  bool cancelled = false;                   ///< Its batch.
  TABLEQ_FIELDS(stray_row, message, state, cancelled)
};

}  // namespace tableq::inline v0::core
