#pragma once

#include <atomic>
#include <cstdint>

#include "drivers/plan_memory.hpp"
#include "drivers/transport/common_file.hpp"
#include "drivers/transport/common_place.hpp"
#include "drivers/transport/login_pauses.hpp"

namespace tableq::inline v0::drivers {

/// The state that the sessions of one `database` object share, beside its dialect and endpoint.
///
/// @par Thread safety
/// Shared objects: safe.
struct session_share {
  common_file file;
  common_place place;
  plan_memory plans;
  login_pauses logins;
  /// How often a session found that it cannot write any more. Sessions from before are closed: all
  /// of them may have come to a server that is a standby now.
  std::atomic<std::uint64_t> demotions = 0;
};

}  // namespace tableq::inline v0::drivers
