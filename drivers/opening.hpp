#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/fault_plan.hpp"
#include "drivers/dialect_texts.hpp"
#include "drivers/transport.hpp"
#include "drivers/transport/session_share.hpp"

namespace soci {
class session;
}

namespace tableq::inline v0::drivers {

/// A failure, and its meaning.
struct judged_failure {
  native_error native;
  verdict means;
};

/// The first of a failure's records that the dialect has a rule for; otherwise the first record.
/// @param sent as in native_error, and `table` too.
judged_failure judge(const dialect& definition, const native_failure& failure, std::size_t sent = 0,
                     std::string_view table = {});

/// Throws errc::not_found with the complaint.
/// @param complaint empty: does nothing.
void refuse_to_connect(const dialect_texts& texts, const std::string& complaint);

/// Opens a session of tableq.
/// @param faults makes it fail, if not null. @param share may be null.
std::unique_ptr<soci::session> open_session(const dialect_texts& texts, const endpoint& address,
                                            core::fault_plan* faults, const session_share* share);

/// Connects a closed session of the caller.
/// @throws error errc::invalid_argument when it is open; errc::unsupported for a place in memory;
///   the errors of connecting.
void open_callers(const dialect_texts& texts, const endpoint& address, const session_share& share,
                  soci::session& session);

}  // namespace tableq::inline v0::drivers
