#pragma once

#include "settings.hpp"

namespace bench {

/// The conditions of the figures: processors, memory, the file system and its fsync, versions.
json machine(const settings& how, raw_database& raw);

}  // namespace bench
