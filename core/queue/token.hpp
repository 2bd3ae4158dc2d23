#pragma once

#include <cstdint>

namespace tableq::inline v0::core {

/// A random 32-bit number, the lower half of a fence. The fence of a rolled-back take then matches
/// no later one.
std::int64_t fence_token();

}  // namespace tableq::inline v0::core
