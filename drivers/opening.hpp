#pragma once

namespace soci {
class session;
}

#include <memory>
#include <string>
#include <string_view>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/fault_plan.hpp"
#include "drivers/dialect_texts.hpp"
#include "drivers/transport.hpp"
#include "drivers/transport/session_share.hpp"

namespace tableq::inline v0::drivers {

/// Called before the library makes a session of SOCI. A program may be linked with another SOCI
/// than the one whose headers this library was compiled with; its sessions are laid out
/// differently, and each use of one would damage memory.
/// @throws error errc::unsupported, before any damage.
void check_one_soci();

/// Whether an open session of unknown origin is one of the dialect's.
bool fits(const transport_kind& kind, const core::any_session& session, const dialect& definition);

/// A failure, and its meaning.
struct judged_failure {
  native_error native;
  verdict means;
};

/// The first of a failure's records that the dialect has a rule for; otherwise the first record.
/// @param sent as in native_error, and `table` too.
judged_failure judge(const dialect& definition, const native_failure& failure, std::size_t sent = 0,
                     std::string_view table = {});

/// ` (number 18456)`, if the server refused a login with a number: many have the same sentence.
std::string number_of_refusal(const native_error& what);

/// Throws errc::not_found with the complaint.
/// @param complaint empty: does nothing.
void refuse_to_connect(const dialect_texts& texts, const std::string& complaint);

/// Opens a session of tableq.
/// @param faults makes it fail, if not null. @param share may be null.
std::unique_ptr<soci::session> open_session(const dialect_texts& texts, const endpoint& address,
                                            core::fault_plan* faults, const session_share* share);

/// The executor for an open session. @param callers whether the session is the caller's.
/// @param faults makes its statements fail, if not null.
std::unique_ptr<transport> attach(const dialect_texts& texts, const endpoint& address,
                                  const core::any_session& session, bool callers,
                                  std::shared_ptr<core::fault_plan> faults);

/// Connects a closed session of the caller.
/// @throws error errc::invalid_argument when it is open; errc::unsupported for a place in memory;
///   the errors of connecting.
void open_callers(const dialect_texts& texts, const endpoint& address, const session_share& share,
                  soci::session& session);

}  // namespace tableq::inline v0::drivers
