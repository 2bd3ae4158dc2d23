#pragma once

/// @file
/// Requests and rows of the rules of periodic messages.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/message.hpp>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// A rule that is followed, without its message.
struct due_rule_row {
  std::string name = {};
  std::string queue = {};
  std::optional<std::string> cron = {};
  std::optional<std::chrono::milliseconds> every = {};
  std::string zone = {};
  int catch_up = 1;
  std::optional<std::chrono::milliseconds> latest = {};
  std::optional<timestamp> due = {};  ///< Empty: not computed yet.
  std::optional<std::string> problem = {};
  timestamp clock = {};
  TABLEQ_FIELDS(due_rule_row, name, queue, cron, every, zone, catch_up, latest, due, problem, clock)
};

/// Goes on to the next time of a rule, and keeps its problem, if it still is as it was read.
struct fire_request : due_rule_row {
  std::optional<timestamp> last = {};  ///< Empty: it stays.
  std::optional<timestamp> next = {};
  bool disable = false;
  TABLEQ_MORE_FIELDS(fire_request, due_rule_row, last, next, disable)
};

/// The message of a rule.
struct periodic_row {
  byte_string payload = {};
  std::optional<std::string> headers = {};
  std::optional<std::string> key = {};
  std::optional<std::string> group = {};
  std::int32_t priority = 0;
  bool skip = false;  ///< None while the last one is in the queue.
  TABLEQ_FIELDS(periodic_row, payload, headers, key, group, priority, skip)
};

/// A rule, all of it, as it is read and stored.
struct rule_row : due_rule_row, periodic_row {
  std::optional<std::string> owner = {};
  bool enabled = true;
  std::optional<timestamp> last = {};
  std::optional<std::string> kind = {};  ///< Of its queue; empty: there is none.
  TABLEQ_MORE_FIELDS(rule_row, due_rule_row, payload, headers, key, group, priority, skip, owner,
                     enabled, last, kind)
};

}  // namespace tableq::inline v0::core
