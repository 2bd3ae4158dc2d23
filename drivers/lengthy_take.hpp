#pragma once

#include <span>

#include "core/seam/driver.hpp"

namespace tableq::inline v0::drivers {

/// Whether claim.take, which took none, may have left a long message: see
/// capabilities::changes_copy_rows.
/// An empty take ends with a call without its guard, so that one look is enough.
[[nodiscard]] bool may_be_lengthy(const core::statement_call& take,
                                  const capabilities& features) noexcept;

/// Takes messages in steps, if one of them is long: the database has fewer copies of it in memory
/// then.
/// @param shared the parameters of claim.take.
/// @return its rows, in any order; none if no message is long.
core::row_set take_lengthy(core::connection& session, const core::table_names& names,
                           std::span<const core::value> shared);

}  // namespace tableq::inline v0::drivers
