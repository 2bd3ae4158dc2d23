#pragma once

#include <memory>

#include "core/seam/fault_plan.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {

/// Wraps a transport and fails the calls that the plan names, for tests that use
/// tableq/testing.hpp.
///
/// Throws the errors of the real transport, so that all code above runs as with a real failure. A
/// lost session is rolled back and closed (a handle without SOCI stays open); every later call
/// fails.
/// @param session the session below `real`.
std::unique_ptr<transport> with_faults(std::unique_ptr<transport> real,
                                       const core::any_session& session, const dialect& definition,
                                       std::shared_ptr<core::fault_plan> plan);

/// Opens a session, unless the plan makes this call fail.
std::unique_ptr<soci::session> open_with_faults(const transport_kind& transport,
                                                const endpoint& address, core::fault_plan& plan);

}  // namespace tableq::inline v0::drivers
