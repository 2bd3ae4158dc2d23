#pragma once

#include <tableq/dialect.hpp>

#include "drivers/blocks.hpp"

namespace tableq::drivers {

/// Holds a dialect against what core will ask of it.
/// @throws error errc::invalid_argument naming what is missing or wrong.
void check_dialect(const dialect& added, const blocks& statements, const blocks& given_clock);

}  // namespace tableq::drivers
