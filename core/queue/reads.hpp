#pragma once

#include <span>

#include "core/seam/driver.hpp"

namespace tableq::inline v0::core {

/// Puts the rows of a read into the queue's order: no database guarantees one for changed rows.
void put_in_order(row_set& rows, statement id);

/// Takes messages in steps, after claim.take took none, if one of them is long: the database has
/// fewer copies of it in memory then. For databases with capabilities::changes_copy_rows.
/// @param shared the parameters of claim.take, without its guard: an empty take ends with such a
///   call, so that one look is enough.
/// @return the rows of claim.take in the order of the queue; none if no message is long.
row_set take_lengthy(connection& session, const table_names& names, std::span<const value> shared);

}  // namespace tableq::inline v0::core
