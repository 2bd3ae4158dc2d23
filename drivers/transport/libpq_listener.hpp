#pragma once

#include <memory>

#include <tableq/dialect.hpp>

#include "core/seam/driver.hpp"

namespace tableq::drivers {

/// Hears notifications in a session of its own, which it keeps. Null where the dialect has none.
std::unique_ptr<core::listener> listen_through_libpq(std::unique_ptr<core::connection> session,
                                                     const endpoint& at);

}  // namespace tableq::drivers
