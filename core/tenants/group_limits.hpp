#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <tableq/fwd.hpp>
#include <tableq/limits.hpp>
#include <tableq/schema.hpp>

#include "core/claim/groups.hpp"
#include "core/database/database_state.hpp"
#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// The first layout of the catalogue with limits of groups.
inline constexpr int layout_with_group_limits = 3;

/// Moves the waiting messages of these groups: some become ready, others are held again.
/// @param briefly as a caller who wants something else: a group may be locked for long.
void move_some_groups(const queue_state& queue, const group_set& groups, bool briefly = false);

/// Moves the waiting messages of all groups whose names come after one, until the time is over.
/// @param until other than max(): briefly.
/// @return the last group that was looked at. Empty: all were.
std::optional<std::string> move_all_groups(const queue_state& queue, std::string after,
                                           std::chrono::steady_clock::time_point until);

/// Lets waiting messages follow changes by plain SQL, by programs that ended in between, and beside
/// programs that had not heard of the first limit.
upkeep make_group_upkeep();

/// Limits that no process follows.
std::vector<finding> inspect_group_limits(const queue_state& queue);

}  // namespace tableq::inline v0::core
