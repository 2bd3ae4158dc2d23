#pragma once

#include <cstdint>

namespace tableq::inline v0::core {

/// A number of 32 bits for the part of a fence that stays unique when a take is rolled back.
std::int64_t fence_token();

}  // namespace tableq::inline v0::core
