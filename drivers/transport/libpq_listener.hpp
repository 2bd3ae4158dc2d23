#pragma once

#include <memory>

#include <tableq/dialect.hpp>

#include "core/seam/driver.hpp"
#include "drivers/transport/own_writes.hpp"

namespace tableq::inline v0::drivers {

/// Receives notifications in its own session. Null for dialects without notifications.
std::unique_ptr<core::listener> listen_through_libpq(std::unique_ptr<core::connection> session,
                                                     const endpoint& address,
                                                     const own_writes& own);

}  // namespace tableq::inline v0::drivers
