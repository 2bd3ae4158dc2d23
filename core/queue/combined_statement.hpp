#pragma once

#include <span>

#include "core/combining/lanes.hpp"
#include "core/observe/observation.hpp"
#include "core/queue/queue_table.hpp"

namespace tableq::inline v0::core {

/// Depends on the statement, and for claim.enqueue on whether an item has a key.
lane lane_of(statement id, std::span<const value> items) noexcept;

/// Runs a statement outside a transaction, in its own unit of work, which is repeated if that is
/// safe.
/// @param watched notified of each repetition, if not null.
row_set run_alone(const queue_table& table, statement id, std::span<const value> shared,
                  std::span<const value> items, const observation* watched);

/// The same, in one unit of work with the same statement of other threads. If the database has one
/// writer at a time, other writing statements share the unit as well. Each caller receives only the
/// rows of its own items. A reader receives as many rows as it asked for; earlier callers receive
/// earlier rows.
row_set run_combined(const queue_table& table, statement id, lane call_lane,
                     std::span<const value> shared, std::span<const value> items,
                     const observation* watched);

}  // namespace tableq::inline v0::core
