#pragma once

namespace tableq::inline v0::drivers {

/// Called before the library makes a session of SOCI. A program may be linked with another SOCI
/// than the one whose headers this library was compiled with; its sessions are laid out
/// differently, and each use of one would damage memory.
/// @throws error errc::unsupported, before any damage.
void check_one_soci();

}  // namespace tableq::inline v0::drivers
