#include "drivers/transport/libpq_login.hpp"

#include <poll.h>

#include <string_view>

namespace tableq::inline v0::drivers::libpq {

using clock = std::chrono::steady_clock;

bool ready_by(clock::time_point until, PGconn* session, short events) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  pollfd socket{.fd = PQsocket(session), .events = events, .revents = 0};
  return left > 0 && poll(&socket, 1, static_cast<int>(left)) > 0;
}

bool connected_by(clock::time_point until, PGconn* session) {
  for (auto next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK;) {
    if (next == PGRES_POLLING_FAILED || PQstatus(session) == CONNECTION_BAD ||
        !ready_by(until, session, next == PGRES_POLLING_READING ? POLLIN : POLLOUT)) {
      return false;
    }
    next = PQconnectPoll(session);
  }
  return true;
}

std::string state_of_refusal(const std::string& connect, const std::string& words) {
  constexpr std::chrono::seconds longest{2};
  // A server's message is `SEVERITY:  words`. Without a password libpq itself gives up.
  constexpr std::string_view after_severity = ":  ";
  if (words.find(after_severity) == std::string::npos &&
      words.find("password") == std::string::npos) {
    return {};
  }
  const owned_session session(PQconnectStart(connect.c_str()));
  if (!session) return {};
  PQsetErrorVerbosity(session.get(), PQERRORS_SQLSTATE);
  if (connected_by(clock::now() + longest, session.get())) return {};
  if (PQconnectionNeedsPassword(session.get()) != 0) return "28P01";
  const std::string_view told = PQerrorMessage(session.get());
  const std::size_t at = told.find(std::string(after_severity) + "28");
  return at == std::string_view::npos ? std::string()
                                      : std::string(told.substr(at + after_severity.size(), 5));
}

}  // namespace tableq::inline v0::drivers::libpq
