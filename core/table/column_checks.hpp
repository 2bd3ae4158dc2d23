#pragma once

#include "core/table/layout.hpp"

namespace tableq::inline v0::core {

/// Checks that the columns of a mapping can hold what its statements write, and be compared as they
/// compare.
/// @throws error errc::invalid_argument that names the column, and what it lacks.
void check_columns(const table_layout& layout);

}  // namespace tableq::inline v0::core
