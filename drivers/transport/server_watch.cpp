#include "drivers/transport/server_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "drivers/transport/fork_guard.hpp"
#include "drivers/transport/libpq_address.hpp"

namespace tableq::inline v0::drivers {
namespace {

using std::chrono::milliseconds;
using clock = std::chrono::steady_clock;

/// Also the time before the first session: short-lived processes do without one.
constexpr milliseconds between_questions{2'000};
/// Without an answer for so long the other servers are looked at.
constexpr milliseconds silence{2'000};
constexpr milliseconds between_looks{500};
constexpr milliseconds longest_login{2'000};

milliseconds left_until(clock::time_point end) {
  return std::max(std::chrono::ceil<milliseconds>(end - clock::now()), milliseconds{0});
}

/// The parts of `a,b,c`; one empty part for an empty text.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t comma = list.find(',');
    out.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    list.remove_prefix(comma + 1);
  }
}

std::string_view value_of(const libpq::options& all, std::string_view key) noexcept {
  return libpq::given(all, key) ? std::string_view(libpq::find(all, key)->val) : std::string_view();
}

}  // namespace

std::shared_ptr<server_watch> server_watch::of(const std::string& connect) {
  const fork_guard guard;
  const libpq::options all(PQconninfoParse(connect.c_str(), nullptr));
  const libpq::options defaults(PQconndefaults());
  if (!all || !defaults) return nullptr;
  const std::string_view wanted = value_of(all, "target_session_attrs");
  if (wanted != "read-write" && wanted != "primary") return nullptr;
  const auto hosts = parts_of(value_of(all, "host"));
  const auto addresses = parts_of(value_of(all, "hostaddr"));
  const auto ports = parts_of(value_of(all, "port"));
  const auto at = [](const std::vector<std::string>& list, std::size_t i) {
    return i < list.size() ? list[i] : std::string();
  };
  std::vector<server> servers;
  for (std::size_t i = 0; i < std::max(hosts.size(), addresses.size()); ++i) {
    std::string port = ports.size() == 1 ? ports[0] : at(ports, i);
    if (port.empty()) port = value_of(defaults, "port");
    servers.push_back({at(hosts, i), at(addresses, i), std::move(port)});
  }
  if (servers.size() < 2) return nullptr;
  parameters others;
  for (const PQconninfoOption* one = all.get(); one->keyword != nullptr; ++one) {
    const std::string_view key = one->keyword;
    if (one->val == nullptr || key == "host" || key == "hostaddr" || key == "port") continue;
    others.emplace_back(key, one->val);
  }
  return std::make_shared<server_watch>(std::move(servers), std::move(others));
}

server_watch::server_watch(std::vector<server> servers, parameters others)
    : servers_(std::move(servers)), others_(std::move(others)) {}

server_watch::~server_watch() {
  ended_ = true;
  interrupter_.interrupt();
  if (thread_.joinable()) thread_.join();
}

void server_watch::finish::operator()(PGconn* open) const noexcept {
  const fork_guard guard;
  PQfinish(open);
}

server_watch::member::owned_socket::~owned_socket() {
  if (number >= 0) ::close(number);
}

std::optional<std::size_t> server_watch::server_of(PGconn* session) const {
  const std::string_view host = PQhost(session);
  const std::string_view port = PQport(session);
  const auto found = std::find_if(servers_.begin(), servers_.end(), [&](const server& each) {
    return host == (each.host.empty() ? each.address : each.host) && port == each.port;
  });
  if (found == servers_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - servers_.begin());
}

server_watch::members::iterator server_watch::add(PGconn* session) {
  const auto on = server_of(session);
  // A copy: libpq closes its own when it finds the end, and the number may then be another file's.
  const int copy = on ? ::fcntl(PQsocket(session), F_DUPFD_CLOEXEC, 0) : -1;
  const std::scoped_lock hold(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      // No more threads: the next session tries again.
    }
  }
  return members_.emplace(members_.end(), copy, on.value_or(0));
}

void server_watch::remove(members::iterator place) noexcept {
  const std::scoped_lock hold(mutex_);
  members_.erase(place);
}

std::string server_watch::order() const {
  std::size_t first = 0;
  {
    const std::scoped_lock hold(mutex_);
    first = writable_.value_or(0);
  }
  if (first == 0) return {};
  // Of a key that is given twice, libpq takes the last.
  std::string out;
  const auto add = [&](std::string_view key, std::string server::*part) {
    std::string list = servers_[first].*part;
    for (const server& each : servers_) {
      if (&each != &servers_[first]) list.append(",").append(each.*part);
    }
    if (list.size() < servers_.size()) return;
    out.append("&").append(key).append("=").append(libpq::encoded(list));
  };
  add("host", &server::host);
  add("hostaddr", &server::address);
  add("port", &server::port);
  return out;
}

void server_watch::run() {
  milliseconds pause = between_questions;
  for (;;) {
    interrupter_.wait(-1, pause);
    if (ended_) return;
    const bool found = (own_ && answers()) || look();
    pause = found ? between_questions : between_looks;
  }
}

bool server_watch::answers() {
  PGconn* const session = own_->session.get();
  if (!own_->asked && PQsendQuery(session, "") != 0) own_->asked = clock::now();
  while (PQstatus(session) == CONNECTION_OK) {
    if (PQisBusy(session) == 0) {
      PGresult* const result = PQgetResult(session);
      PQclear(result);
      if (result != nullptr) continue;
      own_->asked.reset();
      return true;
    }
    const auto left = left_until(*own_->asked + silence);
    if (interrupter_.wait(PQsocket(session), left) != interrupter::woken_by::other) return false;
    PQconsumeInput(session);
  }
  own_.reset();
  return false;
}

bool server_watch::look() {
  const std::size_t begin = writable_.value_or(0);
  for (std::size_t i = 0; i < servers_.size() && !ended_; ++i) {
    const std::size_t each = (begin + i) % servers_.size();
    if (own_ && each == own_->server) continue;  // it does not answer
    owned_session found = connect(servers_[each]);
    if (!found) continue;
    own_.emplace(std::move(found), each);
    const std::scoped_lock hold(mutex_);
    writable_ = each;
    for (const member& one : members_) {
      if (one.server != each) ::shutdown(one.socket.number, SHUT_RDWR);
    }
    return true;
  }
  return false;
}

server_watch::owned_session server_watch::connect(const server& wanted) {
  std::vector<const char*> keys{"host", "hostaddr", "port"};
  std::vector<const char*> values{wanted.host.c_str(), wanted.address.c_str(), wanted.port.c_str()};
  for (const auto& [key, value] : others_) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  const auto guarded = [](auto call) {
    const fork_guard guard;
    return call();
  };
  const auto until = clock::now() + longest_login;
  owned_session out(guarded([&] { return PQconnectStartParams(keys.data(), values.data(), 0); }));
  PQsetNoticeReceiver(
      out.get(), [](void*, const PGresult*) {}, nullptr);
  for (auto next = PGRES_POLLING_WRITING; PQstatus(out.get()) != CONNECTION_BAD;) {
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    const auto woken = interrupter_.wait(PQsocket(out.get()), left_until(until), events);
    if (woken != interrupter::woken_by::other) return nullptr;
    next = guarded([&] { return PQconnectPoll(out.get()); });
    if (next == PGRES_POLLING_OK) return out;
    if (next == PGRES_POLLING_FAILED) return nullptr;
  }
  return nullptr;
}

watched_session::watched_session(std::shared_ptr<server_watch> watch, PGconn* session)
    : watch_(std::move(watch)) {
  if (watch_) place_ = watch_->add(session);
}

watched_session::~watched_session() {
  if (watch_) watch_->remove(place_);
}

}  // namespace tableq::inline v0::drivers
