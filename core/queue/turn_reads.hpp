#pragma once

#include <span>

#include "core/seam/driver.hpp"

namespace tableq::inline v0::core {

/// Takes messages of a queue whose groups take turns.
/// @param shared the parameters of claim.take.
/// @return the rows of claim.take in the order of the queue.
row_set take_by_turns(connection& session, const table_names& names, std::span<const value> shared);

}  // namespace tableq::inline v0::core
