#pragma once

/// @file
/// Logins without SOCI, which tells neither the reason of a refusal nor when to give up.

#include <libpq-fe.h>

#include <chrono>
#include <memory>
#include <string>

namespace tableq::inline v0::drivers::libpq {

struct finish {
  void operator()(PGconn* open) const noexcept { PQfinish(open); }
};
using owned_session = std::unique_ptr<PGconn, finish>;

/// Waits for the socket of a session. @return false when it is not ready in time.
bool ready_by(std::chrono::steady_clock::time_point until, PGconn* session, short events);

/// Goes on with what PQconnectStart began, to its end. @return false if that fails, or in time.
bool connected_by(std::chrono::steady_clock::time_point until, PGconn* session);

/// The SQLSTATE with which the server refuses a login by this address; empty if it does not, or not
/// soon. Tries the login once more: a message of libpq has the server's words, perhaps translated,
/// and no SQLSTATE.
/// @param words those of the first try.
std::string state_of_refusal(const std::string& connect, const std::string& words);

}  // namespace tableq::inline v0::drivers::libpq
