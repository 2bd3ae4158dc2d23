#pragma once

#include <memory>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/driver.hpp"

namespace tableq::inline v0::drivers {

/// Receives notifications in its own session. Null for dialects without notifications.
std::unique_ptr<core::listener> listen_through_libpq(std::unique_ptr<core::connection> session,
                                                     const endpoint& address);

}  // namespace tableq::inline v0::drivers
