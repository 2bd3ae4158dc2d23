#pragma once

#include "settings.hpp"

namespace bench {

/// What the figures depend on: processors, memory, the file system and its fsync, versions.
json machine(const settings& how, raw_database& raw);

}  // namespace bench
