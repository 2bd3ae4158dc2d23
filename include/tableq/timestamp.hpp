#pragma once

#include <chrono>

#include <tableq/export.hpp>

namespace tableq::inline v0 {

/// A point in time by the database's clock: UTC, in milliseconds.
using timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

}  // namespace tableq::inline v0
