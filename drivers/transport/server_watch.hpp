#pragma once

#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "drivers/transport/closed_in_child.hpp"
#include "drivers/transport/interrupter.hpp"

namespace tableq::inline v0::drivers {

/// Watches which server of an address with several hosts takes writes, and ends the sessions with
/// the others.
///
/// A server that is stopped, or behind a broken network, keeps its connections and never answers.
/// From such a session alone it cannot be told from a server that needs long. Only the other
/// servers know the difference: one of them takes writes as soon as it has succeeded.
///
/// Owns a thread and a session of its own, from soon after the first session until its end. Owns
/// copies of the sessions' sockets, and of the address, which may hold a password.
///
/// @par Thread safety
/// Shared objects: safe.
class server_watch {
 public:
  /// @param connect an address in libpq's form. @return null unless it has several hosts, and asks
  ///   for the one that takes writes: target_session_attrs is read-write or primary.
  static std::shared_ptr<server_watch> of(const std::string& connect);

  /// One of the hosts. The name or the numeric address may be empty.
  struct server {
    std::string host;
    std::string address;
    std::string port;
  };
  using parameters = std::vector<std::pair<std::string, std::string>>;

  /// @param others the parameters that are the same for all servers.
  server_watch(std::vector<server> servers, parameters others);
  server_watch(const server_watch&) = delete;
  server_watch& operator=(const server_watch&) = delete;
  ~server_watch();

  /// The text to append to the address, so that a new session first tries the server that takes
  /// writes.
  /// Empty while that is the first one, or not known.
  [[nodiscard]] std::string order() const;

 private:
  friend class watched_session;

  /// A session that is ended when another server takes writes.
  struct member {
    member(int copy, std::size_t on) : socket(copy), server(on), not_for_children(copy) {}

    struct owned_socket {
      explicit owned_socket(int given) : number(given) {}
      owned_socket(const owned_socket&) = delete;
      owned_socket& operator=(const owned_socket&) = delete;
      ~owned_socket();
      int number;
    };

    owned_socket socket;
    std::size_t server;
    closed_in_child not_for_children;
  };
  using members = std::list<member>;

  struct finish {
    void operator()(PGconn* open) const noexcept;
  };
  using owned_session = std::unique_ptr<PGconn, finish>;

  /// The watch's own session.
  struct own_session {
    own_session(owned_session open, std::size_t on)
        : session(std::move(open)), server(on), not_for_children(PQsocket(session.get())) {}

    owned_session session;
    std::size_t server;
    closed_in_child not_for_children;
    std::optional<std::chrono::steady_clock::time_point> asked = {};  // and not answered yet
  };

  members::iterator add(PGconn* session);
  void remove(members::iterator place) noexcept;
  [[nodiscard]] std::optional<std::size_t> server_of(PGconn* session) const;

  void run();
  /// Whether the server answers its session in time. Drops a session that has ended.
  [[nodiscard]] bool answers();
  /// Looks for a server that takes writes; ends the sessions with others.
  /// @return whether it found one.
  bool look();
  /// @return null if this server takes no writes, or does not answer in time.
  [[nodiscard]] owned_session connect(const server& wanted);

  const std::vector<server> servers_;
  const parameters others_;
  interrupter interrupter_;
  std::atomic<bool> ended_ = false;
  std::optional<own_session> own_;  // the thread's

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  members members_;
  std::optional<std::size_t> writable_;  // the last one found
  std::thread thread_;
};

/// Lists a session with the watch of its address. End it before the session is closed.
class watched_session {
 public:
  /// @param watch null: nothing is done.
  watched_session(std::shared_ptr<server_watch> watch, PGconn* session);
  watched_session(const watched_session&) = delete;
  watched_session& operator=(const watched_session&) = delete;
  ~watched_session();

 private:
  std::shared_ptr<server_watch> watch_;
  server_watch::members::iterator place_;
};

}  // namespace tableq::inline v0::drivers
