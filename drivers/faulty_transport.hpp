#pragma once

#include <memory>

#include "core/seam/fault_plan.hpp"
#include "drivers/transport.hpp"

namespace tableq::drivers {

/// Stands before a transport and fails those calls that the plan says: of tests of whatever uses
/// the library, through tableq/testing.hpp.
///
/// Throws what the real one would throw, so that all above it does what it does in earnest. Of a
/// session that is lost the transaction is rolled back and the link is closed; every later call
/// fails.
/// @param session the one behind `real`.
std::unique_ptr<transport> with_faults(std::unique_ptr<transport> real, soci::session& session,
                                       const dialect& speaks,
                                       std::shared_ptr<core::fault_plan> plan);

/// Opens a session, unless the plan has it fail.
std::unique_ptr<soci::session> open_with_faults(const transport_kind& by, const endpoint& at,
                                                core::fault_plan& plan);

}  // namespace tableq::drivers
