#pragma once

#include <tableq/unstable/dialect.hpp>

#include "drivers/blocks.hpp"

namespace tableq::inline v0::drivers {

/// Checks that a dialect has everything that core needs.
/// @throws error errc::invalid_argument naming the missing or wrong part.
void check_dialect(const dialect& added, const blocks& statements);

}  // namespace tableq::inline v0::drivers
