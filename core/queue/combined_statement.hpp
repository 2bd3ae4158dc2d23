#pragma once

#include <span>

#include "core/combining/lanes.hpp"
#include "core/observe/observation.hpp"
#include "core/queue/queue_table.hpp"

namespace tableq::inline v0::core {

/// By the statement, and for claim.enqueue by whether an item has a key.
lane lane_of(statement id, std::span<const value> items) noexcept;

/// Runs a statement outside a transaction, in a unit of work of its own that is repeated where that
/// is safe.
/// @param watched told of each repetition, if not null.
row_set run_alone(const queue_table& of, statement id, std::span<const value> shared,
                  std::span<const value> items, const observation* watched);

/// The same, in one unit of work with the same statement of other threads; where the database has
/// one writer at a time, with whatever else the other threads write. Each caller receives only the
/// rows of its own items; of a read, as many as it asked for, the first callers the first rows.
row_set run_combined(const queue_table& of, statement id, lane in, std::span<const value> shared,
                     std::span<const value> items, const observation* watched);

}  // namespace tableq::inline v0::core
