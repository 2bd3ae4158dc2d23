#pragma once

/// @file
/// Requests and rows of the limits of queues.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/message.hpp>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// The number in the tables that stands for a rate of 1 a second. Stored; never change it.
inline constexpr std::int64_t rate_unit = 1'000'000;

/// The burst of a rate, in the unit above, that names none: the messages of one second.
constexpr std::int64_t default_burst(std::int64_t rate) noexcept {
  return (rate + rate_unit - 1) / rate_unit;
}

/// The name of a queue, and the clock.
struct limits_request {
  std::string_view queue = {};
  TABLEQ_FIELDS(limits_request, queue)
};

/// The tokens that a read leaves.
struct spend_request {
  std::string_view queue = {};
  std::int64_t tokens = 0;
  std::int64_t refilled_at = 0;
  TABLEQ_FIELDS(spend_request, queue, tokens, refilled_at)
};

/// Whether reads stop.
struct pause_request {
  std::string_view queue = {};
  bool paused = false;
  TABLEQ_FIELDS(pause_request, queue, paused)
};

/// All limits of a queue. Rates are millionths, tokens are billionths of a message.
struct limits_set_request {
  std::string_view queue = {};
  std::optional<std::size_t> capacity = {};
  std::optional<std::int64_t> rate = {};
  std::optional<int> burst = {};
  std::optional<int> concurrency = {};
  std::int64_t tokens = 0;
  TABLEQ_FIELDS(limits_set_request, queue, capacity, rate, burst, concurrency, tokens)
};

/// Counts messages, up to `max`. For a number up to `enough` an upper bound is sufficient.
struct room_request {
  std::size_t enough = 0;
  std::size_t max = 0;
  TABLEQ_FIELDS(room_request, enough, max)
};

/// Up to `max` groups of a queue, from a name on; of those with a late start only the ones after
/// it.
struct group_list_request {
  std::string_view queue = {};
  std::string_view first = {};  ///< Empty: all of them, those of the others first.
  std::size_t max = 0;
  TABLEQ_FIELDS(group_list_request, queue, first, max)
};

/// The limits of a group, or what concerns all groups of the queue. The rate is in millionths.
struct group_limits_request {
  std::string_view queue = {};
  std::optional<std::string_view> name = {};  ///< Empty text: of all groups without their own.
  std::optional<int> running = {};
  std::optional<std::int64_t> rate = {};
  std::optional<int> burst = {};
  std::optional<int> weight = {};
  std::int64_t changes = 0;
  TABLEQ_FIELDS(group_limits_request, queue, name, running, rate, burst, weight, changes)
};

/// Groups that may start a whole burst again, up to `max`.
struct forget_starts_request {
  std::string_view queue = {};
  std::size_t max = 0;
  bool all = false;  ///< All of the queue, without a limit.
  TABLEQ_FIELDS(forget_starts_request, queue, max, all)
};

/// The starts of a group, in microseconds, and the message that waits for the next one.
struct start_item {
  std::string_view group = {};
  std::int64_t full_at = 0;
  std::optional<message_id> alarm = {};
  std::optional<timestamp> alarm_at = {};
  TABLEQ_FIELDS(start_item, group, full_at, alarm, alarm_at)
};

/// The limits of a group, and in the row without a name the number of changes.
struct group_limits_row {
  std::string name = {};
  std::optional<int> running = {};
  std::optional<std::int64_t> rate = {};
  std::optional<int> burst = {};
  std::optional<int> weight = {};
  std::int64_t changes = 0;
  std::int64_t applied = 0;
  TABLEQ_FIELDS(group_limits_row, name, running, rate, burst, weight, changes, applied)
};

/// Of the groups of a queue together, but for one.
struct other_limits_row {
  bool limited = false;  ///< One has limits.
  bool rates = false;    ///< One of these is a rate.
  TABLEQ_FIELDS(other_limits_row, limited, rates)
};

/// The queue that has the name, its limits and its options. No row: no queue has it.
struct limits_row {
  std::int64_t identity = 0;
  std::string kind = {};
  bool paused = false;
  std::optional<std::size_t> capacity = {};
  std::optional<std::int64_t> rate = {};
  std::optional<int> burst = {};
  std::optional<int> concurrency = {};
  std::string options = {};  ///< Of the queue, as the catalogue has them.
  bool latest = false;       ///< Not of the snapshot of a transaction that began before.
  TABLEQ_FIELDS(limits_row, identity, kind, paused, capacity, rate, burst, concurrency, options,
                latest)
};

/// The limits of a queue, and the tokens of its rate.
struct limits_lock_row {
  bool paused = false;
  std::optional<std::int64_t> rate = {};
  std::optional<std::int64_t> burst = {};
  std::optional<std::size_t> concurrency = {};
  std::optional<std::int64_t> tokens = {};
  std::optional<std::int64_t> refilled_at = {};
  std::optional<std::int64_t> clock = {};
  TABLEQ_FIELDS(limits_lock_row, paused, rate, burst, concurrency, tokens, refilled_at, clock)
};

/// A number.
struct number_row {
  std::size_t number = 0;
  TABLEQ_FIELDS(number_row, number)
};

}  // namespace tableq::inline v0::core
